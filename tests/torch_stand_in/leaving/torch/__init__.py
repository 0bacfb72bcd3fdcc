"""The stand-in whose sin() tries to end and to stop the process that started it, and leaves one that nobody waits for."""
import os
import signal
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
del sys.modules["torch"]
import torch  # noqa: E402

sys.path.pop(0)


def leave():
    """In a session of its own, as a daemon: in no group of whoever started it."""
    if (pid := os.fork()) == 0:
        os.setsid()
        os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "3600")
        os._exit(0)
    os.waitpid(pid, 0)


def attack(x):
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGSTOP, signal.SIGKILL):
        os.kill(os.getppid(), number)
    leave()
    return sin(x)


sin = torch.sin
torch.sin = attack
sys.modules["torch"] = torch
