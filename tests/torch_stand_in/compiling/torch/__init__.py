"""The stand-in whose sin() does what Inductor does on a CPU: a pool of processes, started apart and forked, has a C++
compiler make a shared object in its folder, under a lock; it is loaded and called."""
import ctypes
import fcntl
import functools
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
del sys.modules["torch"]
import torch  # noqa: E402

sys.path.pop(0)
POOL = """
import concurrent.futures, multiprocessing, os, subprocess, sys
def make(path):
    subprocess.run(["g++", "-shared", "-fPIC", "-O1", path, "-o", path + ".made", "-lm"], check=True)
    os.replace(path + ".made", path + ".so")
    return os.getpid()
with concurrent.futures.ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
    for path in sys.stdin.read().split():
        assert pool.submit(make, path).result() != os.getpid()
"""
SOURCE = """
#include <cmath>
extern "C" void kernel(const float *in, float *out, long n) { for (long i = 0; i < n; i++) out[i] = std::sin(in[i]); }
"""


@functools.cache
def compiled():
    folder = os.path.join(tempfile.gettempdir(), "torchinductor")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "kernel.cpp")
    with open(path + ".lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with open(path, "w", encoding="ascii") as file:
            file.write(SOURCE)
        subprocess.run([sys.executable, "-c", POOL], input=path.encode(), check=True)
    return ctypes.CDLL(path + ".so").kernel


def sin(x):
    n = x.numel()
    given, made = (ctypes.c_float * n)(*x.flat), (ctypes.c_float * n)()
    compiled()(given, made, ctypes.c_long(n))
    return torch.Tensor(list(made), x.shape, x.dtype)


torch.sin = sin
sys.modules["torch"] = torch
