"""tests/bench/blocks.py [BINARY] -- blocks that nobody tuned for, PyTorch beside Breakeven.

    python3 tests/bench/blocks.py build/breakeven [--device cuda] [--threads 16] [--only a,b] [--part 1/3] [--rounds 1]
                                  [--autotune] [--ours] [--kernels] [--before OLD] [--seconds 0.15] [--json FILE]

Each block runs in torch eager, torch.compile(dynamic=False) and mode "reduce-overhead" (a CPU
has none; --autotune: "max-autotune-no-cudagraphs" for products, convolutions and attention
too), and in static and graphs of `breakeven run`, on numbers of the same kind, both sides in
one run.  A ratio is our best mode over PyTorch's best; its spread is that of the rounds.  First
all blocks are compiled side by side in processes of their own, so that the measuring one finds
PyTorch's kernels in its cache.  On a GPU PyTorch's time is the mean of a batch between two
events, the median of 5; ours is the report's median.  --ours leaves PyTorch out, --kernels
prints where our time goes, --before measures another build beside this one.  Needs torch and a C++ compiler; without --device cuda no GPU.
"""
import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import torch_blocks

PREFIX = torch_blocks.PREFIX
HALF = "bfloat16"


def t(*shape, dtype="float32", kind="randn", **more):
    return {"shape": list(shape), "dtype": dtype, "kind": kind, **more}


def h(*shape):
    return t(*shape, dtype=HALF)


def index(*shape, high):
    return t(*shape, dtype="int64", kind="randint", low=0, high=high)


def ones(*shape, **more):
    return t(*shape, kind="ones", **more)


def mask(*shape):
    return t(*shape, dtype="bool", kind="randint", low=0, high=2)


ROTARY = """def model(q, cos, sin):
    half = q.shape[-1] // 2
    turned = torch.cat([-q[..., half:], q[..., :half]], -1)
    return q * cos + turned * sin
"""
LSTM = torch_blocks.LSTM
ADAMW = """def model(p, g, m, v):
    m = m * 0.9 + g * 0.1
    v = v * 0.999 + g * g * 0.001
    return p * 0.999 - 0.001 * (m / 0.1) / (torch.sqrt(v / 0.001) + 1e-8), m, v
"""
MANY = """def model(*all):
    out = []
    for i in range(0, len(all), 2):
        out.append(all[i] - 0.01 * all[i + 1].clamp(-1.0, 1.0))
    return tuple(out)
"""
NORM_GRAD = """def model(x, w, b, g):
    mean = x.mean(-1, keepdim=True)
    inv = torch.rsqrt(x.var(-1, keepdim=True, unbiased=False) + 1e-5)
    n = (x - mean) * inv
    d = g * w
    dx = inv * (d - d.mean(-1, keepdim=True) - n * (d * n).mean(-1, keepdim=True))
    return dx, (g * n).sum(0), g.sum(0)
"""

