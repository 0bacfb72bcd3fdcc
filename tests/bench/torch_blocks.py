"""tests/bench/torch_blocks.py [BINARY] -- blocks of models on the CPU, PyTorch beside Breakeven.

    python3 tests/bench/torch_blocks.py build/breakeven [--threads 1,16] [--blocks softmax,...] [--rounds 3] [--check]
                                           [--compiled-at 1]

Each block of BLOCKS runs in torch eager, torch.compile(dynamic=False), and in
eager and static of `breakeven run`, on the same numbers, with the same number of
threads.  Within a round the four follow each other; a ratio is ours over theirs
of one round, and the median is printed with the smallest and the largest.  First
all blocks are compiled side by side, so that a measuring process finds PyTorch's
kernels in its cache: compile times are no part of this.  Chains are also run with
one thread of ours, for how far threads carry.  Torch's compiler splits a full sum
over the threads that torch has when it compiles; --compiled-at 1 compiles while it has
one, then measures with all.  Bars at the end; --check exits 1 where one is missed.
Needs torch and a C++ compiler.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
PREFIX = "import torch\nimport torch.nn.functional as F\n\n\n"


def tensor(*shape, seed=0, kind="randn", dtype="float32", **more):
    return {"shape": list(shape), "dtype": dtype, "kind": kind, "seed": seed, **more}


ROWS = tensor(4096, 1024)
LAYER = """def model(x, wqkv, bqkv, wo, bo, g1, b1, w1, c1, w2, c2, g2, b2):
    B, T, C = x.shape
    h = F.layer_norm(x, (C,), g1, b1)
    q, k, v = F.linear(h, wqkv, bqkv).split(C, dim=2)
    q = q.view(B, T, 8, C // 8).transpose(1, 2)
    k = k.view(B, T, 8, C // 8).transpose(1, 2)
    v = v.view(B, T, 8, C // 8).transpose(1, 2)
    att = torch.softmax(q @ k.transpose(-2, -1) * 0.1767766952966369, -1)
    y = (att @ v).transpose(1, 2).reshape(B, T, C)
    x = x + F.linear(y, wo, bo)
    h = F.layer_norm(x, (C,), g2, b2)
    return x + F.linear(F.gelu(F.linear(h, w1, c1)), w2, c2)
"""
LAYER_SHAPES = [[768, 256], [768], [256, 256], [256], [256], [256], [1024, 256], [1024], [256, 1024], [256], [256], [256]]
MLP = """def model(x, w1, b1, w2, b2, w3, b3):
    return F.linear(F.gelu(F.linear(F.relu(F.linear(x, w1, b1)), w2, b2)), w3, b3)
"""
MLP_SHAPES = [[512, 256], [512], [512, 512], [512], [10, 512], [10]]

RESNET = """def model(x, w1, g1, b1, m1, v1, w2, g2, b2, m2, v2):
    h = F.relu(F.batch_norm(F.conv2d(x, w1, None, 1, 1), m1, v1, g1, b1, False))
    return F.relu(F.batch_norm(F.conv2d(h, w2, None, 1, 1), m2, v2, g2, b2, False) + x)
"""
RESNET_NORM = [tensor(64, seed=2), tensor(64, seed=3), tensor(64, seed=4), tensor(64, kind="ones")]
LSTM = """def model(x, h, c, w, u, b):
    for t in range(x.shape[1]):
        i, f, g, o = (F.linear(x[:, t], w, b) + F.linear(h, u)).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
    return h
"""

# name: (source, arguments, the bar: ours static over torch.compile; None: only shown)
BLOCKS = {
    "softmax": ("def model(x):\n    return torch.softmax(x, -1)\n", [ROWS], 1),
    "log_softmax": ("def model(x):\n    return torch.log_softmax(x, -1)\n", [ROWS], None),
    "layer_norm_gelu": (
        "def model(x, w, b):\n    return F.gelu(F.layer_norm(x, (1024,), w, b))\n",
        [ROWS, tensor(1024, seed=1), tensor(1024, seed=2)], 1,
    ),
    "rms_norm": (
        "def model(x, w):\n    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6) * w\n",
        [ROWS, tensor(1024, seed=1)], 1,
    ),
    "bias_gelu": ("def model(x, b):\n    return F.gelu(x + b)\n", [ROWS, tensor(1024, seed=1)], None),
    "cross_entropy": (
        "def model(x, t):\n    return F.cross_entropy(x, t)\n",
        [ROWS, tensor(4096, seed=1, kind="randint", dtype="int64", low=0, high=1024)], None,
    ),
    "column_sum": ("def model(g):\n    return g.sum(0)\n", [ROWS], None),
    "full_sum": ("def model(g):\n    return (g * g).sum()\n", [tensor(4096, 4096)], None),
    "mlp": (MLP, [tensor(64, 256)] + [tensor(*s, seed=i + 1) for i, s in enumerate(MLP_SHAPES)], None),
    "transformer_layer": (LAYER, [tensor(1, 64, 256)] + [tensor(*s, seed=i + 1) for i, s in enumerate(LAYER_SHAPES)], 1),
    "mlp_wide": (
        "def model(x, w, b, v, c):\n    return F.linear(F.gelu(F.linear(x, w, b)), v, c)\n",
        [tensor(512, 1024), tensor(4096, 1024, seed=1), tensor(4096, seed=2), tensor(1024, 4096, seed=3), tensor(1024, seed=4)], 1,
    ),
    "conv2d": ("def model(x, w, b):\n    return F.relu(F.conv2d(x, w, b, 1, 1))\n", [tensor(1, 64, 56, 56), tensor(64, 64, 3, 3, seed=1), tensor(64, seed=2)], 1),
    "conv2d_deep": ("def model(x, w, b):\n    return F.relu(F.conv2d(x, w, b, 1, 1))\n", [tensor(4, 256, 14, 14), tensor(256, 256, 3, 3, seed=1), tensor(256, seed=2)], 1),
    "conv2d_one": ("def model(x, w, b):\n    return F.relu(F.conv2d(x, w, b))\n", [tensor(4, 64, 56, 56), tensor(256, 64, 1, 1, seed=1), tensor(256, seed=2)], 1),
    "resnet_block": (RESNET, [tensor(1, 64, 56, 56), tensor(64, 64, 3, 3, seed=1), *RESNET_NORM, tensor(64, 64, 3, 3, seed=5), *RESNET_NORM], 1),
    "lstm": (LSTM, [tensor(16, 8, 256), tensor(16, 256, seed=1), tensor(16, 256, seed=2), tensor(1024, 256, seed=3), tensor(1024, 256, seed=4), tensor(1024, seed=5)], 1),
    # What follows a product of matrices: bias, activation, residual, scale, cast.
    "linear_gelu_add": (
        "def model(x, w, b, r):\n    return r + F.gelu(F.linear(x, w, b))\n",
        [tensor(256, 512), tensor(512, 512, seed=1), tensor(512, seed=2), tensor(256, 512, seed=3)], None,
    ),
    "matmul_scale_softmax": (
        "def model(q, k):\n    return torch.softmax(q @ k.transpose(-2, -1) * 0.125, -1)\n",
        [tensor(8, 128, 64), tensor(8, 128, 64, seed=1)], None,
    ),
    "linear_silu_cast": (
        "def model(x, w):\n    return F.silu(x @ w).to(torch.bfloat16)\n", [tensor(256, 512), tensor(512, 1024, seed=1)], None,
    ),
    # The recorded program, 2^24 elements in three shapes.
    "chain_30": (None, [tensor(4096, 4096, seed=11)], 0.1),
    "chain_30_flat": (None, [tensor(1 << 24, seed=11)], 0.1),
    "chain_30_narrow": (None, [tensor(1 << 20, 16, seed=11)], 0.1),
}
CHAINS = {"chain_30", "chain_30_flat", "chain_30_narrow"}
TO_FASTER = CHAINS  # the bar is over the faster of theirs
ONLY_MANY = CHAINS  # a second a call with one thread


def source_of(name):
    if BLOCKS[name][0]:
        return PREFIX + BLOCKS[name][0]
    import torch_cpu

    return torch_cpu.chain(30)


def open_block(name, compiled_at, threads):
    """The function, its arguments and its compiled version, which has run."""
    import torch
    import torch_cpu

    space = {}
    exec(source_of(name), space)
    script = torch_cpu.load_script()
    arguments = [script.random_tensor(dict(spec)) for spec in BLOCKS[name][1]]
    torch.set_grad_enabled(False)
    compiled = torch.compile(space["model"], dynamic=False)
    torch.set_num_threads(compiled_at or threads)
    compiled(*arguments)
    torch.set_num_threads(threads)
    return space["model"], arguments, compiled


def run_ours(binary, name, threads, modes=("eager", "static")):
    return run_workload(binary, {
        "name": name, "source": source_of(name), "threads": threads, "modes": list(modes),
        "calls": [[{"random": spec} for spec in BLOCKS[name][1]]],
    })


def run_workload(binary, workload):
    """The report's modes."""
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(workload, file)
        file.flush()
        done = subprocess.run([binary, "run", file.name, "--json"], capture_output=True, text=True)
    if done.returncode:
        sys.exit("breakeven run failed: " + done.stderr)
    return json.loads(done.stdout)["modes"]


def agrees(ours, theirs):
    """Ours is whole, or a sum where it is large."""
    got = ours["calls"][0]["output"]["tensor"]
    want = theirs.double()
    if "data" in got:
        import torch

        return torch.allclose(torch.tensor(got["data"], dtype=torch.float64).reshape(want.shape), want, rtol=1e-3, atol=1e-4)
    return abs(got["sum"] - want.sum().item()) <= 1e-4 * want.abs().sum().item()


def measure(binary, name, threads, rounds, compiled_at):
    import torch_cpu

    eager, arguments, compiled = open_block(name, compiled_at, threads)
    theirs_out = compiled(*arguments)
    sides = {"eager": lambda _: eager(*arguments), "static": lambda _: compiled(*arguments)}
    theirs, ours, alone = {m: [] for m in sides}, {m: [] for m in sides}, []
    for _ in range(rounds):
        for mode, call in sides.items():
            theirs[mode].append(torch_cpu.sample_us(call, None))
        report = run_ours(binary, name, threads)
        for mode in sides:
            ours[mode].append(report[mode]["latency"]["median_us"])
        if name in CHAINS:
            alone.append(run_ours(binary, name, 1, ["static"])["static"]["latency"]["median_us"])
    faster = [min(a, b) for a, b in zip(theirs["eager"], theirs["static"])]
    return {
        "name": name, "threads": threads, "agree": agrees(report["static"], theirs_out), "theirs_us": theirs, "ours_us": ours,
        "peak_bytes": {m: report[m]["peak_bytes"] for m in sides}, "launches": report["static"].get("launches"),
        "ratio": {m: torch_cpu.spread([o / t for o, t in zip(ours[m], theirs[m])]) for m in sides},
        "to_faster": torch_cpu.spread([o / t for o, t in zip(ours["static"], faster)]),
        "alone_us": alone, "scaling": torch_cpu.spread([a / s for a, s in zip(alone, ours["static"])]) if alone else None,
        "to_eager": torch_cpu.spread([s / e for s, e in zip(ours["static"], ours["eager"])]),
    }


def worker(arguments):
    """One thread count: in a process of its own, since PyTorch sets threads once."""
    import torch

    torch.set_num_threads(arguments.worker)
    if arguments.compile_only:
        for name in arguments.blocks:
            open_block(name, arguments.compiled_at, arguments.worker)
        return
    for name in arguments.blocks:
        print(json.dumps(measure(arguments.binary, name, arguments.worker, arguments.rounds, arguments.compiled_at)), flush=True)


def blocks_of(arguments, threads):
    return [b for b in arguments.blocks if threads > 1 or b not in ONLY_MANY]


def spawn(arguments, threads, names, compile_only):
    command = [sys.executable, os.path.abspath(__file__), arguments.binary, "--worker", str(threads), "--blocks", ",".join(names)]
    command += ["--rounds", str(arguments.rounds), "--compiled-at", str(arguments.compiled_at)] + (["--compile-only"] if compile_only else [])
    # A cached kernel has the number of threads in it that it was compiled for.
    env = dict(os.environ, OMP_NUM_THREADS=str(threads), TORCHINDUCTOR_CACHE_DIR=os.path.join(arguments.cache, str(threads)))
    return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)


def show(row):
    text = "%-18s %2d threads" % (row["name"], row["threads"])
    for mode in ("eager", "static"):
        best = [sorted(side[mode])[len(side[mode]) // 2] for side in (row["ours_us"], row["theirs_us"])]
        text += "  %-6s %10.1f us, torch %10.1f us: %5.3f (%.3f-%.3f)" % (mode, *best, *row["ratio"][mode])
    text += "  static/eager %.3f" % row["to_eager"][0]
    if row["scaling"]:
        text += "  own one thread %.1f us, over this %.2f (%.2f-%.2f)" % (sorted(row["alone_us"])[len(row["alone_us"]) // 2], *row["scaling"])
    print(text + ("" if row["agree"] else "  VALUES DIFFER"), flush=True)


def bars(rows):
    """(claim, whether it held); the median over the rounds decides."""
    for row in rows:
        where = "%s, %d threads" % (row["name"], row["threads"])
        bar = BLOCKS[row["name"]][2]
        yield "values agree, " + where, row["agree"]
        yield "static not slower than our eager, " + where, row["to_eager"][0] <= 1.02
        if row["scaling"]:
            yield "at least ten times our own one thread, " + where, row["scaling"][0] >= 10
        if bar is not None and row["name"] in TO_FASTER:
            yield "static %g of torch's faster mode or less, %s" % (bar, where), row["to_faster"][0] <= bar
        elif bar is not None:
            yield "static %g of torch.compile or less, %s" % (bar, where), row["ratio"]["static"][0] <= bar


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary", nargs="?", default=os.path.join(HERE, "..", "..", "build", "breakeven"))
    parser.add_argument("--threads", default="1,16")
    parser.add_argument("--blocks", type=lambda s: s.split(","), default=list(BLOCKS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--compiled-at", type=int, default=0, metavar="THREADS", help="of torch when it compiles; 0: as when it runs")
    parser.add_argument("--json")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--worker", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--compile-only", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.worker:
        return worker(arguments)
    rows, counts = [], [int(t) for t in arguments.threads.split(",")]
    with tempfile.TemporaryDirectory() as cache:
        arguments.cache = cache
        begin = time.perf_counter()
        for process in [spawn(arguments, t, [name], True) for t in counts for name in blocks_of(arguments, t)]:
            process.communicate()
        print("compiled in %.0f s; ratios are ours over theirs, median of %d rounds (smallest-largest)" % (time.perf_counter() - begin, arguments.rounds), flush=True)
        for threads in counts:
            process = spawn(arguments, threads, blocks_of(arguments, threads), False)
            for line in process.stdout:
                rows.append(json.loads(line))
                show(rows[-1])
            process.wait()
    verdicts = list(bars(rows))
    missed = [claim for claim, held in verdicts if not held]
    print("%d bars held, %d missed" % (len(verdicts) - len(missed), len(missed)))
    for claim in missed:
        print("missed: " + claim)
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump({"rows": rows, "missed": missed}, file)
    return sys.exit(1 if arguments.check and missed else 0)


if __name__ == "__main__":
    main()
