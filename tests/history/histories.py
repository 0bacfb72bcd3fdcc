#!/usr/bin/env python3
"""Synthetic histories with known steps, and what other detectors find in them.

  python3 tests/history/histories.py [--asv FILE] > tests/history/histories.json

Each history: kind, values, half (half-width of each run's 95 % interval), steps (first runs of new
levels), and found: {"pelt": [...], "asv": [...]}.  PELT (Killick et al., 2012) with squared loss,
the penalty 2 variance log n, the variance from differences between neighbours, is computed here.
asv's answers are those of its step_detect, the FILE (airspeed-velocity/asv, at 003aab2):
weights are 1 / interval, as asv gives them; as in its list of regressions a segment of one run
(min_size 2) and a difference within the segments' errors are no step.  Without --asv the recorded ones are kept.
"""
import argparse
import importlib.util
import json
import math
import os
import random

HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = ["quiet", "still", "steps", "short", "small", "noisy", "outliers", "drift", "correlated", "uneven", "recent", "long"]
EACH = 12


def levels(rng, n, least, sizes, count):
    """log levels of n runs with `count` steps at least `least` runs apart, and the steps."""
    while True:
        at = sorted(rng.sample(range(least, n - least + 1), count))
        if all(b - a >= least for a, b in zip(at, at[1:])):
            break
    y, level = [], 0.0
    for i in range(n):
        if i in at:
            level += math.log1p(rng.uniform(*sizes)) * rng.choice((-1, 1))
        y.append(level)
    return y, at


def noise(rng, sigma):
    return rng.gauss(0, sigma)


def history(kind, seed):
    rng = random.Random(f"{kind} {seed}")
    n, sigma, steps, sizes, least = 60, 0.01, 3, (0.04, 0.2), 6
    if kind == "quiet":
        sigma = 0.002
    if kind == "still":
        steps = 0
    if kind == "short":
        n, steps, least, sizes = 16, 1, 4, (0.06, 0.2)
    if kind == "small":
        n, sizes, steps, least = 80, (0.02, 0.04), 2, 12
    if kind == "noisy":
        n, sigma, sizes = 80, 0.04, (0.1, 0.3)
    if kind == "drift":
        steps = 1
    if kind == "recent":
        steps = 0
    if kind == "long":
        n, steps, least = 300, 8, 10
    y, at = levels(rng, n, least, sizes, steps)
    if kind == "recent":
        at = [n - 3]
        y = [v + (math.log1p(rng.uniform(0.06, 0.2)) if i >= at[0] else 0) for i, v in enumerate(y)]
    own = [sigma * rng.uniform(0.3, 0.6) for _ in range(n)]
    if kind == "uneven":
        own = [sigma * (6 if rng.random() < 0.25 else 0.5) for _ in range(n)]
    last = 0.0
    for i in range(n):
        e = noise(rng, math.hypot(sigma, own[i]) if kind == "uneven" else sigma)
        if kind == "correlated":
            last = 0.6 * last + e * 0.8
            e = last
        if kind == "outliers" and rng.random() < 0.08:
            e += math.log1p(rng.uniform(0.15, 1.0))
        if kind == "drift":
            e += 0.0012 * i
        y[i] += e
    return {"kind": kind, "values": [round(100 * math.exp(v), 3) for v in y], "half": [round(100 * math.exp(v) * 1.96 * o, 2) for v, o in zip(y, own)], "steps": at}


def pelt(values):
    y = [math.log(v) for v in values]
    n = len(y)
    differences = sorted(abs(b - a) for a, b in zip(y, y[1:]))
    sigma = 1.4826 * differences[len(differences) // 2] / math.sqrt(2)
    penalty = 2 * sigma * sigma * math.log(n)
    sums, squares = [0.0], [0.0]
    for v in y:
        sums.append(sums[-1] + v)
        squares.append(squares[-1] + v * v)

    def cost(a, b):
        return squares[b] - squares[a] - (sums[b] - sums[a]) ** 2 / (b - a)

    best, last, candidates = [-penalty] + [math.inf] * n, [0] * (n + 1), [0]
    for t in range(2, n + 1):
        for s in candidates:
            if t - s >= 2 and best[s] + cost(s, t) + penalty < best[t]:
                best[t], last[t] = best[s] + cost(s, t) + penalty, s
        candidates = [s for s in candidates if t - s < 2 or best[s] + cost(s, t) <= best[t]] + [t - 1]
    at, t = [], n
    while t > 0:
        t = last[t]
        if t:
            at.append(t)
    return at[::-1]


def asv_steps(module, h):
    found = [s for s in module.detect_steps(list(h["values"]), [1 / x for x in h["half"]]) if s[1] - s[0] >= 2]
    return [b[0] for a, b in zip(found, found[1:]) if abs(a[2] - b[2]) > max(a[4], b[4])]


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--asv", help="asv's step_detect.py, or its functions")
    args = args.parse_args()
    recorded, module = {}, None
    if args.asv:
        spec = importlib.util.spec_from_file_location("step_detect", args.asv)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
    else:
        with open(os.path.join(HERE, "histories.json")) as f:
            recorded = {(h["kind"], i // len(KINDS)): h["found"]["asv"] for i, h in enumerate(json.load(f))}
    out = []
    for seed in range(EACH):
        for kind in KINDS:
            h = history(kind, seed)
            h["found"] = {"pelt": pelt(h["values"]), "asv": asv_steps(module, h) if module else recorded[kind, seed]}
            out.append(h)
    print("[" + ",\n".join(json.dumps(h, separators=(",", ":")) for h in out) + "]")


if __name__ == "__main__":
    main()
