"""tests/oracle/random_gpu.py BINARY FOLDER [--modes a,b] -- are random numbers of a run on a GPU those of PyTorch 2.11 there?

random_gpu.json holds what PyTorch drew on an H200: for each case the seed, the source, some
of the numbers, and the generator's offset after it, which the next number tells.  Without a
GPU: the stand-ins of FOLDER (tests/cuda/emulator) run the kernels on the host, as a GPU of
as many multiprocessors.  All is drawn in each of two calls, so recordings are replayed.
Skipped where this build has no backend cuda, or there is no C++ compiler.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
EMULATOR = os.path.join(os.path.dirname(HERE), "cuda", "emulator", "emulate.py")
HEAD = "import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\n\n\n"
MASK = 2**32 - 1
# Draws that are one draw to PyTorch's kernels (native/cuda/Dropout.cu, DistributionTemplates.h):
# in the order of memory, or row by row.
ALIKE = [
    ("F.dropout(torch.ones(33, 65), 0.3, True, True)", "torch.empty(33, 65).bernoulli_(0.7) / 0.7"),
    ("F.dropout(torch.ones(65, 33).t(), 0.3, True, True)", "torch.empty(65, 33).bernoulli_(0.7).t() / 0.7"),
    ("F.dropout(torch.ones(64, 32).t(), 0.3, True)", "F.dropout(torch.ones(64, 32), 0.3, True).t()"),
    ("F.dropout(torch.ones(2, 6, 4, 5).permute(0, 3, 1, 2), 0.3, True)", "F.dropout(torch.ones(2, 6, 4, 5), 0.3, True).permute(0, 3, 1, 2)"),
    ("F.dropout(torch.ones(65, 33).t(), 0.3, True)", "F.dropout(torch.ones(33, 65), 0.3, True)"),
    ("F.dropout(torch.ones(2052)[4:], 0.3, True)", "F.dropout(torch.ones(2048), 0.3, True)"),
    ("F.dropout(torch.ones(2049)[1:], 0.3, True)", "(torch.rand(2048) < 0.7) / 0.7"),
    ("F.dropout(torch.ones(32, 66)[:, :64], 0.3, True)", "(torch.rand(32, 64) < 0.7) / 0.7"),
]
# The part of the weights that its dropout keeps: all keys weigh the same, values are the identity.
ATTENTION = HEAD + """

def model():
    torch.manual_seed(11)
    values = torch.eye(8).expand(2, 3, 8, 8)
    out = F.scaled_dot_product_attention(torch.zeros(2, 3, 5, 8), torch.zeros(2, 3, 8, 8), values, dropout_p=0.25)
    return (out * 6.0).round(), torch.randint(0, 2**27, (1,))
"""
# What a program makes before its calls is made on the CPU, unless it names the GPU.
BEFORE = HEAD + """torch.manual_seed(5)
named = nn.Linear(17, 33, device="cuda")
here = nn.Linear(17, 33)
again = nn.init.uniform_(torch.empty(5, device="cuda"))


def model():
    return tuple([p.detach().clone() for p in (named.weight, here.weight, again)])
"""


def words(seed, offset):
    """Four of Philox 4x32-10, for a grid's first thread."""
    c, k = [offset // 4, 0, 0, 0], [seed, 0]
    for _ in range(10):
        a, b = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(b >> 32) ^ c[1] ^ k[0], b & MASK, (a >> 32) ^ c[3] ^ k[1], a & MASK]
        k = [(k[0] + 0x9E3779B9) & MASK, (k[1] + 0xBB67AE85) & MASK]
    return c


def first_word(seed, offset):
    return words(seed, offset)[0]


def source_of(cases):
    lines = []
    for i, case in enumerate(cases):
        lines += [f"    torch.manual_seed({case['seed']})", f"    a{i} = {case['source']}", f"    b{i} = torch.randint(0, 2**27, (1,))"]
    return HEAD + "def model():\n" + "\n".join(lines) + "\n    return " + ", ".join(f"a{i}, b{i}" for i in range(len(cases))) + "\n"


def run(binary, source, modes, environment, device="cuda"):
    workload = {"name": "random", "device": device, "source": source, "modes": modes.split(","), "calls": [[], []]}
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run([binary, "run", "-", "--no-timing", "--json", "--no-sandbox", "--cache", cache], input=json.dumps(workload), capture_output=True, text=True, env=environment, timeout=1800)
    if not done.stdout.strip():
        raise RuntimeError(done.stderr.strip()[:800])
    modes = json.loads(done.stdout)["modes"]
    wrong = [f"{m}: {part.get('disagreement') or part.get('error')}" for m, part in modes.items() if part.get("agrees") is False or "calls" not in part]
    return [next(iter(call["output"].values())) for call in modes["eager"]["calls"]], wrong


