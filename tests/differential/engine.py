"""Runs a workload in the engine, in several modes, and in PyTorch."""
import json
import os
import re
import subprocess
import tempfile
import threading

MODES = ["eager", "lazy", "static", "dynamic", "auto", "graphs"]
HERE = os.path.dirname(os.path.abspath(__file__))


class Crash(Exception):
    """The engine ended by a signal, or a sanitizer stopped it."""


class Endless(Exception):
    """The program itself has no end for these arguments: eager has none."""


class Engine:
    def __init__(self, binary, device="cpu", flags=(), timeout_s=600):
        self.binary, self.device, self.flags, self.timeout_s = binary, device, list(flags), timeout_s

    def run(self, workload, modes, timed=False, **settings):
        """({mode: its part of the report}, None) or (None, the error's text)."""
        plugin = settings.pop("plugin", None)
        flags = self.flags + (["--plugin", plugin] if plugin else [])
        given = dict(workload, modes=modes, device=self.device, **settings)
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(given, file)
            file.flush()
            try:
                done = subprocess.run([self.binary, "run", file.name, "--json"] + ([] if timed else ["--no-timing"]) + flags, capture_output=True, text=True, timeout=self.timeout_s, errors="replace")
            except subprocess.TimeoutExpired:
                if modes != ["eager"]:
                    self.run(workload, ["eager"], **settings)
                raise (Endless if modes == ["eager"] else Crash)(f"took over {self.timeout_s} s")
        if done.returncode not in (0, 1) or "Sanitizer" in done.stderr or "runtime error:" in done.stderr:
            raise Crash(f"exit {done.returncode}: {done.stderr[-1500:]}")
        if done.stdout.strip():
            return json.loads(done.stdout)["modes"], None
        error = done.stderr.replace(file.name, "FILE").strip()
        if modes == ["eager"] and "in a loop that may never end" in error:
            raise Endless(error)
        return None, error

    def each(self, workload, modes, **settings):
        """The modes one by one, where one of them fails: {mode: (part, error)}."""
        whole, _ = self.run(workload, modes, **settings)
        if whole:
            return {m: (whole[m], None) for m in modes}
        made = {}
        for m in modes:
            part, error = self.run(workload, [m], **settings)
            made[m] = (part[m] if part else None, error)
        return made


def kind_of_error(text):
    """The place and the type of an error, without what the modes may say otherwise."""
    first = (text or "").split("\n")[0]
    if "is the output of a function that returns multiple views" in first:  # backward may say it, or a later line
        return "multiple views"
    first = re.sub(r": (?:integer |float )?(?:division|modulo|division or modulo)(?: or modulo)? by zero$", ": ZeroDivisionError", first)
    found = re.match(r"(?:FILE, )?(?:\w[\w.]*):(\d+):\d+: (\w+(?:Error|Exception|Iteration|Interrupt))?", first)
    # Which tensor was modified is said for a piece as a whole.
    return (found.group(1), found.group(2)) if found else first.split(" inplace operation: ")[0][:120]


class Torch:
    """A process with PyTorch that answers one workload a line (torch_side.py)."""

    def __init__(self, command, device="cpu", timeout_s=120):
        self.command, self.device, self.timeout_s, self.process = command, device, timeout_s, None

    def run(self, workload, compiled=False):
        if not self.process or self.process.poll() is not None:
            self.process = subprocess.Popen(self.command + [os.path.join(HERE, "torch_side.py"), self.device], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        watch = threading.Timer(self.timeout_s, self.process.kill)
        watch.start()
        self.process.stdin.write(json.dumps(dict(workload, compiled=compiled)) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        watch.cancel()
        if not line:
            self.process.wait()
            return None, "PyTorch's process ended, or took too long"
        made = json.loads(line)
        if "device-side assert" in (made.get("error") or ""):  # every later call of the process fails so too
            self.process.kill()
            self.process.wait()
        return made.get("calls"), made.get("error")
