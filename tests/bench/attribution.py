"""tests/bench/attribution.py BREAKEVEN [--tries N] [--seed S] [TRACE...] -- is the difference of two timelines laid to the kernel that was changed?

Each try takes a trace (those named, and programs made here), gives all kernels 3 % of noise and
the numbers that compilers count, changes one kernel, and has `breakeven compare A B --json` explain
the difference: the rows must add up to it within 5 %, the changed kernel must come first, and its
row must have what was added to it.  Changes: slower by 20 %, split into two, three fused to one,
gone, renamed; with and without streams that race.
"""
import argparse
import collections
import copy
import gzip
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile

NOISE, SLOWER = 0.03, 0.2
CHANGES = ["slower", "split", "fused", "gone", "renamed"]
NAMES = [
    "void at::native::vectorized_elementwise_kernel<4, at::native::%s_kernel_cuda(at::TensorIteratorBase&)::{lambda()#1}, std::array<char*, 2ul> >(int, ...)",
    "triton_poi_fused_%s_0", "triton_per_fused_%s_1", "ampere_fp16_s16816gemm_fp16_128x64_%s_nn",
    "void layer_norm_%s<float, 256>(float*, int)", "void flash_%s_kernel<Traits<64, 128>, true>(Params)", "fused_%s_9f3c01ab",
]
WORDS = ["add", "mul", "gelu", "softmax", "silu", "exp", "rsqrt", "mean", "tanh", "clamp", "cat", "where", "pow", "sub"]


class Trace:
    """A trace in the making: events of a host thread and of streams, in microseconds."""

    def __init__(self, rng):
        self.rng, self.events, self.now, self.correlation = rng, [], 1000.0, 0
        self.free = collections.defaultdict(float)

    def add(self, cat, name, ts, dur, tid, **args):
        pid = 0 if cat in ("kernel", "gpu_memcpy") else 7
        self.events.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": round(ts, 3), "dur": round(dur, 3), "args": args})

    def launch(self, op, kernel, us, stream, host_us):
        self.correlation += 1
        self.add("cpu_op", op, self.now, host_us, 7)
        self.add("cuda_runtime", "cudaLaunchKernel", self.now + host_us * 0.3, host_us * 0.5, 7, correlation=self.correlation)
        start = max(self.now + host_us * 0.9, self.free[stream])
        self.add("kernel", kernel, start, us, stream, correlation=self.correlation, stream=stream, device=0, grid=[int(us * 10) + 1, 1, 1], block=[128, 1, 1])
        self.free[stream] = start + us
        self.now += host_us


def program(rng):
    """A list of (op, kernel, us, stream, host us): layers of the same kernels, and some around them."""
    def kernel():
        word = "_".join(rng.sample(WORDS, rng.randint(1, 3)))
        return (f"aten::{word}", rng.choice(NAMES) % word, rng.uniform(1, 60), 7, rng.uniform(2, 12))
    layer = [kernel() for _ in range(rng.randint(3, 9))]
    if rng.random() < 0.4:
        at = rng.randrange(len(layer))
        layer[at] = (*layer[at][:3], 20, layer[at][4])
    return [kernel() for _ in range(rng.randint(1, 5))] + layer * rng.randint(1, 6) + [kernel() for _ in range(rng.randint(1, 4))]


def noisy(rng, us):
    return us * max(0.5, rng.gauss(1, NOISE))


def record(rng, units, body, steps, still):
    """The trace of a program: units of body, the first of which warms up.  Without noise is what is `still`."""
    t = Trace(rng)
    for unit in range(units):
        begin = t.now
        if unit == 0:
            t.add("cpu_op", "aten::empty", t.now, 900, 7)
            t.now += 900
        for op, name, us, stream, host in body:
            t.launch(op, name, us if name in still else noisy(rng, us), stream, host * max(0.5, rng.gauss(1, 0.1)))
        t.now += 5
        if steps:
            t.add("user_annotation", f"ProfilerStep#{unit + 3}", begin, t.now - begin, 7)
    return {"schemaVersion": 1, "traceEvents": t.events}


def renumbered(name, by):
    """What another compilation counts: numbers at the end, hashes."""
    name = re.sub(r"_(\d+)$", lambda m: f"_{int(m[1]) + by}", name)
    return re.sub(r"_9f3c01ab$", "_77ab01fe", name)


def change(rng, kind, body):
    """Another body; the names that must be found, and what is added to a unit, in us."""
    names = collections.Counter(k[1] for k in body)
    if kind == "slower":
        total = collections.Counter()
        for k in body:
            total[k[1]] += k[2]
        name = rng.choice(list(names))
        return [(op, n, us * (1 + SLOWER) if n == name else us, s, h) for op, n, us, s, h in body], {name}, SLOWER * total[name]
    at = rng.randrange(len(body) - 2)
    op, name, us, stream, host = body[at]
    if kind == "gone":
        return body[:at] + body[at + 1:], {name}, -us
    if kind == "renamed":
        new = "cutlass_other_entry"
        return [(o, new if n == name else n, u, s, h) for o, n, u, s, h in body], {name, new}, 0
    if kind == "split":
        new = [(op, f"splitK_{p}_of_{name[:40]}", us * 0.7, stream, host) for p in ("main", "reduce")]
        return body[:at] + new + body[at + 1:], {name, *(k[1] for k in new)}, 0.4 * us
    three = body[at:at + 3]
    new = (op, "triton_red_fused_all_three_9", 0.5 * sum(k[2] for k in three), stream, host)
    return body[:at] + [new] + body[at + 3:], {new[1], *(k[1] for k in three)}, -new[2]