# name: (body of the source, inputs on a GPU, inputs on a CPU or None, takes --autotune)
BLOCKS = {
    "conv_bf16": ("def model(x, w, s):\n    return F.relu(F.conv2d(x, w, None, 1, 1) * s)\n",
                  [h(32, 128, 56, 56), h(128, 128, 3, 3), h(1, 128, 1, 1)], None, True),
    "conv_bf16_down": ("def model(x, w, b):\n    return F.silu(F.conv2d(x, w, b, 2, 1))\n",
                       [h(64, 64, 112, 112), h(128, 64, 3, 3), h(128)], None, True),
    "conv_1x1_bf16": ("def model(x, w, b, r):\n    return F.relu(F.conv2d(x, w, b) + r)\n",
                      [h(32, 256, 56, 56), h(64, 256, 1, 1), h(64), h(32, 64, 56, 56)], None, True),
    "conv_f32": ("def model(x, w, b):\n    return F.relu(F.conv2d(x, w, b, 1, 1))\n",
                 [t(16, 64, 56, 56), t(64, 64, 3, 3), t(64)], [t(4, 64, 28, 28), t(64, 64, 3, 3), t(64)], True),
    "conv_transposed": ("def model(x, w):\n    return torch.tanh(F.conv1d(x, w, None, 1, 3))\n",
                        [t(32, 128, 4096), t(128, 128, 7)], [t(4, 64, 1024), t(64, 64, 7)], True),
    "depthwise_gelu": ("def model(x, w, b):\n    return F.gelu(F.conv2d(x, w, b, 1, 3, 1, 96))\n",
                       [t(32, 96, 56, 56), t(96, 1, 7, 7), t(96)], [t(4, 96, 28, 28), t(96, 1, 7, 7), t(96)], True),
    "distances": ("def model(a, b):\n    d = a[:, None, :] - b[None, :, :]\n    return torch.sqrt((d * d).sum(-1))\n",
                  [t(2048, 64), t(2048, 64)], [t(512, 64), t(512, 64)], False),
    "cityblock": ("def model(a, b):\n    return (a.unsqueeze(1) - b.unsqueeze(0)).abs().sum(-1)\n",
                  [t(1024, 128), t(4096, 128)], [t(256, 128), t(512, 128)], False),
    "transpose_add": ("def model(x, y):\n    return x.t() + y\n", [t(4096, 4096), t(4096, 4096)], [t(2048, 2048), t(2048, 2048)], False),
    "permute_scale": ("def model(x, s):\n    return (x.permute(0, 3, 1, 2) * s).contiguous()\n",
                      [h(32, 128, 128, 64), h(64, 1, 1)], [t(8, 64, 64, 64), t(64, 1, 1)], False),
    "heads_turned": ("def model(x):\n    return torch.relu(x.view(16, 1024, 16, 64).transpose(1, 2).contiguous())\n",
                     [h(16, 1024, 1024)], [t(16, 1024, 1024)], False),
    "causal_long": ("def model(q, k, v):\n    return F.scaled_dot_product_attention(q, k, v, is_causal=True)\n",
                    [h(4, 16, 4096, 64)] * 3, None, True),
    "attention_128": ("def model(q, k, v):\n    return F.scaled_dot_product_attention(q, k, v)\n",
                      [h(2, 16, 4096, 128)] * 3, None, True),
    "attention_bias": ("def model(q, k, v, b):\n    return F.scaled_dot_product_attention(q, k, v, attn_mask=b)\n",
                       [h(4, 16, 1024, 64)] * 3 + [h(1, 16, 1024, 1024)], None, True),
    "attention_written": ("def model(q, k, v, d):\n    s = q @ k.transpose(-2, -1) * 0.125 + d * -0.1\n    return torch.softmax(s, -1) @ v\n",
                          [h(4, 16, 1024, 64)] * 3 + [h(1024, 1024)],
                          [t(2, 8, 256, 64)] * 3 + [t(256, 256)], True),
    "rotary": (ROTARY, [h(8, 32, 2048, 128), h(2048, 128), h(2048, 128)], [t(1, 16, 512, 64), t(512, 64), t(512, 64)], False),
    "upsample_blend": ("def model(x, y):\n    return F.interpolate(x, scale_factor=2, mode='bilinear', align_corners=False) * 0.3 + y * 0.7\n",
                       [t(16, 64, 64, 64), t(16, 64, 128, 128)], [t(2, 32, 32, 32), t(2, 32, 64, 64)], False),
    "rms_norm_long": ("def model(x, w):\n    f = x.float()\n    return (f * torch.rsqrt(f.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * w\n",
                      [h(4096, 16384), h(16384)], [t(512, 4096), t(4096)], False),
    "layer_norm_wide": ("def model(x, w, b):\n    return F.layer_norm(x, (12288,), w, b)\n",
                        [h(4096, 12288), h(12288), h(12288)], [t(256, 12288), t(12288), t(12288)], False),
    "topk_sample": ("def model(x):\n    v, i = torch.topk(x, 50)\n    return torch.softmax(v, -1), i\n", [t(64, 50257)], [t(8, 50257)], False),
    "topk_experts": ("def model(x):\n    v, i = torch.topk(torch.softmax(x, -1), 2)\n    return v / v.sum(-1, keepdim=True), i\n",
                     [t(16384, 64)], [t(4096, 64)], False),
    "cat_activations": ("def model(a, b, c):\n    return torch.cat([F.relu(a), torch.sigmoid(b), torch.tanh(c)], 1)\n",
                        [t(8192, 1024)] * 3, [t(1024, 512)] * 3, False),
    "embedding_sum": ("def model(w, p, i):\n    return (F.embedding(i, w) + p).sum(1)\n",
                      [t(50000, 512), t(128, 512), index(512, 128, high=50000)], [t(5000, 256), t(64, 256), index(64, 64, high=5000)], False),
    "embedding_norm": ("def model(w, p, i, g, b):\n    return F.layer_norm(F.embedding(i, w) + p, (768,), g, b)\n",
                       [h(50257, 768), h(1024, 768), index(16, 1024, high=50257), h(768), h(768)],
                       [t(5000, 768), t(128, 768), index(4, 128, high=5000), t(768), t(768)], False),
    "var_columns": ("def model(x):\n    return x.var(0)\n", [t(16384, 1024)], [t(4096, 512)], False),
    "normalise_columns": ("def model(x):\n    return (x - x.mean(0)) / (x.std(0) + 1e-5)\n", [t(16384, 1024)], [t(4096, 512)], False),
    "sum_columns": ("def model(x):\n    return torch.relu(x).sum(0)\n", [t(32768, 1024)], [t(8192, 512)], False),
    "max_columns": ("def model(x):\n    return x.amax(1)\n", [t(64, 512, 1024)], [t(8, 512, 512)], False),
    "masked_softmax": ("def model(x, m):\n    return torch.softmax(x.masked_fill(m, float('-inf')), -1)\n",
                       [h(32, 16, 512, 512), mask(512, 512)], [t(4, 8, 256, 256), mask(256, 256)], False),
    "cross_entropy": ("def model(x, i):\n    return F.cross_entropy(x, i)\n",
                      [h(4096, 32000), index(4096, high=32000)], [t(256, 32000), index(256, high=32000)], False),
    "log_softmax_nll": ("def model(x, i):\n    return -torch.log_softmax(x.float(), -1).gather(1, i[:, None]).mean()\n",
                        [h(8192, 8192), index(8192, high=8192)], [t(512, 8192), index(512, high=8192)], False),
    "gated_halves": ("def model(x):\n    a, b = x.chunk(2, -1)\n    return F.silu(a) * b\n", [h(8192, 22016)], [t(512, 8192)], False),
    "lstm": (LSTM, [t(64, 32, 256), t(64, 256), t(64, 256), t(1024, 256), t(1024, 256), t(1024)],
             [t(16, 16, 128), t(16, 128), t(16, 128), t(512, 128), t(512, 128), t(512)], False),
    "batch_norm_eval": ("def model(x, m, v, w, b):\n    return F.relu(F.batch_norm(x, m, v, w, b, False))\n",
                        [t(64, 128, 56, 56), t(128), ones(128), t(128), t(128)], [t(8, 64, 56, 56), t(64), ones(64), t(64), t(64)], False),
    "group_norm": ("def model(x, w, b):\n    return F.silu(F.group_norm(x, 32, w, b))\n",
                   [h(16, 320, 64, 64), h(320), h(320)], [t(2, 128, 32, 32), t(128), t(128)], False),
    "roll_flip_pad": ("def model(x):\n    return F.pad(torch.roll(x.flip(-1), 3, 1) * 2.0, (1, 1, 1, 1))\n",
                      [t(64, 512, 1022)], [t(16, 128, 254)], False),
    "shifted_window": ("def model(x):\n    y = torch.roll(x, (-4, -4), (1, 2)).view(16, 14, 8, 14, 8, 96)\n    return y.permute(0, 1, 3, 2, 4, 5).contiguous() + 1.0\n",
                       [t(16, 112, 112, 96)], [t(16, 112, 112, 96)], False),
    "cumsum_rows": ("def model(x):\n    return torch.cumsum(x * 0.5, -1)\n", [t(8192, 4096)], [t(512, 4096)], False),
    "gather_scale": ("def model(x, i, s):\n    return torch.gather(x, 1, i) * s\n",
                     [t(8192, 4096), index(8192, 2048, high=4096), t(8192, 1)], [t(512, 1024), index(512, 512, high=1024), t(512, 1)], False),
    "scatter_add": ("def model(x, i, s):\n    return torch.scatter_add(x, 0, i, torch.relu(s))\n",
                    [t(4096, 512), index(16384, 512, high=4096), t(16384, 512)], [t(512, 128), index(2048, 128, high=512), t(2048, 128)], False),
    "layer_norm_grad": (NORM_GRAD, [t(16384, 1024), t(1024), t(1024), t(16384, 1024)], [t(2048, 512), t(512), t(512), t(2048, 512)], False),
    "adamw": (ADAMW, [t(1 << 25)] * 4, [t(1 << 20)] * 4, False),
    "many_updates": (MANY, [t(256, 256)] * 128, [t(128, 128)] * 64, False),
    "small_bmm": ("def model(a, b):\n    return torch.relu(torch.bmm(a, b))\n",
                  [t(8192, 16, 16), t(8192, 16, 16)], [t(2048, 16, 16), t(2048, 16, 16)], True),
    "bmm_pairs": ("def model(a, b, s):\n    return torch.bmm(a, b.transpose(1, 2)) * s\n",
                  [h(4096, 32, 64), h(4096, 32, 64), h(4096, 1, 1)], [t(512, 32, 64), t(512, 32, 64), t(512, 1, 1)], True),
    "linear_gelu_bf16": ("def model(x, w, b):\n    return F.gelu(F.linear(x, w, b))\n", [h(8192, 1024), h(4096, 1024), h(4096)], None, True),
    "dequantised": ("def model(x, w, s):\n    return F.linear(x, w.to(x.dtype) * s)\n",
                    [h(16, 4096), t(11008, 4096, dtype="int8", kind="randint", low=-127, high=127), h(11008, 1)], None, True),
    "pairwise_bool": ("def model(x, y):\n    return torch.where(x > 0, x, y.exp()).clamp(-1.0, 4.0).to(torch.float16)\n",
                      [t(1 << 26), t(1 << 26)], [t(1 << 21), t(1 << 21)], False),
    "windows_mean": ("def model(x):\n    return x.unfold(1, 8, 4).mean(-1)\n", [t(2048, 16384)], [t(256, 4096)], False),
    "argmax_onehot": ("def model(x):\n    return F.one_hot(torch.argmax(x, -1), 512).to(torch.float32) - torch.softmax(x, -1)\n",
                      [t(32768, 512)], [t(2048, 512)], False),
}


