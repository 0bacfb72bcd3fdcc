"""tests/bench/whole.py [BINARY] -- whole models on a GPU, PyTorch beside Breakeven.

    python3 tests/bench/whole.py build/breakeven [--only gpt2,llama] [--device cuda] [--seconds 1] [--rounds 2] [--small] [--kernels] [--json FILE]

GPT-2 small in bfloat16 and a training step of it under autocast, a Llama's decode step, ResNet-50 and a
diffusion U-Net's step (tests/bench/whole).  In a round each of PyTorch's eager, torch.compile and its
reduce-overhead has a batch between two events, before and after ours; ours is the better one of
static and graphs, in a process of its own, as is each model of PyTorch's.  Memory is the most that the
allocators held.  --small: of few channels, to try it.  --kernels: what each side launches in a call, by the name of
the kernel, ours as `breakeven trace` records it and PyTorch's by torch.profiler.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from blocks import filled, h, index, sample_us, t


def few(small, *specs):
    return [dict(s, seed=i) for i, s in enumerate(specs[1] if small else specs[0])]


# name: (file, inputs, inputs of a small one, is trained)
MODELS = {
    "gpt2": ("gpt2", [index(8, 1024, high=50257)] * 2, [index(2, 16, high=211)] * 2, False),
    "gpt2_step": ("gpt2", [index(8, 1024, high=50257)] * 2, [index(2, 16, high=211)] * 2, True),
    "llama": ("llama", [index(8, 1, high=128256), index(1, high=1280)], [index(2, 1, high=173), index(1, high=24)], False),
    "resnet50": ("resnet50", [h(64, 3, 224, 224)], [h(2, 3, 32, 32)], False),
    "unet": ("unet", [h(4, 4, 64, 64), index(4, high=1000), h(4, 77, 768)], [h(1, 4, 16, 16), index(1, high=1000), h(1, 7, 24)], False),
}


def source_of(name, arguments):
    file, _, _, trained = MODELS[name]
    with open(os.path.join(HERE, "whole", file + ".py"), encoding="utf-8") as text:
        return f"SMALL, TRAINED, DEVICE = {arguments.small}, {trained}, '{arguments.device}'\n" + text.read()


def inputs_of(name, arguments):
    return few(arguments.small, *MODELS[name][1:3])


def sides_of(name, arguments):
    """PyTorch's modes, each of which has run, and the bytes that each held at most."""
    import torch

    sides, most = {}, {}
    modes = {"eager": None, "compiled": {"dynamic": False}, "graphs": {"mode": "reduce-overhead", "dynamic": False}}
    for mode, how in modes.items():
        if mode not in arguments.torch_modes.split(","):
            continue
        space = {}
        exec(compile(source_of(name, arguments), name, "exec"), space)
        args = [filled(s, arguments.device) for s in inputs_of(name, arguments)]
        if how:
            if MODELS[name][3]:
                space["loss_of"] = torch.compile(space["loss_of"], **how)
            else:
                space["net"] = torch.compile(space["net"], **how)
        try:
            for i in range(3):
                if i == 2 and arguments.device == "cuda":
                    torch.cuda.synchronize()
                    torch.cuda.reset_peak_memory_stats()
                space["model"](*args)
            if arguments.device == "cuda":
                torch.cuda.synchronize()
                most[mode] = torch.cuda.max_memory_allocated()
            sides[mode] = lambda space=space, args=args: space["model"](*args)
        except Exception as error:
            print(f"{name}: PyTorch's {mode} does not run: {str(error).splitlines()[0][:120]}", flush=True)
    return sides, most


def run_ours(name, arguments):
    workload = {"name": name, "source": source_of(name, arguments), "device": arguments.device, "modes": arguments.modes.split(","),
                "calls": [[{"random": s} for s in inputs_of(name, arguments)]], "seconds": arguments.seconds}
    begin = time.time()
    try:
        done = subprocess.run([arguments.binary, "run", "-", "--json"], input=json.dumps(workload), capture_output=True, text=True, timeout=arguments.limit)
        report = json.loads(done.stdout)
    except (ValueError, subprocess.TimeoutExpired) as why:
        print(f"{name}: does not run here: {why if isinstance(why, subprocess.TimeoutExpired) else done.stderr.strip()[:300]}", flush=True)
        return {}, None
    print(f"{name}: ours took {time.time() - begin:.0f} s {done.stderr.strip()[:200]}", flush=True)
    return {m: v["latency"]["median_us"] for m, v in report["modes"].items() if v.get("latency")}, report


def kernels_of(report, mode="static"):
    """(name, times it is launched, microseconds of all, gigabytes a second), the longest first."""
    from limit import kernels_in

    rows = {}
    for k in kernels_in(report["modes"].get(mode) or {}):
        row = rows.setdefault(k["name"], [0, 0.0, 0])
        row[0] += 1
        row[1] += k.get("median_us") or 0
        row[2] += k.get("read_bytes", 0) + k.get("written_bytes", 0)
    return sorted(([n, c, us, b / us / 1e3 if us else 0] for n, (c, us, b) in rows.items()), key=lambda r: -r[2])


