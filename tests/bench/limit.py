"""tests/bench/limit.py [BINARY] -- kernels beside PyTorch's at sizes that nobody tuned for: gradients, sums of rows, sums by index.

    python3 tests/bench/limit.py build/breakeven [--before OLD] [--hidden] [--blocks odd,unseen,...] [--only a,b] [--without graphs] [--seconds 0.08] [--wall 360] [--lanes 6] [--json FILE]
    python3 tests/bench/limit.py build/breakeven --errors

On a GPU.  A block has a source, what PyTorch runs for the same values where that differs, and two lists
of inputs: --hidden takes the second one, at sizes that were written before anything was measured at
the first; --blocks takes those of odd.py, unseen.py and blocks.py (tuned) instead.  Both sides in one run, each block
under a time limit: ours is the better one of static and graphs, PyTorch's the best of eager, torch.compile and its reduce-overhead.  Of PyTorch a figure is the
median of 5 batches between two events.  --errors compares both sides' results of small inputs with
float64.  No block begins after --wall seconds.  A line a block is printed, and written to --json.
--lanes: so many processes on each GPU prepare blocks side by side (PyTorch compiles in each); once all are ready, one at a time measures.
"""
import argparse
import contextlib
import fcntl
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import blocks
import odd
import unseen
from blocks import PREFIX, filled, h, index, sample_us, t

GRAD = """def model(x, w, g):
    y = F.conv2d(x.requires_grad_(), w.requires_grad_(), None, %s)
    return (y.detach(),) + torch.autograd.grad(y, (x, w), g)
"""
GRAD_TORCH = """def model(x, w, g):
    made = torch.ops.aten.convolution_backward(g, x, w, [0], [%d, %d], [%d, %d], [1, 1], False, [0, 0], %d, [True, True, False])
    return F.conv2d(x, w, None, %s), made[0], made[1]
"""
TRANSPOSED = "def model(x, w):\n    return F.conv_transpose2d(x, w, None, 2, 1)\n"
IOU = """def model(a, b):
    lt = torch.max(a[:, None, :2], b[None, :, :2])
    rb = torch.min(a[:, None, 2:], b[None, :, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[..., 0] * wh[..., 1]
    area_a = (a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])
    area_b = (b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])
    return inter / (area_a[:, None] + area_b[None] - inter)
"""
ROWS = "def model(x):\n    return x.sum(-1)\n"
INDEX_ADD = "def model(x, i, s):\n    return x.index_add(0, i, s)\n"
SCATTER_ADD = "def model(x, i, s):\n    return torch.scatter_add(x, 0, i, torch.relu(s))\n"
EMBEDDING = "def model(w, i, g):\n    return torch.zeros_like(w).index_put((i,), g, accumulate=True)\n"


def grad(stride, padding, groups=1):
    return GRAD % f"{stride}, {padding}, 1, {groups}", GRAD_TORCH % (stride, stride, padding, padding, groups, f"{stride}, {padding}, 1, {groups}")


