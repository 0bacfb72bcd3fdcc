"""tests/bench/trace_torch.py BREAKEVEN [--launches N] -- does `breakeven trace` see what torch.profiler sees?

Wants PyTorch and an NVIDIA GPU.  The same work runs in three processes: plain, traced by
injection, and under torch.profiler.  Prints counts and times by name, and exits with 1 where a
count or a name differs, or the total over kernels of 5 us or more by over 2 %.  Then
N launches (a million): all are recorded, or each that is not is counted.  With CUPTI a launch
costs more: how much more the script's own clock says, off and on in turn.  With several GPUs:
does each of them have lanes of its own, and in them what was launched there, by a parent and by its child?
"""
import argparse
import collections
import json
import os
import subprocess
import sys
import tempfile
import time

SELF = os.path.abspath(__file__)


def work(torch):
    """Products, reductions, a second stream, copies, sets, ranges, a compiled function."""
    torch.manual_seed(0)
    x, w = (torch.randn(2048, 2048, device="cuda") for _ in range(2))
    side = torch.cuda.Stream()
    torch.cuda.synchronize()
    for i in range(100):
        with torch.cuda.nvtx.range(f"step {i % 4}"):
            y = torch.relu(x @ w) * 2
            (y.sin() + 1).sum()
    with torch.cuda.stream(side):
        for _ in range(50):
            torch.softmax(x, -1)
    for _ in range(2000):
        x.add_(0.0)
    torch.cuda.synchronize()
    x.cpu()
    torch.zeros(1 << 20, device="cuda").zero_()
    torch.cuda.synchronize()


def launches(torch, n):
    """Seconds for n launches of one small kernel."""
    x = torch.zeros(16, device="cuda")
    for _ in range(1000):
        x.add_(1.0)
    torch.cuda.synchronize()
    begin = time.perf_counter()
    for _ in range(n):
        x.add_(1.0)
    torch.cuda.synchronize()
    return time.perf_counter() - begin


def on_each(torch, first):
    """On GPU g 100 * (g + 1) launches of an addition, a copy to the next one, and a child that does so on the last one alone."""
    devices = range(first, torch.cuda.device_count())
    for g in devices:
        x = torch.zeros(16, device=f"cuda:{g}")
        for _ in range(100 * (g + 1)):
            x.add_(1.0)
        x.to(f"cuda:{(g + 1) % torch.cuda.device_count()}")
    for g in devices:
        torch.cuda.synchronize(g)
    if not first:
        run([sys.executable, SELF, "--child", "last"])


def child(options):
    import torch

    if options.child in ("each", "last"):
        on_each(torch, 0 if options.child == "each" else torch.cuda.device_count() - 1)
    elif options.child == "launches":
        print(f"us_per_launch {launches(torch, options.launches) / options.launches * 1e6:.3f}")
    elif options.child == "break":

        def model(x):
            y = torch.relu(x) + 1
            torch._dynamo.graph_break()
            return (y * 2).sum()

        torch.compile(model)(torch.ones(64, device="cuda"))
        torch.cuda.synchronize()
    elif options.profile:
        from torch.profiler import ProfilerActivity, profile

        by = collections.defaultdict(lambda: [0, 0.0])
        with profile(activities=[ProfilerActivity.CUDA]) as p:
            work(torch)
        for e in p.events():
            if e.device_type.name == "CUDA":
                by[e.name][0] += 1
                by[e.name][1] += e.time_range.elapsed_us()
        with open(options.profile, "w") as out:
            json.dump(by, out)
    else:
        work(torch)


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr[-2000:]}")
    return done


def compare(binary, folder):
    sys.path.insert(0, os.path.dirname(SELF))
    import timeline_file as t

    file, profile = os.path.join(folder, "t.trace"), os.path.join(folder, "p.json")
    said = run([binary, "trace", "-o", file, "--", sys.executable, SELF, "--child", "work"]).stderr
    run([sys.executable, SELF, "--child", "work", "--profile", profile])
    line, theirs, mine = t.Timeline(file), json.load(open(profile)), collections.defaultdict(lambda: [0, 0.0])
    for _, duration, _, _, kind, name, _, _ in line.events:
        if kind in (t.KERNEL, t.COPY, t.SET):
            mine[line.names[name]["name"]][0] += 1
            mine[line.names[name]["name"]][1] += duration / 1000
    # torch.profiler shows ranges on the GPU too; they are no kernels.
    theirs = {k: v for k, v in theirs.items() if not k.startswith("step ")}
    differ, totals = 0, [0.0, 0.0]
    print(f"{'count':>7} {'torch':>7} {'us':>11} {'torch':>11}")
    for name in sorted(set(mine) | set(theirs)):
        a, b = mine.get(name, [0, 0.0]), theirs.get(name, [0, 0.0])
        differ += a[0] != b[0]
        if b[0] and b[1] / b[0] >= 5:
            totals[0] += a[1]
            totals[1] += b[1]
        print(f"{a[0]:7d} {b[0]:7d} {a[1]:11.1f} {b[1]:11.1f} {'' if a[0] == b[0] else 'DIFFERENT '}{name[:90]}")
    share = totals[0] / totals[1] - 1
    kinds = collections.Counter(e[4] for e in line.events)
    print(f"kernels of 5 us or more: {totals[0]:.0f} us, torch {totals[1]:.0f} us: {100 * share:+.2f} %")
    print(f"{kinds[t.RANGE]} ranges, {kinds[t.MEMORY]} of memory, {line.file_bytes} bytes; {said.strip().splitlines()[0]}")
    return differ == 0 and abs(share) <= 0.02 and kinds[t.RANGE] == 100 and kinds[t.MEMORY] > 0


