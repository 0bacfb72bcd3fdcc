"""tests/faults/inject.py -- the tester's side of inject.c: which points there are, which one fails, and where it was."""
import ctypes
import mmap
import os
import re
import subprocess

KINDS = ("memory", "read", "write", "sync", "open", "map", "load", "thread")
MOST_FRAMES, WHERE_FRAMES, MOST_POINTS, MOST_MODULES = 24, 64, 1 << 16, 64


class Point(ctypes.Structure):
    _fields_ = [("hash", ctypes.c_uint64), ("kind", ctypes.c_uint32), ("count", ctypes.c_uint32), ("frames", ctypes.c_uint64 * MOST_FRAMES)]


class Control(ctypes.Structure):
    _fields_ = [
        ("command", ctypes.c_char * 32), ("kinds", ctypes.c_uint32), ("depth", ctypes.c_uint32), ("target", ctypes.c_uint64), ("innermost", ctypes.c_uint64),
        ("skip", ctypes.c_uint32), ("goes_on_ms", ctypes.c_uint32), ("failed", ctypes.c_uint32), ("failed_kind", ctypes.c_uint32), ("failed_ns", ctypes.c_uint64), ("dropped", ctypes.c_uint32),
        ("where", ctypes.c_uint64 * WHERE_FRAMES), ("crash", ctypes.c_uint64 * WHERE_FRAMES), ("modules", (ctypes.c_char * 192) * MOST_MODULES), ("points", Point * MOST_POINTS)]


class Faults:
    """One process, `command`, as it runs with `environment()`: fresh for each trial."""

    def __init__(self, library, folder, command, kinds=KINDS, depth=10, target=0, innermost=0, skip=0, goes_on_ms=0):
        self.library, self.path = os.path.abspath(library), os.path.join(folder, f"points-{command}")
        with open(self.path, "wb") as file:
            file.truncate(ctypes.sizeof(Control))
        with open(self.path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 0)
        self.control = Control.from_buffer(self.map)
        self.control.command = command.encode()
        self.control.kinds = sum(1 << KINDS.index(kind) for kind in kinds)
        self.control.depth, self.control.target, self.control.innermost = depth, target, innermost
        self.control.skip, self.control.goes_on_ms = skip, goes_on_ms

    def environment(self, **more):
        return {**os.environ, "LD_PRELOAD": self.library, "BREAKEVEN_TEST_FAULTS": self.path, **more}

    @property
    def failed(self):
        return self.control.failed

    def points(self):
        """(hash, kind, how often, innermost frame) of all that were passed, in an order that is always the same."""
        found = ctypes.string_at(ctypes.addressof(self.control.points), ctypes.sizeof(self.control.points))
        size = ctypes.sizeof(Point)
        head = [found[i:i + 24] for i in range(0, len(found), size) if found[i:i + 8] != bytes(8)]
        return sorted((int.from_bytes(h[:8], "little"), KINDS[int.from_bytes(h[8:12], "little")], int.from_bytes(h[12:16], "little"), int.from_bytes(h[16:24], "little"))
                      for h in head)

    def through(self, functions, binary):
        """The hashes of points that one of these functions led to."""
        points = [p for p in self.control.points if p.hash]
        frames = list({frame for p in points for frame in p.frames if frame})
        wanted = {frame for frame, names in zip(frames, self.named(frames, binary)) if any(f in functions for f in re.findall(r"(\w+) \(", names))}
        return {p.hash for p in points if wanted.intersection(p.frames)}

    def where(self, binary):
        """The functions that led to the call that failed, innermost first."""
        return self.named(self.control.where, binary)

    def crash(self, binary):
        """Those that led to the signal that ended the process; empty where none did."""
        return self.named(self.control.crash, binary)

    def named(self, way, binary):
        by_module, order = {}, []
        for frame in way:
            if not frame:
                break
            module, offset = frame >> 48, frame & ((1 << 48) - 1)
            path = "" if module >= MOST_MODULES else self.control.modules[module].value.decode() or os.path.abspath(binary)
            by_module.setdefault(path, []).append(offset)
            order.append((path, offset))
        names = {}
        for path, offsets in by_module.items():
            names |= {(path, offset): name for offset, name in zip(offsets, symbols(path, offsets))}
        return [names[at] for at in order]


def symbols(path, offsets):
    """For each address the functions there, the innermost inlined one first, joined by ` < `."""
    if not path or not os.path.exists(path):
        return ["a kernel"] * len(offsets)
    answer = subprocess.run(["addr2line", "-a", "-i", "-f", "-s", "-e", path, *(hex(o - 1) for o in offsets)], capture_output=True, text=True)
    found = []
    for offset, block in zip(offsets, re.split(r"^0x[0-9a-f]+\n", answer.stdout, flags=re.MULTILINE)[1:]):
        lines = block.split("\n")
        pairs = [(name, place.split(" ")[0]) for name, place in zip(lines[::2], lines[1::2])]
        known = [f"{name} ({place})" for name, place in pairs if name != "??"]
        found.append(" < ".join(known) or f"{os.path.basename(path)}+{offset:x}")
    return found
