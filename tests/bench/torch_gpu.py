"""tests/bench/torch_gpu.py [BINARY] -- chains and blocks on a GPU, PyTorch beside Breakeven.

    python3 tests/bench/torch_gpu.py build/breakeven [--rounds 3] [--only TEXT] [--check]

Each row runs in torch eager, torch.compile(dynamic=False) and mode "reduce-overhead", and
in eager, static and dynamic of `breakeven run` on device cuda, on numbers of the same
kind.  PyTorch's time is the mean of a batch of calls between two CUDA events, the median
of 7 batches; ours is the report's median.  Within a round the two sides follow each
other; a ratio is ours over theirs of one round, and the median is printed with the
smallest and the largest.  Needs torch, a GPU and a C++ compiler.
"""
import argparse
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import torch_blocks
import torch_cpu

tensor = torch_blocks.tensor
PREFIX = torch_blocks.PREFIX
MODES = ("eager", "static", "dynamic")
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
    arguments = [torch.randn(*s["shape"], device="cuda") for s in specs]
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
    return {"name": name, "ours": ours, "theirs": theirs,
            "eager": torch_cpu.spread([o / t for o, t in zip(ours["eager"], theirs["eager"])]),
            "static": torch_cpu.spread([o / t for o, t in zip(ours["static"], theirs["static"])]),
            "best": torch_cpu.spread([o / t for o, t in zip(ours["static"], best)])}


def middle(values):
    return sorted(values)[len(values) // 2]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", nargs="?", default=os.path.join(HERE, "..", "..", "build", "breakeven"))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--check", action="store_true", help="exit 1 where static is slower than torch's best mode")
    arguments = parser.parse_args()
    slower = []
    print("us a call (ours eager, static, dynamic | torch eager, static, graphs); static over torch static, over its best")
    for name in ROWS:
        if arguments.only not in name:
            continue
        row = measure(arguments.binary, name, arguments.rounds)
        print("%-18s %8.2f %8.2f %8.2f | %8.2f %8.2f %8.2f  %.3f (%.3f-%.3f)  %.3f (%.3f-%.3f)" % (
            name, *[middle(row["ours"][m]) for m in MODES], *[middle(t) for t in row["theirs"].values()], *row["static"], *row["best"]), flush=True)
        if row["best"][0] > 1:
            slower.append(name)
    print("static slower than torch's best mode: " + (", ".join(slower) or "nowhere"))
    sys.exit(1 if arguments.check and slower else 0)


if __name__ == "__main__":
    main()
