"""The stand-in with ops that fail: exp() never returns, log1p() ends the process, tan()
takes memory, sigmoid() is wrong, erf() raises, cos() raises in mode static when it has run often."""
import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
del sys.modules["torch"]
import torch  # noqa: E402

sys.path.pop(0)


def hang(_):
    os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "3600")  # a compiler that would be left
    while True:
        pass


def crash(_):
    sys.stderr.write("x" * 20000 + " the last words")
    sys.stderr.flush()
    os.kill(os.getpid(), signal.SIGSEGV)


def take_memory(_):
    kept = []
    while True:
        kept.append(bytearray(os.urandom(1 << 20)))


def fail(_):
    raise RuntimeError("erf sees %s" % os.environ.get("TEST_SECRET"))


def tire(x):
    if sys._getframe(1).f_code.co_filename.startswith("<static"):
        tire.calls += 1
        if tire.calls > 20:
            raise RuntimeError("cos is tired" + " of being called again" * 20)
    return cos(x)


cos, tire.calls = torch.cos, 0
torch.cos = tire
torch.exp, torch.log1p, torch.tan, torch.erf = hang, crash, take_memory, fail
torch.sigmoid = lambda x: x + 1
sys.modules["torch"] = torch