def launched(rows):
    """[(name, microseconds)] of several calls as {name: (launches, microseconds)} of the last one: what repeats at the end."""
    names = [name for name, _ in rows]
    period = next((n for n in range(1, len(rows) // 2 + 1) if names[-n:] == names[-2 * n:-n] and n > 12), len(rows))
    made = {}
    for name, us in rows[-period:]:
        row = made.setdefault(name, [0, 0.0])
        row[0] += 1
        row[1] += us
    return made


def launched_by_ours(name, arguments):
    import timeline_file as t

    workload = {"name": name, "source": source_of(name, arguments), "device": arguments.device, "modes": ["static"],
                "calls": [[{"random": s} for s in inputs_of(name, arguments)]] * 4}
    with tempfile.TemporaryDirectory() as folder:
        trace = os.path.join(folder, "t.trace")
        done = subprocess.run([arguments.binary, "trace", "--kernels-only", "-o", trace, "--", arguments.binary, "run", "-", "--json", "--no-timing", "--brief",
                               "--no-sandbox", "--cache", folder], input=json.dumps(workload), capture_output=True, text=True, timeout=arguments.limit)
        if not os.path.exists(trace):
            raise RuntimeError(done.stderr.strip()[:400])
        line = t.Timeline(trace)
    return launched([(line.names[e[5]]["name"], e[1] / 1000) for e in sorted(line.events) if e[4] == t.KERNEL or e[4] == t.SET])


def launched_by_torch(call):
    import torch

    call()
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as seen:
        for _ in range(4):
            call()
        torch.cuda.synchronize()
    events = sorted((e for e in seen.events() if e.device_type == torch.autograd.DeviceType.CUDA), key=lambda e: e.time_range.start)
    return launched([(e.name, e.time_range.elapsed_us()) for e in events if not e.name.startswith("Memcpy")])


def compare_kernels(name, sides, arguments):
    """{side: {name: (launches, microseconds)}}, which it prints."""
    made = {}
    for side, take in [("ours", lambda: launched_by_ours(name, arguments))] + [(m, lambda c=c: launched_by_torch(c)) for m, c in sides.items() if m != "eager"]:
        try:
            made[side] = take()
        except Exception as why:
            print(f"{name}: no kernels of {side}: {str(why)[:300]}", flush=True)
            continue
        print("   %s, %s: %d launches, %.0f us" % (name, side, sum(r[0] for r in made[side].values()), sum(r[1] for r in made[side].values())), flush=True)
        for kernel, (n, us) in sorted(made[side].items(), key=lambda r: -r[1][1])[:arguments.most]:
            print("      %9.1f us x%-4d %s" % (us, n, kernel[:150]), flush=True)
    return made


def measure(name, arguments):
    sides, most = sides_of(name, arguments) if arguments.torch_modes else ({}, {})
    before = {mode: sample_us(call, arguments.device) for mode, call in sides.items()}
    ours, report = run_ours(name, arguments)
    after = {mode: sample_us(call, arguments.device) for mode, call in sides.items()}
    row = {"name": name, "ours": ours, "theirs": before, "again": after, "memory": most}
    if report:
        row["kernels"] = kernels_of(report)
        row["ours_memory"] = {m: v.get("memory") for m, v in report["modes"].items()}
        row["compile"] = {m: v.get("compile") for m, v in report["modes"].items()}
    if ours and before:
        row["ratio"] = [min(ours.values()) / min(x.values()) for x in (before, after)]
    show = lambda side: " ".join("%s %.0f" % pair for pair in side.items())
    print("%-10s %s  %s | %s | %s | memory %s" % (name, "-".join("%.3f" % r for r in sorted(row.get("ratio", []))), show(ours), show(before), show(after),
                                                show({m: b / 2**20 for m, b in most.items()})), flush=True)
    for kernel in row.get("kernels", [])[:14]:
        print("      %-60s x%-4d %9.1f us %7.0f GB/s" % (kernel[0][:60], *kernel[1:]), flush=True)
    if arguments.kernels:
        row["launched"] = compare_kernels(name, sides, arguments)
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary", nargs="?", default="build/breakeven")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--only", default="")
    parser.add_argument("--modes", default="static,graphs")
    parser.add_argument("--torch-modes", default="eager,compiled,graphs")
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--limit", type=float, default=90, help="seconds of ours")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--kernels", action="store_true", help="each side's kernels of one call")
    parser.add_argument("--most", type=int, default=40, help="how many of them are printed")
    parser.add_argument("--compile", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--json")
    arguments = parser.parse_args()
    for name in arguments.only.split(",") if arguments.only else MODELS:
        if arguments.compile:
            sides_of(name, arguments)
            continue
        row = measure(name, arguments)
        if arguments.json:
            with open(arguments.json, "a", encoding="utf-8") as file:
                file.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