def inputs(name, device):
    specs = BLOCKS[name][1] if device == "cuda" else BLOCKS[name][2]
    return specs and [dict(s, seed=i) for i, s in enumerate(specs)]


def names_of(arguments):
    names = [n for n in BLOCKS if inputs(n, arguments.device) and (not arguments.only or n in arguments.only.split(","))]
    part, parts = map(int, arguments.part.split("/"))
    return names[part - 1 :: parts]


def filled(spec, device):
    import torch

    dtype = getattr(torch, spec["dtype"])
    if spec["kind"] == "ones":
        return torch.ones(spec["shape"], device=device, dtype=dtype)
    if spec["kind"] == "randint":
        return torch.randint(spec["low"], spec["high"], spec["shape"], device=device).to(dtype)
    return torch.randn(*spec["shape"], device=device, dtype=dtype)


def sides_of(name, arguments):
    """PyTorch's modes as functions without arguments; each has run."""
    import torch

    torch._dynamo.reset()
    space = {}
    exec(PREFIX + BLOCKS[name][0], space)
    args = [filled(s, arguments.device) for s in inputs(name, arguments.device)]
    modes = {"eager": None, "compiled": {"dynamic": False}}
    if arguments.device == "cuda":
        modes["graphs"] = {"mode": "reduce-overhead"}
    if arguments.autotune and BLOCKS[name][3]:
        modes["autotuned"] = {"mode": "max-autotune-no-cudagraphs", "dynamic": False}
    sides = {}
    for mode, how in modes.items():
        function = space["model"] if how is None else torch.compile(space["model"], **how)
        try:
            for _ in range(3):
                function(*args)
            sides[mode] = lambda function=function: function(*args)
        except Exception as error:
            print("%s: PyTorch's %s does not run: %s" % (name, mode, str(error).splitlines()[0][:90]), flush=True)
    return sides


