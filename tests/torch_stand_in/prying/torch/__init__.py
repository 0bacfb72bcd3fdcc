"""The stand-in whose sin() tries what a posted program must not do, and raises what it could."""
import os
import socket
import subprocess
import sys
import tempfile
import threading
import types

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
del sys.modules["torch"]
import torch  # noqa: E402

sys.path.pop(0)
SECRET, OUTSIDE = os.environ["LIBRARY_PATH"].split(":")[:2]  # one of the variables that it is left


def write(path, text="x"):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def read(path):
    with open(path, "rb") as file:
        return file.read()


TRIES = {
    "read a file": lambda: read(SECRET),
    "read passwords": lambda: read("/etc/passwd"),
    "see the environment of the server": lambda: read("/proc/%d/environ" % os.getppid()) and read("/proc/%s/environ" % os.environ["LIBRARY_PATH"].split(":")[2]),
    "list": lambda: os.listdir(OUTSIDE),
    "write": lambda: write(os.path.join(OUTSIDE, "planted")),
    "remove": lambda: os.remove(SECRET),
    "TCP": lambda: socket.socket(socket.AF_INET).connect(("127.0.0.1", 1)),
    "a socket of the machine": lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM),
    "by a program": lambda: subprocess.run(["cat", SECRET], check=True, capture_output=True),
    "mount": lambda: subprocess.run(["mount", "-t", "tmpfs", "x", tempfile.gettempdir()], check=True, capture_output=True),
    "an own program": lambda: own_program(),
    "change the system": lambda: write("/proc/sys/kernel/panic_on_oops", read("/proc/sys/kernel/panic_on_oops").decode()),
}
NEEDS = {
    "its folder": lambda: write(os.path.join(tempfile.mkdtemp(), "x")),
    "moves to another folder": lambda: move(tempfile.mkdtemp(), tempfile.mkdtemp()),
    "a compiler": lambda: subprocess.run(["sh", "-c", "true"], check=True),
    "pairs of sockets": socket.socketpair,
    "its weights": lambda: torch.load("net.pt"),
    # as the driver of a GPU does; a folder with a driver's name in it stands for one
    "names of threads": lambda: "gpu" not in os.environ.get("LD_LIBRARY_PATH", "") or write("/proc/self/task/%d/comm" % threading.get_native_id()),
}


def move(here, there):
    write(os.path.join(here, "x"))
    os.replace(os.path.join(here, "x"), os.path.join(there, "x"))


def own_program():
    path = os.path.join(tempfile.mkdtemp(), "program")
    with open("/bin/true", "rb") as file, open(path, "wb") as out:
        out.write(file.read())
    os.chmod(path, 0o700)
    subprocess.run([path], check=True)


def works(what):
    try:
        what()
        return True
    except (OSError, subprocess.SubprocessError):
        return False


def pry(_):
    could = [name for name, what in TRIES.items() if works(what)]
    lacks = [name for name, what in NEEDS.items() if not works(what)]
    raise RuntimeError("could: %s; lacks: %s." % (", ".join(could), ", ".join(lacks)))


torch.sin, torch.load = pry, lambda path, **_: read(path)
torch.hub = types.SimpleNamespace(load_state_dict_from_url=None)
sys.modules["torch"] = torch
