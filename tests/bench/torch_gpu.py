"""tests/bench/torch_gpu.py [BINARY] -- chains and blocks on a GPU, PyTorch beside Breakeven.

    python3 tests/bench/torch_gpu.py build/breakeven [--rounds 3] [--only TEXT] [--check] [--training]

Each row runs in torch eager, torch.compile(dynamic=False) and mode "reduce-overhead", and
in eager, static, dynamic and graphs of `breakeven run` on device cuda, on numbers of the same
kind.  PyTorch's time is the mean of a batch of calls between two CUDA events, the median
of 7 batches; ours is the report's median.  Within a round the two sides follow each
other; a ratio is ours over theirs of one round, and the median is printed with the
smallest and the largest.  Beside what memory bounds stand kernel times by CUPTI, over
inputs and results of more than 256 MB in turn: ours in static, torch's compiled, and a
copy of the same bytes by torch, whose share ours reaches.  --training: a training step of two
blocks under autocast instead, and its activation bytes, each in a process of its own.
Needs torch, a GPU and a C++ compiler.
"""
import argparse
import json
import math
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import torch_blocks
import torch_cpu
import training_memory

tensor = torch_blocks.tensor
PREFIX = torch_blocks.PREFIX
MODES = ("eager", "static", "dynamic", "graphs")
ROWS = {f"chain_{n}": (lambda n=n: torch_cpu.chain(n), [tensor(8, 16)]) for n in (1, 5, 10, 15, 20, 25, 30)}
ROWS |= {f"chain_30_2^{k}": (lambda: torch_cpu.chain(30), [tensor(1 << k)]) for k in (20, 24, 27)}


def block(source, *arguments):
    return (lambda: PREFIX + source), list(arguments)


ROWS |= {
    "softmax": block("def model(x):\n    return torch.softmax(1.5 * x, -1)\n", tensor(4096, 1024)),
    "layer_norm_gelu": block("def model(x, w, b):\n    return F.gelu(F.layer_norm(x, (1024,), w, b))\n",
                             tensor(8192, 1024), tensor(1024, seed=1), tensor(1024, seed=2)),
    "bias_gelu": block("def model(x, b):\n    return F.gelu(x + b) * 0.5\n", tensor(8192, 4096), tensor(4096, seed=1)),
    "rms_norm": block("def model(x, g):\n    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * g\n",
                      tensor(8192, 4096), tensor(4096, seed=1)),
    "mlp": block(torch_blocks.BLOCKS["mlp_wide"][0], *torch_blocks.BLOCKS["mlp_wide"][1]),
    "transformer_layer": block(torch_blocks.LAYER, *torch_blocks.BLOCKS["transformer_layer"][1]),
}
WIDE = [[8, 512, 768], [2304, 768], [2304], [768, 768], [768], [768], [768], [3072, 768], [3072], [768, 3072], [768], [768], [768]]
ROWS["transformer_layer_bf16"] = block(torch_blocks.LAYER, *[tensor(*s, seed=i, dtype="bfloat16") for i, s in enumerate(WIDE)])


def index(*shape, high, seed=9):
    return tensor(*shape, seed=seed, kind="randint", dtype="int64", low=0, high=high)


# Ops with kernels of their own.
ROWS |= {
    "embedding": block("def model(w, i):\n    return F.embedding(i, w)\n", tensor(50000, 1024), index(16, 512, high=50000)),
    "gather": block("def model(x, i):\n    return torch.gather(x, 1, i)\n", tensor(4096, 1024), index(4096, 256, high=1024)),
    "scatter_add": block("def model(x, i, s):\n    return torch.scatter_add(x, 0, i, s)\n", tensor(1024, 512), index(4096, 512, high=1024), tensor(4096, 512, seed=2)),
    "cumsum": block("def model(x):\n    return torch.cumsum(x, 1)\n", tensor(4096, 1024)),
    "argmax": block("def model(x):\n    return torch.argmax(x, 1)\n", tensor(4096, 1024)),
    "sort": block("def model(x):\n    return torch.sort(x, 1)[0]\n", tensor(4096, 1024)),
    "sort_long": block("def model(x):\n    return torch.sort(x)[0]\n", tensor(1 << 20)),
    "topk": block("def model(x):\n    return torch.topk(x, 8, 1)[0]\n", tensor(4096, 1024)),
    "max_pool2d": block("def model(x):\n    return F.max_pool2d(x, 3, 2, 1)\n", tensor(16, 64, 56, 56)),
    "conv2d": block("def model(x, w, b):\n    return F.relu(F.conv2d(x, w, b, 1, 1))\n", tensor(16, 64, 56, 56), tensor(64, 64, 3, 3, seed=1), tensor(64, seed=2)),
    "cross_entropy": block("def model(x, t):\n    return F.cross_entropy(x, t)\n", tensor(4096, 1024), index(4096, high=1024)),
}
# What reads a tensor once and writes one of its size.
BOUND_BY_MEMORY = {"softmax", "layer_norm_gelu", "bias_gelu", "rms_norm"}