def sample_us(call, device):
    """The mean of a batch, the median of 5."""
    import torch

    def batch(n):
        if device != "cuda":
            begin = time.perf_counter()
            for _ in range(n):
                call()
            return (time.perf_counter() - begin) * 1e6 / n
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(n):
            call()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end) * 1000 / n

    batch(5)
    n = max(3, min(100, int(20000 / batch(3))))
    return sorted(batch(n) for _ in range(5))[2]


def run_ours(binary, name, arguments):
    modes = ["static"] + (["graphs"] if arguments.device == "cuda" else [])
    workload = {"name": name, "source": PREFIX + BLOCKS[name][0], "device": arguments.device, "modes": modes, "threads": arguments.threads,
                "calls": [[{"random": s} for s in inputs(name, arguments.device)]], "seconds": arguments.seconds}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(workload, file)
        file.flush()
        done = subprocess.run([binary, "run", file.name, "--json"], capture_output=True, text=True)
    try:
        report = json.loads(done.stdout)
    except ValueError:
        print("%s: does not run here: %s" % (name, done.stderr.strip()[:200]), flush=True)
        return {}, None
    if done.returncode:
        print("%s: %s" % (name, done.stderr.strip()[:200] or report.get("verdict")), flush=True)
    found = {m: report["modes"][m]["latency"]["median_us"] for m in modes if report["modes"].get(m, {}).get("latency")}
    return found, report["modes"].get("static")


