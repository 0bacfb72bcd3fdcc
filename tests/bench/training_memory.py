"""tests/bench/training_memory.py [BINARY] -- the memory of a training step, each mode in a process of its own.

    python3 tests/bench/training_memory.py build/breakeven [--modes eager,static,dynamic,auto] [--policy dynamo]
                                           [--batch 256] [--autocast bfloat16] [--check]

A step is zero_grad(), forward, loss, backward() and the optimiser's step(), three
times.  ACTIVATION bytes are the peak of the allocator, less the calls' inputs, the
parameters, their gradients and what the optimiser keeps; the program itself counts
these.  --check exits 1 where a compiled mode needs more than 0.7 of eager's.
"""
import argparse
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BAR = 0.7

HEAD = """import torch
import torch.nn as nn
import torch.nn.functional as F
torch.manual_seed(0)
"""

MLP = HEAD + """
net = nn.Sequential(nn.Linear(64, 256), nn.ACTIVATION(), nn.Linear(256, 256), nn.ACTIVATION(), nn.Linear(256, 10))
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
def loss_of(x, y):
    return F.cross_entropy(net(x), y)
"""

DEEP = HEAD + """
net = nn.Sequential(*[layer for _ in range(12) for layer in (nn.Linear(64, 64), nn.ReLU())], nn.Linear(64, 10))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
def loss_of(x, y):
    return F.cross_entropy(net(x), y)
"""

LAYER = HEAD + """
net = nn.TransformerEncoderLayer(64, 4, 256, dropout=0.0, batch_first=True)
opt = torch.optim.AdamW(net.parameters(), lr=0.01)
def loss_of(x, y):
    return F.mse_loss(net(x), y)
"""

GPT = HEAD + """
class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.before = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.between = nn.LayerNorm(width)
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = self.qkv(self.before(x)).split(c, dim=2)
        q, k, v = [part.view(b, t, self.heads, c // self.heads).transpose(1, 2) for part in (q, k, v)]
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).contiguous().view(b, t, c))
        return x + self.down(F.gelu(self.up(self.between(x))))

net = nn.Sequential(Block(64, 4), Block(64, 4))
opt = torch.optim.AdamW(net.parameters(), lr=0.01)
def loss_of(x, y):
    return F.mse_loss(net(x), y)
"""

STEP = """
def model(x, y):
    opt.zero_grad()
    loss = loss_of(x, y)
    loss.backward()
    opt.step()
    return loss
"""

COUNT = STEP.replace("model", "step") + """
def bytes_of(tensors):
    return sum([t.numel() * t.element_size() for t in tensors])

def model(x, y):
    step(x, y)
    kept = [v for s in opt.state.values() for v in s.values() if isinstance(v, torch.Tensor)]
    return bytes_of(net.parameters()), bytes_of([p.grad for p in net.parameters()]), bytes_of(kept)
"""


def random(shape, dtype="float32", **more):
    return {"random": {"shape": shape, "dtype": dtype, "seed": 3, **more}}


def workloads(batch):
    """Name, source without its step, arguments of a call."""
    rows = [random([batch, 64], kind="randn"), random([batch], "int64", kind="randint", low=0, high=10)]
    tokens = [random([max(1, batch // 32), 64, 64], kind="randn") for _ in range(2)]
    yield "mlp, relu", MLP.replace("ACTIVATION", "ReLU"), rows
    yield "mlp, gelu", MLP.replace("ACTIVATION", "GELU"), rows
    few = [{"random": {**spec["random"], "shape": [max(1, batch // 8)] + spec["random"]["shape"][1:]}} for spec in rows]
    yield "mlp, relu, batch/8", MLP.replace("ACTIVATION", "ReLU"), few
    yield "12 relu layers", DEEP, rows
    yield "transformer layer", LAYER, tokens
    yield "two gpt blocks", GPT, tokens


def run(args, source, call, mode, times=1):
    workload = {"name": "training_memory", "source": source, "calls": [call] * times, "modes": [mode],
                "threads": 1, "policy": args.policy}
    if args.autocast:
        workload["autocast"] = args.autocast
    done = subprocess.run([args.binary, "run", "-", "--json", "--no-timing"], input=json.dumps(workload),
                          capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)["modes"][mode]


def activation_bytes(args, source, call, mode):
    inputs = run(args, "def model(x, y):\n    return 0\n", call, mode, 3)["peak_bytes"]
    counted = run(args, source + COUNT, call, "eager")["calls"][0]["output"]["tuple"]
    fixed = inputs + sum(item["value"] for item in counted)
    return run(args, source + STEP, call, mode, 3)["peak_bytes"] - fixed, fixed - inputs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary", nargs="?", default=os.path.join(ROOT, "build", "breakeven"))
    parser.add_argument("--modes", default="eager,static,dynamic,auto")
    parser.add_argument("--policy", default="dynamo")
    parser.add_argument("--batch", type=int, default=256)
    parser.add_argument("--autocast")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    missed = False
    print(f"{'workload':18} {'mode':8} {'activations':>12} {'of eager':>9}   parameters, gradients, state")
    for name, source, call in workloads(args.batch):
        eager = None
        for mode in ["eager"] + [m for m in args.modes.split(",") if m != "eager"]:
            used, fixed = activation_bytes(args, source, call, mode)
            eager = eager or used
            print(f"{name:18} {mode:8} {used:12,} {used / eager:9.3f}   {fixed:,}")
            missed |= mode != "eager" and used > BAR * eager
    if args.check and missed:
        sys.exit(f"a compiled mode needs more than {BAR} of eager's activation bytes")


if __name__ == "__main__":
    main()