def conv(dtype, n, c, o, size, k, stride, padding, groups=1):
    out = (size + 2 * padding - k) // stride + 1
    return [t(n, c, size, size, dtype=dtype), t(o, c // groups, k, k, dtype=dtype), t(n, o, out, out, dtype=dtype)]


F32, BF16 = "float32", "bfloat16"
# name: (source, PyTorch's or None, inputs, hidden inputs)
BLOCKS = {
    "grad_f32": (*grad(1, 1), conv(F32, 32, 64, 128, 56, 3, 1, 1), conv(F32, 12, 192, 96, 30, 3, 1, 1)),
    "grad_bf16": (*grad(1, 1), conv(BF16, 32, 64, 128, 56, 3, 1, 1), conv(BF16, 24, 256, 256, 28, 3, 1, 1)),
    "grad_down_f32": (*grad(2, 1), conv(F32, 32, 64, 128, 56, 3, 2, 1), conv(F32, 16, 128, 192, 50, 3, 2, 1)),
    "grad_down_bf16": (*grad(2, 1), conv(BF16, 64, 64, 128, 112, 3, 2, 1), conv(BF16, 40, 96, 160, 64, 3, 2, 1)),
    "grad_1x1_f32": (*grad(1, 0), conv(F32, 32, 256, 512, 28, 1, 1, 0), conv(F32, 20, 384, 128, 36, 1, 1, 0)),
    "grad_groups_f32": (*grad(1, 1, 8), conv(F32, 32, 128, 128, 56, 3, 1, 1, 8), conv(F32, 24, 96, 192, 40, 3, 1, 1, 8)),
    "grad_depthwise_f32": (*grad(1, 3, 96), conv(F32, 32, 96, 96, 56, 7, 1, 3, 96), conv(F32, 24, 96, 96, 40, 7, 1, 3, 96)),
    "transposed_f32": (TRANSPOSED, None, [t(16, 64, 56, 56), t(64, 32, 4, 4)], [t(12, 96, 40, 40), t(96, 48, 4, 4)]),
    "down_bf16": ("def model(x, w, b):\n    return F.silu(F.conv2d(x, w, b, 2, 1))\n", None,
                  [h(64, 64, 112, 112), h(128, 64, 3, 3), h(128)], [h(48, 96, 80, 80), h(192, 96, 3, 3), h(192)]),
    "sum_rows_7x7": ("def model(x):\n    return x.mean((2, 3))\n", None, [t(256, 1024, 7, 7)], [t(96, 1536, 9, 9)]),
    "sum_rows_16": (ROWS, None, [t(1 << 20, 16)], [t(1500000, 12)]),
    "sum_rows_64": (ROWS, None, [t(1 << 18, 64)], [t(300000, 48)]),
    "sum_rows_1023": (ROWS, None, [t(16384, 1023)], [t(30000, 737)]),
    "sum_rows_1024": (ROWS, None, [t(32768, 1024)], [t(12000, 2048)]),
    "sum_rows_few": (ROWS, None, [t(64, 1 << 20)], [t(200, 300000)]),
    "sum_rows_bf16": (ROWS, None, [h(65536, 300)], [h(50000, 555)]),
    "softmax_rows_64": ("def model(x):\n    return torch.softmax(x, -1)\n", None, [t(1 << 18, 64)], [t(400000, 33)]),
    "softmax_rows_1001": ("def model(x):\n    return torch.softmax(x, -1)\n", None, [t(16384, 1001)], [t(12000, 1533)]),
    "layer_norm_96": ("def model(x, w, b):\n    return F.layer_norm(x, (96,), w, b)\n", None, [t(1 << 17, 96), t(96), t(96)],
                      [t(250000, 96), t(96), t(96)]),
    "index_add": (INDEX_ADD, None, [t(100000, 64), index(400000, high=100000), t(400000, 64)],
                  [t(40000, 96), index(300000, high=40000), t(300000, 96)]),
    "scatter_add": (SCATTER_ADD, None, [t(4096, 512), index(16384, 512, high=4096), t(16384, 512)],
                    [t(30000, 128), index(60000, 128, high=30000), t(60000, 128)]),
    "embedding_grad": (EMBEDDING, None, [t(50257, 1024), index(8192, high=50257), t(8192, 1024)],
                       [t(32000, 768), index(12000, high=32000), t(12000, 768)]),
    "pixel_shuffle": ("def model(x, b):\n    return F.pixel_shuffle(x, 2) * 0.5 + b\n", None, [t(8, 256, 128, 128), t(64, 1, 1)],
                      [t(12, 144, 100, 96), t(36, 1, 1)]),
    "pool_of_relu": ("def model(x):\n    return F.max_pool2d(F.relu(x), 3, 2, 1)\n", None, [t(32, 64, 112, 112)], [t(24, 96, 90, 90)]),
    "overlaps": (IOU, None, [t(2048, 4), t(4096, 4)], [t(3000, 4), t(5000, 4)]),
}

# name: (source, PyTorch's or None, inputs): --errors
ERRORS = {
    "grad_f32": (*grad(1, 1), conv(F32, 4, 32, 64, 28, 3, 1, 1)),
    "grad_down_f32": (*grad(2, 1), conv(F32, 4, 32, 64, 29, 3, 2, 1)),
    "grad_groups_f32": (*grad(1, 1, 4), conv(F32, 4, 32, 64, 28, 3, 1, 1, 4)),
    "grad_bf16": (*grad(1, 1), conv(BF16, 4, 32, 64, 28, 3, 1, 1)),
    "grad_down_bf16": (*grad(2, 1), conv(BF16, 4, 32, 64, 29, 3, 2, 1)),
    "grad_f64": (*grad(2, 1), conv("float64", 2, 8, 8, 13, 3, 2, 1)),
    "transposed_f32": (TRANSPOSED, None, [t(2, 32, 20, 20), t(32, 16, 4, 4)]),
    "transposed_odd_f32": ("def model(x, w):\n    return F.conv_transpose2d(x, w, None, 3, 2, 1, 2, 2)\n", None, [t(2, 32, 11, 14), t(32, 16, 3, 5)]),
    "sum_rows_1023": (ROWS, None, [t(64, 1023)]),
    "sum_rows_16": (ROWS, None, [t(5000, 16)]),
    "index_add": (INDEX_ADD, None, [t(50, 64), index(3000, high=50), t(3000, 64)]),
    "scatter_add": (SCATTER_ADD, None, [t(40, 64), index(500, 64, high=40), t(500, 64)]),
    "embedding_grad": (EMBEDDING, None, [t(300, 96), index(700, high=300), t(700, 96)]),
    "overlaps": (IOU, None, [t(100, 4), t(90, 4)]),
    "pixel_shuffle": ("def model(x, b):\n    return F.pixel_shuffle(x, 2) * 0.5 + b\n", None, [t(2, 16, 30, 30), t(4, 1, 1)]),
    "pool_of_relu": ("def model(x):\n    return F.max_pool2d(F.relu(x), 3, 2, 1)\n", None, [t(2, 4, 33, 30)]),
}


ODD = {"odd": odd.OPEN, "kept": odd.KEPT, "folds": odd.FOLDS, "folds-kept": odd.FOLDS_KEPT, "unseen": unseen.UNSEEN, "sealed": unseen.SEALED, "trained": unseen.TRAINED,
       "tuned": {name: (source, None, gpu) for name, (source, gpu, _, _) in blocks.BLOCKS.items()}}


class Late(Exception):
    pass


def late(*_):
    raise Late()


def inputs(name, arguments):
    return [dict(s, seed=i) for i, s in enumerate(BLOCKS[name][3 if arguments.hidden else 2])]


def sides_of(name, arguments):
    """PyTorch's modes as functions without arguments; each has run."""
    import torch

    if not arguments.lock:
        torch._dynamo.reset()
    space = {}
    exec(PREFIX + (BLOCKS[name][1] or BLOCKS[name][0]), space)
    args = [filled(s, "cuda") for s in inputs(name, arguments)]
    sides = {}
    for mode, how in {"eager": None, "compiled": {"dynamic": False}, "graphs": {"mode": "reduce-overhead"}}.items():
        if mode in arguments.without.split(","):
            continue
        function = space["model"] if how is None else torch.compile(space["model"], **how)
        signal.signal(signal.SIGALRM, late)
        signal.alarm(25)
        try:
            for _ in range(3):
                function(*args)
            torch.cuda.synchronize()
            sides[mode] = lambda function=function: function(*args)
        except (Exception, Late) as error:
            print(f"{name}: PyTorch's {mode} does not run: {(str(error) or 'too slow').splitlines()[0][:90]}", flush=True)
        finally:
            signal.alarm(0)
    return sides


def kernels_in(part):
    """All that a part of a report says of kernels, those of gradients too."""
    if isinstance(part, dict):
        return part.get("kernel_details", []) + [k for x in part.values() for k in kernels_in(x)]
    return [k for x in part for k in kernels_in(x)] if isinstance(part, list) else []


def run_ours(binary, name, arguments):
    workload = {"name": name, "source": PREFIX + BLOCKS[name][0], "device": "cuda", "modes": ["static", "graphs"],
                "calls": [[{"random": s} for s in inputs(name, arguments)]], "seconds": arguments.seconds}
    try:
        done = subprocess.run([binary, "run", "-", "--json"], input=json.dumps(workload), capture_output=True, text=True, timeout=40)
        report = json.loads(done.stdout)
    except (ValueError, subprocess.TimeoutExpired) as why:
        print(f"{name}: does not run here: {why if isinstance(why, subprocess.TimeoutExpired) else done.stderr.strip()[:300]}", flush=True)
        return {}, []
    if done.returncode:
        print(f"{name}: {done.stderr.strip()[:200] or report.get('verdict')}", flush=True)
    modes = report["modes"]
    found = {m: modes[m]["latency"]["median_us"] for m in modes if modes[m].get("latency")}
    kernels = [(k["name"], k.get("median_us"), k.get("read_bytes", 0) + k.get("written_bytes", 0)) for k in kernels_in(modes.get("static"))]
    return found, kernels


@contextlib.contextmanager
def alone(arguments):
    """The GPU is this process's among all lanes."""
    with open(arguments.lock or os.devnull, "w") as file:
        if arguments.lock:
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def all_ready(arguments, until):
    """Says that this lane has prepared its blocks, and waits for the others."""
    count, folder = arguments.ready.split(",", 1)
    tempfile.NamedTemporaryFile(dir=folder, delete=False).close()
    while len(os.listdir(folder)) < int(count) and time.time() < until:
        time.sleep(0.1)


def measure(name, arguments, sides):
    with alone(arguments):
        theirs = {mode: sample_us(call, "cuda") for mode, call in sides.items()}
        ours, kernels = run_ours(arguments.binary, name, arguments)
        again = {mode: sample_us(call, "cuda") for mode, call in sides.items()}  # after ours: the spread
        before = run_ours(arguments.before, name, arguments)[0] if arguments.before else {}
    row = {"name": name, "ours": ours, "theirs": theirs, "again": again, "before": before, "kernels": kernels}
    if ours and theirs:
        row["ratio"] = [min(ours.values()) / min(x.values()) for x in (theirs, again)]
        if before:
            row["ratio_before"] = min(before.values()) / min(theirs.values())
    show = lambda side: " ".join("%s %.1f" % pair for pair in side.items())
    print("%-18s %s  %s | %s | %s%s" % (name, "-".join("%.3f" % r for r in sorted(row.get("ratio", []))), show(ours), show(theirs), show(again),
                                        " | before " + show(before) if before else ""), flush=True)
    for kernel in kernels:
        print("      %-50s %9.1f us %7.0f GB/s" % (kernel[0][:50], kernel[1] or 0, kernel[2] / (kernel[1] or 1e9) / 1e3), flush=True)
    return row


def flat(value):
    """The numbers of a value in a report."""
    if not isinstance(value, dict):
        return []
    if "tensor" in value:
        data = value["tensor"]["data"]
        return data if isinstance(data, list) else [data]
    return [x for part in value.get("tuple", value.get("list", [])) for x in flat(part)]


def error_of(name, arguments):
    """Norms of the errors of both sides against float64, over the result's."""
    import torch

    source, other, specs = ERRORS[name]
    torch.manual_seed(1)
    args = [filled(s, "cpu") for s in specs]
    given = [{"tensor": {"shape": list(a.shape), "dtype": s["dtype"], "data": a.double().flatten().tolist() if a.is_floating_point() else a.flatten().tolist()}}
             for a, s in zip(args, specs)]
    workload = {"name": name, "source": PREFIX + source, "device": "cuda", "modes": ["static", "eager"], "calls": [given]}
    done = subprocess.run([arguments.binary, "run", "-", "--json", "--no-timing"], input=json.dumps(workload), capture_output=True, text=True, timeout=60)
    try:
        modes = json.loads(done.stdout)["modes"]
    except ValueError:
        print(f"{name}: does not run here: {done.stderr.strip()[:300]}", flush=True)
        return None
    space = {}
    exec(PREFIX + (other or source), space)

    def torch_side(cast, device):
        made = space["model"](*[cast(a).to(device) for a in args])
        return torch.cat([x.double().flatten().cpu() for x in (made if isinstance(made, (tuple, list)) else [made])])

    exact = torch_side(lambda a: a.double() if a.is_floating_point() else a, "cpu")
    errors = {"torch": float((torch_side(lambda a: a, "cuda") - exact).norm() / exact.norm())}
    for mode in ("static", "eager"):
        have = torch.tensor([float(x) for call in modes[mode]["calls"] for x in flat(call["output"])], dtype=torch.float64)
        errors[mode] = float((have - exact).norm() / exact.norm()) if have.shape == exact.shape else math.nan
    print("%-20s %s  static/torch %.2f" % (name, " ".join("%s %.2e" % pair for pair in errors.items()),
                                          errors["static"] / errors["torch"] if errors["torch"] else float(errors["static"] > 0)), flush=True)
    return {"name": name, "errors": errors}


def compile_all(names):
    """PyTorch's kernels into its cache, by processes side by side."""
    jobs = [names[i::8] for i in range(8)]
    command = [sys.executable, os.path.abspath(__file__), *sys.argv[1:], "--compile", "--only"]
    started = [subprocess.Popen([*command, ",".join(job)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for job in jobs if job]
    for process in started:
        try:
            process.wait(timeout=90)
        except subprocess.TimeoutExpired:
            process.kill()


def in_lanes(names, arguments):
    """The rows of so many processes on each GPU, of which one measures at a time."""
    import torch

    count = torch.cuda.device_count()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as ready:
        started, lanes = [], min(len(names), arguments.lanes * count)
        for lane in range(lanes):
            gpu = lane % count
            own = [*sys.argv[1:], "--lanes", "1", "--compiled", "--lock", os.path.join(folder, "gpu%d" % gpu), "--json", os.path.join(folder, "lane%d" % lane), "--ready", "%d,%s" % (lanes, ready)]
            environment = {**os.environ, "CUDA_VISIBLE_DEVICES": str(gpu), "TORCHINDUCTOR_COMPILE_THREADS": "1"}
            started.append(subprocess.Popen([sys.executable, os.path.abspath(__file__), *own, "--only", ",".join(names[lane::lanes])], env=environment))
        for process in started:
            process.wait()
        rows = []
        for lane in range(lanes):
            if os.path.exists(os.path.join(folder, "lane%d" % lane)):
                with open(os.path.join(folder, "lane%d" % lane), encoding="utf-8") as file:
                    rows += [json.loads(line) for line in file]
        return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary", nargs="?", default="build/breakeven")
    parser.add_argument("--before", metavar="OLD")
    parser.add_argument("--hidden", action="store_true")
    parser.add_argument("--blocks", default="limit", help="limit, or some of " + ", ".join(ODD))
    parser.add_argument("--errors", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--without", default="", help="modes of PyTorch that are left out")
    parser.add_argument("--seconds", type=float, default=0.08)
    parser.add_argument("--wall", type=float, default=360)
    parser.add_argument("--json")
    parser.add_argument("--compiled", action="store_true", help="PyTorch's kernels are in its cache already")
    parser.add_argument("--lanes", type=int, default=1, help="processes that prepare blocks side by side, on each GPU")
    parser.add_argument("--compile", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--lock", help=argparse.SUPPRESS)
    parser.add_argument("--ready", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    import torch

    begin = time.time()
    torch.backends.cudnn.allow_tf32 = False  # sums of float32 are of float32 on both sides
    torch.set_grad_enabled(False)
    if arguments.blocks != "limit":
        BLOCKS.clear()
        for part in arguments.blocks.split(","):
            BLOCKS.update(ODD[part])
    known = ERRORS if arguments.errors else BLOCKS
    names = [n for n in arguments.only.split(",") if n in known] if arguments.only else list(known)
    if arguments.compile:
        for name in names:
            sides_of(name, arguments)
        return
    if not arguments.errors and not arguments.compiled and arguments.lanes == 1:
        compile_all(names)
        print("compiled after %.0f s" % (time.time() - begin), flush=True)
    rows = in_lanes(names, arguments) if arguments.lanes > 1 else []
    for row in rows if arguments.json else []:
        with open(arguments.json, "a") as file:
            file.write(json.dumps(row) + "\n")
    prepared = {}
    if arguments.lock:
        torch._dynamo.config.recompile_limit = torch._dynamo.config.accumulated_recompile_limit = 10000  # all blocks stay compiled
        for name in names:
            if time.time() - begin < arguments.wall / 2:
                prepared[name] = sides_of(name, arguments)
        all_ready(arguments, begin + arguments.wall / 2)
    for name in names if arguments.lanes == 1 else []:
        if time.time() - begin > arguments.wall or (arguments.lock and name not in prepared):
            print("no time for", name, flush=True)
            continue
        row = error_of(name, arguments) if arguments.errors else measure(name, arguments, prepared.get(name) or sides_of(name, arguments))
        if row:
            rows.append(row)
        if arguments.json and row:
            with open(arguments.json, "a") as file:
                file.write(json.dumps(row) + "\n")
    found = [r["ratio"][0] for r in rows if r.get("ratio")]
    if found and not arguments.lock:
        print("%d blocks: geometric mean %.3f, the worst %.2f, ahead in %d; %.0f s" % (
            len(found), math.exp(sum(map(math.log, found)) / len(found)), max(found), sum(r < 1 for r in found), time.time() - begin))


if __name__ == "__main__":
    main()