def kernels_of(mode):
    for graph in (mode or {}).get("graphs", []):
        for k in graph.get("kernel_details", []):
            us, moved = k.get("median_us") or 0, k.get("read_bytes", 0) + k.get("written_bytes", 0)
            yield "      %9.1f us %7.2f GB/s  %s" % (us, moved / us / 1e3 if us else 0, k["name"])


def measure(name, arguments):
    sides = {} if arguments.ours else sides_of(name, arguments)
    ours, theirs, before, ratios, static = {}, {}, {}, [], None
    for _ in range(arguments.rounds):
        round_ = {mode: sample_us(call, arguments.device) for mode, call in sides.items()}
        mine, static = run_ours(arguments.binary, name, arguments)
        old = run_ours(arguments.before, name, arguments)[0] if arguments.before else {}
        for kept, found in ((theirs, round_), (ours, mine), (before, old)):
            for mode, us in found.items():
                kept.setdefault(mode, []).append(us)
        if round_ and mine:
            ratios.append(min(mine.values()) / min(round_.values()))
    middle = lambda side: {mode: sorted(us)[len(us) // 2] for mode, us in side.items()}
    row = {"name": name, "ours": middle(ours), "before": middle(before), "theirs": middle(theirs), "ratios": sorted(ratios)}
    text = " ".join("%s %.1f" % pair for pair in row["ours"].items()) + " | " + " ".join("%s %.1f" % pair for pair in row["theirs"].items())
    if before:
        text += " | before " + " ".join("%s %.1f" % pair for pair in row["before"].items())
    if ratios:
        text = "%6.3f (%.3f-%.3f)  " % (row["ratios"][len(ratios) // 2], row["ratios"][0], row["ratios"][-1]) + text
    print("%-18s %s" % (name, text), flush=True)
    if arguments.kernels:
        print("\n".join(kernels_of(static)), flush=True)
    return row


def compile_all(arguments, names):
    """PyTorch's kernels into its cache, by as many processes as there is room for."""
    jobs = [names[i :: arguments.jobs] for i in range(arguments.jobs)]
    command = [sys.executable, os.path.abspath(__file__), *sys.argv[1:], "--compile", "--part", "1/1", "--only"]
    started = [subprocess.Popen([*command, ",".join(job)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for job in jobs if job]
    for process in started:
        process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary", nargs="?", default="build/breakeven")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--only", default="")
    parser.add_argument("--part", default="1/1")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=0.15)
    parser.add_argument("--jobs", type=int, default=7, help="processes that compile")
    parser.add_argument("--autotune", action="store_true")
    parser.add_argument("--ours", action="store_true")
    parser.add_argument("--kernels", action="store_true")
    parser.add_argument("--before", metavar="OLD")
    parser.add_argument("--json")
    parser.add_argument("--compile", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    names = names_of(arguments)
    if not arguments.ours:
        import torch

        torch.backends.cudnn.allow_tf32 = False  # sums of float32 are of float32 on both sides
        torch.set_num_threads(arguments.threads or os.cpu_count())
        torch.set_grad_enabled(False)
    if arguments.compile:
        for name in names:
            sides_of(name, arguments)
        return
    if not arguments.ours and arguments.jobs > 1:
        compile_all(arguments, names)
    rows = [measure(name, arguments) for name in names]
    found = [row["ratios"][len(row["ratios"]) // 2] for row in rows if row["ratios"]]
    if found:
        print("%d blocks: geometric mean %.3f, the worst %.2f, ahead in %d" % (
            len(found), math.exp(sum(map(math.log, found)) / len(found)), max(found), sum(r < 1 for r in found)))
    both = [min(r["before"].values()) / min(r["theirs"].values()) for r in rows if r["before"] and r["theirs"]]
    if both:
        print("%d blocks before: geometric mean %.3f, the worst %.2f, ahead in %d" % (
            len(both), math.exp(sum(map(math.log, both)) / len(both)), max(both), sum(r < 1 for r in both)))
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(rows, file)


if __name__ == "__main__":
    main()
