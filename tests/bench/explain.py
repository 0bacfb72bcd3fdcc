"""tests/bench/explain.py [BINARY] -- what `breakeven explain` costs on a module of 300 lines.

    python3 tests/bench/explain.py build/breakeven [--runs 30] [--check]

Two transformers of twelve blocks, each a class of its own: one captured as one
graph, one with a branch on a tensor in every block.  Wall time of the whole
command is the median of the runs with the quartiles beside it, then processor
time, and with `perf` at hand instructions, which depend less on who else works.
--check exits 1 where the median misses the bar.
"""
import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BAR_MS = 20
BLOCKS = 12

HEAD = """import torch
import torch.nn as nn
import torch.nn.functional as F

"""
BLOCK = """class Block{n}(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.n1 = nn.LayerNorm(d)
        self.n2 = nn.LayerNorm(d)
        self.q = nn.Linear(d, d)
        self.k = nn.Linear(d, d)
        self.v = nn.Linear(d, d)
        self.o = nn.Linear(d, d)
        self.up = nn.Linear(d, 4 * d)
        self.down = nn.Linear(4 * d, d)

    def forward(self, x):
        h = self.n1(x)
        q, k, v = self.q(h), self.k(h), self.v(h)
        a = torch.softmax(q @ k.transpose(-2, -1) / 4.0, dim=-1)
        x = x + self.o(a @ v)
        h = self.n2(x)
        h = F.gelu(self.up(h))
        h = self.down(h)
{last}
        return x + h

"""
WHOLE = "        h = torch.clamp(h, -1e9, 1e9)\n        h = h * 0.5"
BROKEN = "        if h.sum() > 1e9:\n            h = h / 2"
MODEL = """class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential({blocks})

    def forward(self, x):
        x = self.blocks(x)
{last}
        return x * 2


model = Model()
"""
SHOWN = '        print("rows", x.shape[0])'


def source(breaks):
    """A module of about 300 lines: with 13 breaks, or without any."""
    blocks = "".join(BLOCK.format(n=n, last=BROKEN if breaks else WHOLE) for n in range(BLOCKS))
    names = ", ".join(f"Block{n}(16)" for n in range(BLOCKS))
    return HEAD + blocks + MODEL.format(blocks=names, last=SHOWN if breaks else "        x = x + 1")


def instructions(command):
    """Millions of instructions in user mode; None without perf or without its leave."""
    if not shutil.which("perf"):
        return None
    done = subprocess.run(["perf", "stat", "-x,", "-e", "instructions:u", *command], capture_output=True, text=True)
    fields = [line.split(",") for line in done.stderr.splitlines() if "instructions" in line]
    return float(fields[0][0]) / 1e6 if fields and fields[0][0].isdigit() else None


def used():
    """Seconds of processor time of the children so far."""
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return r.ru_utime + r.ru_stime


def measure(command, runs):
    """Wall time of each run in ms, sorted, and the processor time of one."""
    times, before = [], used()
    for _ in range(runs):
        begin = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        times.append((time.perf_counter() - begin) * 1e3)
    return sorted(times), (used() - before) * 1e3 / runs


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("binary", nargs="?", default=os.path.join(ROOT, "build", "breakeven"))
    parser.add_argument("--runs", type=int, default=30)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    missed = False
    with tempfile.TemporaryDirectory() as folder:
        for breaks in (False, True):
            path = os.path.join(folder, f"{'breaks' if breaks else 'whole'}.py")
            text = source(breaks)
            with open(path, "w") as file:
                file.write(text)
            command = [options.binary, "explain", path, "--input", "x=float32[8,16]"]
            times, cpu = measure(command, options.runs)
            median = statistics.median(times)
            low, high = times[len(times) // 4], times[3 * len(times) // 4]
            count = instructions(command)
            what = f"{text.count(chr(10))} lines, {BLOCKS + 1 if breaks else 'no'} breaks"
            more = f"   {cpu:.1f} ms of processor" + ("" if count is None else f", {count:.0f} M instructions")
            met = median <= BAR_MS
            missed = missed or not met
            print(f"{what:24} {median:7.1f} ms  ({low:.1f} to {high:.1f})   bar {BAR_MS} ms{'' if met else '  MISSED'}{more}")
    return 1 if options.check and missed else 0


if __name__ == "__main__":
    sys.exit(main())
