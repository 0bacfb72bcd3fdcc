"""tests/cuda/kernels.py BINARY FOLDER [--every N [--first K]] -- does NVRTC compile the kernels that are generated?

Runs the recorded programs (--every N: each N-th, from the K-th on) on backend cuda with
the stand-in driver of FOLDER (driver.c), for sm_90, and every fourth of these for sm_80.  What they print means nothing
there; what counts is that no kernel fails to compile and no launch is refused.
Skipped where this build has no backend cuda, or there is no NVRTC.
"""
import json
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "oracle"))
import replay
from part import part

# Tensor cores at the widest head, and the kernel of float32.
ATTENTION = {"name": "attention", "source": """import torch
import torch.nn.functional as F
def model(x):
    q = x.bfloat16()
    r = torch.softmax(q @ q.transpose(-2, -1) * 0.1 + q[:, :, :1], -1) @ q
    return r, F.scaled_dot_product_attention(x, x, x, is_causal=True)
""", "inputs": [[{"random": {"shape": [2, 130, 128], "dtype": "float32", "kind": "randn", "seed": 1}}]]}
# Ops that run on the host between two copies.
ON_HOST = {"name": "on_host", "source": """import torch
def model(x):
    a = x @ x.T + 3 * torch.eye(4)
    return torch.linalg.solve(a, x), torch.linalg.cholesky(a).sum(), torch.linalg.eigvalsh(a)
""", "inputs": [[{"random": {"shape": [4, 4], "dtype": "float32", "kind": "randn", "seed": 1}}]]}
FAULTS = ("NVRTC", " failed on ", "cuBLAS", "does not work here", "Sanitizer", "runtime error")


def run(binary, folder, cache, case, modes, architecture):
    """None, or what went wrong."""
    workload = {"name": case["name"], "source": case["source"], "calls": case["inputs"], "modes": modes, "device": "cuda",
                "grad": bool(case.get("grad")), "autocast": case.get("autocast")}
    if "params" in case:
        workload["params"] = case["params"]
    environment = dict(os.environ, LD_LIBRARY_PATH=folder, STAND_IN_ARCHITECTURE=str(architecture))
    command = [binary, "run", "-", "--json", "--no-timing", "--no-sandbox", "--cache", cache]
    done = subprocess.run(command, input=json.dumps(workload), capture_output=True, text=True, env=environment, timeout=1800)
    if done.returncode < 0 or any(fault in done.stderr for fault in FAULTS):
        return f"exit {done.returncode}: {done.stderr.strip()[:600]}"
    return None


def main():
    cases = part(replay.recorded_cases())
    binary, folder = sys.argv[1:3]
    environment = dict(os.environ, LD_LIBRARY_PATH=folder)
    listed = json.loads(subprocess.run([binary, "backends", "--json"], capture_output=True, text=True, env=environment).stdout)
    cuda = next(b for b in listed["backends"] if b["name"] == "cuda")
    if not cuda["available"]:
        print(f"skipped: every kernel (no backend cuda: {cuda['why_not']})")
        print("0 passed, 0 failed, 1 skipped")
        return
    jobs = [(case, ["static", "dynamic", "graphs"] if i % 3 == 0 else ["static"], 90) for i, case in enumerate(cases)]
    jobs += [(case, ["static"], 80) for case in cases[::4]]
    jobs += [(ATTENTION, ["static"], architecture) for architecture in (90, 80)]
    jobs.append((ON_HOST, ["eager", "static", "graphs"], 90))
    with tempfile.TemporaryDirectory() as cache, ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda job: run(binary, folder, cache, *job), jobs))
    faults = [f"{case['name']} (sm_{arch}): {why}" for (case, _, arch), why in zip(jobs, results) if why]
    for fault in faults:
        print(fault)
    print(f"{len(jobs) - len(faults)} passed, {len(faults)} failed, 0 skipped")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