def body_of_trace(path):
    """The program that a real trace shows: its kernels in order with their medians; and how many units."""
    with gzip.open(path) if path.endswith(".gz") else open(path) as f:
        events = [e for e in json.load(f)["traceEvents"] if e.get("ph") == "X"]
    kernels = sorted((e for e in events if e.get("cat") == "kernel"), key=lambda e: e["ts"])
    names = [k["name"] for k in kernels]
    period = next((p for p in range(1, len(names) // 2 + 1) if all(names[i] == names[i + p] for i in range(len(names) - p))), len(names))
    body = []
    for i in range(period):
        same = kernels[i::period]
        body.append(("aten::op", names[i], statistics.median(k["dur"] for k in same), same[0]["tid"], 4.0))
    return body


def race(rng, body):
    """Streams swap their numbers, and launches on different streams change places."""
    body = [(o, n, u, {7: 20, 20: 7}.get(s, s), h) for o, n, u, s, h in body]
    for i in range(len(body) - 1):
        if body[i][3] != body[i + 1][3] and rng.random() < 0.5:
            body[i], body[i + 1] = body[i + 1], body[i]
    return body


def compare(binary, a, b):
    with tempfile.TemporaryDirectory() as folder:
        paths = [os.path.join(folder, n) for n in ("a.json", "b.json")]
        for path, trace in zip(paths, (a, b)):
            with open(path, "w") as f:
                json.dump(trace, f)
        done = subprocess.run([binary, "compare", *paths, "--json"], capture_output=True, text=True)
    if not done.stdout:
        raise SystemExit(f"compare failed: {done.stderr}")
    return json.loads(done.stdout)


def judge(answer, kind, names, added):
    """None, or what is wrong."""
    device = [r for r in answer["rows"] if r["part"] == "device"]
    listed = sum(r["time"]["delta_us"] for r in device) + answer["others"]["device_us"]
    of = answer["device"]["delta_us"]
    size = max(abs(of), abs(added))
    if abs(of - listed) > 0.05 * size:
        return f"rows add up to {listed:.2f} of {of:.2f} us"
    plain = {renumbered(n, 0) for n in names}
    known = lambda r: {r["name"], *r["from"], *r["to"]}
    hit = lambda r: bool(plain & known(r)) or bool(names & known(r))
    if kind == "renamed":
        found = [r for r in device if "cutlass_other_entry" in known(r)]
        return None if found and found[0]["from"] and names & set(found[0]["from"]) else "the new name is not laid to the old"
    first = device[0]
    if not hit(first):
        return f"first is {first['change']} {first['name'][:50]} {first['time']['delta_us']:.2f} of {added:.2f} us"
    if not first["time"]["changed"]:
        return f"{added:.2f} us are called noise: {first['time']}"
    got = sum(r["length"]["delta_us"] for r in device if hit(r))
    if abs(got - added) > 0.05 * abs(added) + 0.002:
        return f"the rows of the kernel have {got:.3f} of {added:.3f} us"
    return None


def one(rng, binary, traces):
    body = body_of_trace(rng.choice(traces)) if traces and rng.random() < 0.3 else program(rng)
    kind = rng.choice(CHANGES) if len(body) > 3 else "slower"
    units, steps = rng.randint(8, 14), rng.random() < 0.5
    changed, names, added = change(rng, kind, body)
    by = rng.randint(0, 3)
    changed = [(o, n if n in names and kind != "slower" else renumbered(n, by), u, s, h) for o, n, u, s, h in changed]
    names = names | {renumbered(n, by) for n in names}
    if rng.random() < 0.3:
        changed = race(rng, changed)
    a, b = record(rng, units, body, steps, names), record(rng, units + rng.randint(-2, 2), changed, steps, names)
    return kind, judge(compare(binary, a, b), kind, names, added), (a, b)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("binary")
    p.add_argument("traces", nargs="*")
    p.add_argument("--tries", type=int, default=100)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--keep", help="a folder for the traces of tries that failed")
    o = p.parse_args()
    held, of, seeds = collections.Counter(), collections.Counter(), range(o.seed, o.seed + o.tries)
    for seed in seeds:
        kind, wrong, pair = one(random.Random(seed), o.binary, o.traces)
        of[kind] += 1
        held[kind] += wrong is None
        if wrong:
            print(f"seed {seed}, {kind}: {wrong}")
            if o.keep:
                for name, trace in zip("ab", pair):
                    with open(os.path.join(o.keep, f"{seed}{name}.json"), "w") as f:
                        json.dump(trace, f)
    print(", ".join(f"{k} {held[k]} of {of[k]}" for k in CHANGES if of[k]))
    good, tries = sum(held.values()), sum(of.values())
    print(f"attribution: {good} of {tries} held")
    sys.exit(0 if good >= 0.95 * tries else 1)


if __name__ == "__main__":
    main()