def filled(spec):
    import torch

    if spec["kind"] == "randint":
        return torch.randint(spec["low"], spec["high"], spec["shape"], device="cuda")
    return torch.randn(*spec["shape"], device="cuda", dtype=getattr(torch, spec["dtype"]))


def turns(spec):
    """So many inputs and results that no cache holds them."""
    return max(2, -(-(257 << 20) // (2 * 4 * math.prod(spec["shape"]))))


def kernel_us(call):
    """The median time of what call(i) runs on the device, by CUPTI."""
    import torch

    for i in range(32):
        call(i)
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as seen:
        for i in range(64):
            call(i)
        torch.cuda.synchronize()
    return middle([e.time_range.elapsed_us() for e in seen.events() if e.device_type == torch.autograd.DeviceType.CUDA])


def kernels_us(binary, name, compiled):
    """A kernel of ours in static, of torch's compiled model, and a copy."""
    source, specs = ROWS[name][0](), ROWS[name][1]
    n = turns(specs[0])
    inputs, others = [filled(specs[0]) for _ in range(n)], [filled(s) for s in specs[1:]]
    kept = [filled(specs[0]) for _ in range(n)]

    def theirs(i):
        kept[i % n] = compiled(inputs[i % n], *others)

    theirs_us = kernel_us(theirs)
    copy_us = kernel_us(lambda i: kept[i % n].copy_(inputs[i % n]))
    # Ours: one call, which has all inputs and results; of sizes that hardly differ they are no one kernel.
    shape = specs[0]["shape"]
    inputs = [dict(specs[0], seed=i, shape=[shape[0] - i, *shape[1:]]) for i in range(n)]
    names, rest = [f"x{i}" for i in range(n)], [f"y{i}" for i in range(len(others))]
    calls = ", ".join(f"one({', '.join([x] + rest)})" for x in names)
    report = torch_blocks.run_workload(binary, {
        "name": name, "source": source.replace("def model(", "def one(") + f"\n\ndef model({', '.join(names + rest)}):\n    return {calls}\n",
        "device": "cuda", "modes": ["static"], "calls": [[{"random": s} for s in inputs + specs[1:]]]})
    kernels = [k for g in report["static"]["graphs"] for k in g["kernel_details"]]
    most = max(k["written_bytes"] for k in kernels)
    return middle([k["median_us"] for k in kernels if k["written_bytes"] > 0.99 * most]), theirs_us, copy_us


def sample_us(call):
    """The mean of a batch between two events, the median of 7."""
    import torch

    def batch(n):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(n):
            call()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1000 / n

    batch(20)
    n = max(5, min(100, int(100000 / batch(5))))
    return sorted(batch(n) for _ in range(7))[3]


def measure(binary, name, rounds):
    import torch

    source, specs = ROWS[name][0](), ROWS[name][1]
    space = {}
    exec(source, space)
    torch.set_grad_enabled(False)
    torch._dynamo.reset()
    torch.backends.cudnn.allow_tf32 = False  # sums of float32 are of float32 on both sides
    arguments = [filled(s) for s in specs]
    model = space["model"]
    sides = {"eager": model, "static": torch.compile(model, dynamic=False), "graphs": torch.compile(model, mode="reduce-overhead")}
    for side in sides.values():
        side(*arguments)
    theirs, ours = {m: [] for m in sides}, {m: [] for m in MODES}
    for _ in range(rounds):
        for mode, side in sides.items():
            theirs[mode].append(sample_us(lambda: side(*arguments)))
        report = torch_blocks.run_workload(binary, {
            "name": name, "source": source, "device": "cuda", "modes": list(MODES), "calls": [[{"random": s} for s in specs]]})
        for mode in MODES:
            ours[mode].append(report[mode]["latency"]["median_us"])
    best = [min(t) for t in zip(*theirs.values())]
    return {"name": name, "ours": ours, "theirs": theirs, "kernels": kernels_us(binary, name, sides["static"]) if name in BOUND_BY_MEMORY else None,
            "eager": torch_cpu.spread([o / t for o, t in zip(ours["eager"], theirs["eager"])]),
            "static": torch_cpu.spread([o / t for o, t in zip(ours["static"], theirs["static"])]),
            "best": torch_cpu.spread([o / t for o, t in zip(ours["static"], best)])}


def middle(values):
    return sorted(values)[len(values) // 2]


# A training step: what both sides run, but for who compiles loss_of().
TRAINING = """import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
%s
net = nn.Sequential(Block(256, 8), Block(256, 8)).to("cuda")
opt = torch.optim.AdamW(net.parameters(), lr=0.01)
def loss_of(x, y):
    return F.mse_loss(net(x), y)
""" + training_memory.STEP
# In a process of its own: the time of a step, and its peak beyond what stays.
THEIRS = """
import json, sys
sys.path.insert(0, %r)
from torch_gpu import sample_us
x, y = torch.randn(16, 128, 256, device="cuda"), torch.randn(16, 128, 256, device="cuda")
if %r == "compiled":
    loss_of = torch.compile(loss_of)
def step():
    opt.zero_grad()
    with torch.autocast("cuda", torch.bfloat16):
        loss = loss_of(x, y)
    loss.backward()
    opt.step()
    return loss
for _ in range(3):
    step()
torch.cuda.synchronize()
kept = [x, y] + [t for p in net.parameters() for t in (p, p.grad, *opt.state[p].values())]
stays = sum(t.numel() * t.element_size() for t in kept if t.device.type == "cuda")
torch.cuda.reset_peak_memory_stats()
step()
torch.cuda.synchronize()
print(json.dumps({"us": sample_us(step), "activation_bytes": torch.cuda.max_memory_allocated() - stays, "stays": stays}))
"""


def training_source():

    return TRAINING % training_memory.GPT[training_memory.GPT.index("class Block"):training_memory.GPT.index("net = ")]


def training(binary):
    import torch_blocks

    source = training_source()
    theirs = {}
    for mode in ("eager", "compiled"):
        done = subprocess.run([sys.executable, "-c", source + THEIRS % (HERE, mode)], capture_output=True, text=True)
        if done.returncode:
            sys.exit(done.stderr)
        theirs[mode] = json.loads(done.stdout.strip().splitlines()[-1])
    print("a training step, bfloat16 by autocast: us, activation bytes")
    for mode, t in theirs.items():
        print("torch %-9s %9.1f %12d" % (mode, t["us"], t["activation_bytes"]))
    call = [{"random": tensor(16, 128, 256, seed=i)} for i in (1, 2)]
    for mode in ("eager", "static"):
        # What stays is the same tensors on both sides, so their count serves both.
        report = torch_blocks.run_workload(binary, {"name": "training", "source": source, "device": "cuda", "modes": [mode], "calls": [call], "autocast": "bfloat16"})
        us, bytes_beyond = report[mode]["latency"]["median_us"], report[mode]["peak_bytes"] - theirs["compiled"]["stays"]
        print("ours  %-9s %9.1f %12d   over torch compiled: %.3f of the time, %.3f of the bytes" % (
            mode, us, bytes_beyond, us / theirs["compiled"]["us"], bytes_beyond / theirs["compiled"]["activation_bytes"]))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", nargs="?", default=os.path.join(HERE, "..", "..", "build", "breakeven"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--check", action="store_true", help="exit 1 where static is slower than torch's best mode")
    parser.add_argument("--training", action="store_true", help="a training step instead")
    arguments = parser.parse_args()
    if arguments.training:
        training(arguments.binary)
        return
    slower = []
    print("us a call (ours eager, static, dynamic, graphs | torch eager, static, graphs); static over torch static, over its best")
    for name in ROWS:
        if arguments.only not in name:
            continue
        row = measure(arguments.binary, name, arguments.rounds)
        print("%-18s %8.2f %8.2f %8.2f %8.2f | %8.2f %8.2f %8.2f  %.3f (%.3f-%.3f)  %.3f (%.3f-%.3f)" % (
            name, *[middle(row["ours"][m]) for m in MODES], *[middle(t) for t in row["theirs"].values()], *row["static"], *row["best"]) + (
            "  kernels %.2f | %.2f, copy %.2f: %.3f of a copy" % (*row["kernels"], row["kernels"][2] / row["kernels"][0]) if row["kernels"] else ""), flush=True)
        if row["best"][0] > 1:
            slower.append(name)
    print("static slower than torch's best mode: " + (", ".join(slower) or "nowhere"))
    sys.exit(1 if arguments.check and slower else 0)


if __name__ == "__main__":
    main()
