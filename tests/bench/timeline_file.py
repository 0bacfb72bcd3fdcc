"""tests/bench/timeline_file.py -- reads what `breakeven trace -o` writes (profiler/timeline/timeline.h)."""
import ctypes
import json
import struct

WIDTHS = (8, 8, 8, 4, 4, 4, 4, 4)  # start, duration, bytes, lane, kind, name, shape, correlation
KERNEL, COPY, SET, RANGE, MEMORY = 5, 8, 9, 11, 14


class Timeline:
    """`names`, `lanes`, `shapes`, `facts`, `files` {name: bytes}; `events`: (start_ns, duration_ns, bytes, lane, kind,
    name, shape, correlation)."""

    def __init__(self, path):
        self.zstd = ctypes.CDLL("libzstd.so.1")
        self.zstd.ZSTD_decompress.restype = ctypes.c_size_t
        self.names, self.lanes, self.shapes, self.events = [], [], [], []
        self.facts, self.files = {}, {}
        with open(path, "rb") as file:
            data = file.read()
        self.file_bytes, at = len(data), 0
        while at < len(data):
            magic, kind, n, version, t0, _, size, _ = struct.unpack_from("<IIIIqqQQ", data, at)
            assert magic == 0x4C544542 and version == 1
            body = data[at + 48:at + 48 + size]
            at += 48 + size
            {1: self.chunk, 2: self.tables, 3: self.file}[kind](body, n, t0)

    def part(self, body, at, raw):
        codec, n = struct.unpack_from("<II", body, at)
        data = body[at + 8:at + 8 + n]
        if not codec:
            return data, at + 8 + n
        out = ctypes.create_string_buffer(raw or 1)
        got = self.zstd.ZSTD_decompress(out, ctypes.c_size_t(raw), data, ctypes.c_size_t(n))
        assert got == raw
        return out.raw[:raw], at + 8 + n

    def tables(self, body, _n, _t0):
        raw, = struct.unpack_from("<I", body)
        tables = json.loads(self.part(body, 4, raw)[0])
        self.names += tables["names"]
        self.lanes += tables["lanes"]
        self.shapes += tables["shapes"]
        self.facts = tables.get("facts", self.facts)

    def file(self, body, _n, _t0):
        length, raw = struct.unpack_from("<II", body)
        name = body[8:8 + length].decode()
        self.files[name] = self.files.get(name, b"") + self.part(body, 8 + length, raw)[0]

    def chunk(self, body, n, t0):
        columns, at = [], 0
        for width in WIDTHS:
            data, at = self.part(body, at, n * width)
            # Bytes are shuffled: all lowest first.
            plain = bytearray(n * width)
            for k in range(width):
                plain[k::width] = data[k * n:(k + 1) * n]
            columns.append(struct.unpack(f"<{n}{'q' if width == 8 else 'I'}", plain))
        start, starts = t0, []
        for step in columns[0]:
            start += step
            starts.append(start)
        self.events += zip(starts, *columns[1:])