def million(binary, folder, n):
    command = [sys.executable, SELF, "--child", "launches", "--launches", str(n)]
    file, each = os.path.join(folder, "m.trace"), {"off": [], "on": []}
    for _ in range(2):
        each["off"].append(float(run(command).stdout.split()[-1]))
        done = run([binary, "trace", "-o", file, "--"] + command)
        each["on"].append(float(done.stdout.split()[-1]))
    words = next(l for l in done.stderr.splitlines() if "kernels," in l).split("): ")[1].replace(",", "").split()
    seen = dict(zip(words[1::2], map(int, words[0::2])))
    # The set-up: one fill, and a thousand launches that warm up.
    missing = n + 1001 - seen["kernels"]
    print(f"{n} launches and {1001} before: {seen}; {missing} missing; {os.path.getsize(file)} bytes")
    print(f"us a launch off {each['off']}, on {each['on']}")
    return missing == seen["dropped"] + seen["lost"] + seen["doubtful"]


def several(binary, folder):
    """Each GPU's additions in lanes of its own, those of the child in others."""
    sys.path.insert(0, os.path.dirname(SELF))
    import timeline_file as t

    devices = int(run([sys.executable, "-c", "import torch; print(torch.cuda.device_count())"]).stdout)
    if devices < 2:
        print("one GPU: lanes of several are not tried")
        return True
    file = os.path.join(folder, "g.trace")
    run([binary, "trace", "-o", file, "--", sys.executable, SELF, "--child", "each"])
    line, kernels, copies = t.Timeline(file), collections.Counter(), collections.Counter()
    for _, _, _, lane, kind, name, _, _ in line.events:
        row = line.lanes[lane]
        if kind == t.KERNEL and "FillFunctor" not in line.names[name]["name"]:
            kernels[row["pid"], row["device"]] += 1
        elif kind == t.COPY:
            copies[row["pid"], row["device"]] += 1
    counts = sorted((device, n) for (_, device), n in kernels.items())
    wanted = sorted([(g, 100 * (g + 1)) for g in range(devices)] + [(devices - 1, 100 * devices)])
    print(f"{devices} GPUs, {len({pid for pid, _ in kernels})} processes, (GPU, kernels) {counts}, copies {sum(copies.values())} of {devices + 1}")
    return counts == wanted and sum(copies.values()) == devices + 1


def torch_trace(binary, folder):
    sys.path.insert(0, os.path.dirname(SELF))
    import timeline_file as t

    file = os.path.join(folder, "b.trace")
    run([binary, "trace", "-o", file, "--", sys.executable, SELF, "--child", "break"])
    text = b"".join(t.Timeline(file).files.values())
    print(f"TORCH_TRACE: {len(text)} bytes, {text.count(b'dynamo_graph_break_reason')} graph breaks told in it")
    return b"dynamo_graph_break_reason" in text


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", nargs="?")
    parser.add_argument("--launches", type=int, default=1000000)
    parser.add_argument("--child")
    parser.add_argument("--profile")
    options = parser.parse_args()
    if options.child:
        return child(options)
    with tempfile.TemporaryDirectory() as folder:
        results = {"counts, names and times": compare(options.binary, folder),
                   "none lost, or each counted": million(options.binary, folder, options.launches),
                   "each GPU has lanes of its own": several(options.binary, folder),
                   "TORCH_TRACE is kept": torch_trace(options.binary, folder)}
    for what, ok in results.items():
        print(f"{'ok  ' if ok else 'FAIL'} {what}")
    return sys.exit(0 if all(results.values()) else 1)


if __name__ == "__main__":
    main()