def differs(case, drawn, following):
    for i, want in zip(case["at"], case["values"]):
        x = float(drawn["data"][i])
        if not abs(x - want) <= case["relative"] * max(abs(want), 1):
            return f"[{i}]: {x} for {want}"
    want = first_word(case["seed"], case["offset"]) % 2**27
    return None if following == [want] else f"draws {following} next for {want}"


def check_before(binary, modes, environment):
    """The same seed twice: each generator's first numbers."""
    calls, wrong = run(binary, BEFORE, modes, environment)
    named, here, again = (part["tensor"]["data"] for part in calls[0])
    plain, _ = run(binary, BEFORE.replace(', device="cuda"', ""), "eager", dict(os.environ), "cpu")
    first_on_cpu = plain[0][0]["tensor"]["data"]
    if here != first_on_cpu:
        wrong.append("what is made before the calls is not drawn by the CPU's generator")
    bound = 17**-0.5
    want = (first_word(5, 0) + 0.5) * 2**-32 * 2 * bound - bound
    if abs(named[0] - want) > 1e-6:
        wrong.append(f"a layer made on the GPU begins with {named[0]}, not {want}")
    want = (first_word(5, 8) + 0.5) * 2**-32
    if abs(again[0] - want) > 1e-6:
        wrong.append(f"uniform_() of a tensor on the GPU begins with {again[0]}, not {want}")
    return wrong


def check_alike(binary, modes, environment):
    body = "".join(f"    torch.manual_seed({7 + i // 2})\n    a{i} = {draw}\n    b{i} = torch.rand(1)\n" for i, draw in enumerate(d for pair in ALIKE for d in pair))
    names = ", ".join(f"a{i}.reshape(-1), b{i}" for i in range(2 * len(ALIKE)))
    calls, wrong = run(binary, HEAD + f"def model():\n{body}    return {names}\n", modes, environment)
    for i, (one, other) in enumerate(ALIKE):
        got = [part["tensor"]["data"] for part in calls[0][4 * i : 4 * i + 4]]
        if not all(abs(a - b) < 1e-6 for a, b in zip(got[0], got[2])) or got[1] != got[3]:
            wrong.append(f"{one} is not {other}")
    return wrong


def check_attention(binary, modes, environment):
    """One number after the other, of one thread."""
    calls, wrong = run(binary, ATTENTION, modes, environment)
    kept, following = (part["tensor"]["data"] for part in calls[0])
    n = 2 * 3 * 5 * 8
    want = [float((w + 0.5) * 2**-32 > 0.25) for at in range(0, n, 4) for w in words(11, at)]
    if kept != want or following != [first_word(11, n) % 2**27]:
        wrong.append(f"a dropout of attention keeps {kept}, not {want}")
    return wrong


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("binary")
    a.add_argument("folder")
    a.add_argument("--modes", default="eager,graphs")
    a = a.parse_args()
    with open(os.path.join(HERE, "random_gpu.json")) as f:
        table = json.load(f)
    folder = os.path.abspath(a.folder)
    environment = dict(os.environ, LD_LIBRARY_PATH=folder, STAND_IN_EMULATOR=EMULATOR, STAND_IN_MULTIPROCESSORS=str(table["of"]["multiprocessors"]))
    listed = json.loads(subprocess.run([a.binary, "backends", "--json"], capture_output=True, text=True, env=environment).stdout)
    cuda = next(b for b in listed["backends"] if b["name"] == "cuda")
    if not cuda["available"] or not shutil.which("g++"):
        print("skipped: no backend cuda (" + (cuda.get("why_not") or "g++ is not installed") + ")")
        return 0
    calls, wrong = run(a.binary, source_of(table["cases"]), a.modes, environment)
    passed = 0
    for parts in calls:
        for i, case in enumerate(table["cases"]):
            what = differs(case, parts[2 * i]["tensor"], parts[2 * i + 1]["tensor"]["data"])
            passed += what is None
            if what:
                wrong.append(f"{case['source']}, seed {case['seed']}: {what}")
    for check in (check_before, check_alike, check_attention):
        wrong += check(a.binary, a.modes, environment)
    print(*wrong, sep="\n")
    print(f"{passed} passed, {len(wrong)} failed")
    return len(wrong) > 0


if __name__ == "__main__":
    sys.exit(main())
