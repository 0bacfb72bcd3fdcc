"""tests/growth.py BREAKEVEN [--every N [--first K]] [--trial MB...] [--only NAME] -- what an import costs grows as its log does.

Logs of every kind that is imported, and of the kinds that a stranger would make, are written as long as they are wanted.
Without more: valgrind counts the instructions of an import at three sizes, each twice the one before; twice the log is
about twice the work, of which seconds on a busy machine would say nothing.  --trial: logs of so many MB (256 and 1024),
and for each the seconds of processor time and the most memory that the import held.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

from part import part

PIECE = 1 << 20
SIZES = [1 << 17, 1 << 18, 1 << 19]
MOST = 2.5  # what is quadratic gives 4
LOGS_OF_TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "import")


def repeated(head, unit, end=""):
    """A log of `unit(i)` for i = 0, 1, ... until it is long enough."""

    def write(size):
        i, left, piece = 0, size - len(head) - len(end), [head]
        have = len(head)
        while left > 0:
            text = unit(i)
            i += 1
            left -= len(text)
            have += len(text)
            piece.append(text)
            if have >= PIECE:
                yield "".join(piece).encode()
                piece, have = [], 0
        yield ("".join(piece) + end).encode()

    return write


def file_again(name, before, token, form, once=0):
    """A file of tests/import again and again, with other numbers, or hashes, each time; its first lines `once`."""
    with open(os.path.join(LOGS_OF_TESTS, name), encoding="utf-8") as file:
        lines = file.readlines()
    parts = re.split(f"(?:{before})({token})", re.sub(f"({before})", r"\1\1", "".join(lines[once:])))
    known = sorted(set(parts[1::2]))
    template = form.join(p.replace("%", "%%") for p in parts[::2])
    places = [known.index(t) for t in parts[1::2]]
    return repeated("".join(lines[:once]), lambda i: template % tuple(p + len(known) * i for p in places))


KERNEL = (
    '{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 3, "tid": 3, "ts": %d.5, "dur": 3, "args": {"correlation": %d}},\n'
    '{"ph": "X", "cat": "kernel", "name": "void at::native::vectorized_elementwise_kernel<4, at::native::F%d<float> >(int)", "pid": 0, "tid": 7,'
    ' "ts": %d.1, "dur": 0.9, "args": {"device": 0, "stream": 7, "correlation": %d}},\n'
    '{"ph": "f", "id": %d, "pid": 0, "tid": 7, "ts": %d.1, "cat": "ac2g", "name": "ac2g", "bp": "e"},\n'
)
TRACE = '{"schemaVersion": 1, "traceEvents": [\n'
END = "{}\n]}\n"
EVENT = '{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": %d, "dur": 1, "args": {"device": 0, "stream": 7}},\n'
OWN = (
    '{"breakeven": {"export": 1}, "traceEvents": [\n'
    '{"ph": "M", "name": "thread_name", "pid": 1, "tid": 1, "args": {"name": "a", "lane": {"name": "a", "role": "device"}}},\n'
)
XLA = "Compilation Analysis: Compilation Cause\n"


def kernels(i):
    return KERNEL % (5 * i, i, i % 300, 5 * i + 3, i, i, 5 * i + 3)


def gzipped(plain, level=1):
    def write(size):
        # As long as the log itself is.
        pack = zlib.compressobj(level, zlib.DEFLATED, 31)
        for piece in plain(size):
            yield pack.compress(piece)
        yield pack.flush()

    return write


# What PyTorch and we write, and after these what nobody should.
LOGS = {
    "kineto": repeated(TRACE, kernels, END),
    "kineto, a bare list": repeated("[\n", kernels, "{}\n]\n"),
    "kineto, gzip": gzipped(repeated(TRACE, kernels, END)),
    "a trace of our own": repeated(
        OWN, lambda i: '{"ph": "X", "cat": "kernel", "name": "k%d", "pid": 1, "tid": 1, "ts": %d, "dur": 1, "args": {"name_id": %d, "correlation": %d}},\n' % (i % 500, 3 * i, i % 500, i), END
    ),
    "TORCH_TRACE": file_again("torch_trace_2.14.log", '"frame_id": |"compile_id": "', r"\d+", "%d", 3),
    "PT_XLA_DEBUG": file_again("pt_xla.txt", "Graph Hash: ", "[0-9a-f]{32}", "%032x"),
    "a metrics report": repeated("Metric: CompileTime\n  TotalSamples: 2\n", lambda i: "Counter: aten::op_%d\n  Value: %d\n" % (i, i)),
    "blanks between events": repeated(TRACE + EVENT % 1, lambda i: " \n" * 500, END),
    "a name without end": repeated(TRACE + '{"ph": "X", "name": "', lambda i: "name" * 250),
    "brackets without end": repeated(TRACE, lambda i: "[" * 1000),
    "objects without end": repeated(TRACE, lambda i: '{"a":' * 200),
    "events that are broken": repeated(TRACE, lambda i: '{"ph": "X", "name": "k, "ts": %d},\n' % i, END),
    "arguments without end": repeated(TRACE + '{"ph": "X", "name": "k", "args": {', lambda i: '"a%d": [1, 2],' % i),
    "a head without end": repeated('{"a": [', lambda i: '{"b": %d},' % i),
    "flows that never end": repeated(TRACE, lambda i: '{"ph": "s", "id": %d, "pid": 3, "tid": 3, "ts": %d, "cat": "ac2g", "name": "ac2g"},\n' % (i, i), END),
    "launches without kernels": repeated(TRACE, lambda i: '{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 3, "tid": %d, "ts": %d, "dur": 3, "args": {"correlation": %d}},\n' % (i, i, i), END),
    "slices that begin and never end": repeated(TRACE, lambda i: '{"ph": "B", "cat": "cpu_op", "name": "a%d", "pid": 3, "tid": 3, "ts": %d},\n' % (i, i), END),
    "events that go back in time": repeated(TRACE, lambda i: EVENT % (10**9 - i), END),
    "a record's payload without end": repeated('V1121 10:00:00.001000 77 torch/_dynamo/x.py:1] {"dynamo_output_graph": {}, "frame_id": 0, "frame_compile_id": 0, "attempt": 0, "has_payload": "0"}\n', lambda i: "\tline %d\n" % i),
    "a line without end": repeated('V1121 10:00:00.001000 77 torch/_dynamo/x.py:1] {"str": ["', lambda i: "name" * 250),
    "files with names": repeated("", lambda i: 'V1121 10:00:00.001000 77 torch/_dynamo/x.py:1] {"str": ["/w/%d.py", %d]}\n' % (i, i)),
    "a line of PT_XLA_DEBUG without end": repeated(XLA + "Compilation Analysis: ", lambda i: "name" * 250),
    "frames without end": repeated(XLA + "Compilation Analysis: Python Frame Triggered Execution: \n", lambda i: "Compilation Analysis:   f%d (/w/train.py:%d)\n" % (i, i)),
    "blanks, gzip": gzipped(repeated(TRACE + EVENT % 1, lambda i: " \n" * 500, END), 9),
    "streams of gzip without a byte": lambda size: (zlib.compressobj(9, zlib.DEFLATED, 31).flush() * 1000 for _ in range(size // 20000)),
}

DEAR = {"a head without end"}  # some hundred instructions a byte, of 8 MiB at most
DEAREST = 3000  # instructions a byte: what is JSON and no trace is parsed as results of a benchmark, too


def instructions(breakeven, path):
    """How many an import of the file takes."""
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", breakeven, "import", "--json", path],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False,
    )
    found = re.search(r"Collected : (\d+)", done.stderr)
    assert found and done.returncode in (0, 1), done.stderr[-2000:]
    return int(found[1])


def count(breakeven, name, folder):
    """True where the work for a log grows as its size does: what came with the last doubling is twice what came with that before."""
    work, sizes = [], [s >> 3 for s in SIZES] if name in DEAR else SIZES
    for size in sizes:
        path = os.path.join(folder, "log")
        with open(path, "wb") as file:
            file.writelines(LOGS[name](size))
        work.append(instructions(breakeven, path))
    more = [b - a for a, b in zip(work, work[1:])]
    rate = more[-1] / max(more[-2], 1)
    # Where the log is passed over nothing comes: what is left is the page that it was read into.
    good = (rate < MOST or more[-1] < SIZES[-1] // 8) and more[-1] < DEAREST * (sizes[-1] - sizes[-2])
    print(f"  {name}: {', '.join(f'{w / 1e6:.1f}' for w in work)} million instructions, {rate:.2f} times as many more{'' if good else '  <- FAILED'}", flush=True)
    return good


def trial(breakeven, name, size):
    """One line of a table: seconds of processor time and the most memory that the import held."""
    reader = subprocess.Popen([breakeven, "import", "--json", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        for piece in LOGS[name](size):
            reader.stdin.write(piece)
        reader.stdin.close()
    except BrokenPipeError:  # it has said why
        pass
    said = reader.stderr.read().decode()
    _, status, used = os.wait4(reader.pid, 0)
    ok = os.waitstatus_to_exitcode(status) in (0, 1)
    why = said.strip().splitlines()[-1][:100] if said.strip() else ""
    print(f"| {name} | {size >> 20} | {used.ru_utime + used.ru_stime:.1f} | {used.ru_maxrss >> 10} | {why} |", flush=True)
    return ok, used.ru_utime + used.ru_stime


def main():
    logs = part(list(LOGS))
    breakeven, args = sys.argv[1], sys.argv[2:]
    only = args[args.index("--only") + 1] if "--only" in args else ""
    names = [n for n in logs if only in n]
    bad = []
    if "--trial" in args:
        sizes = [int(a) << 20 for a in args[args.index("--trial") + 1 :] if a.isdigit()]
        print("| log | MB | s of processor time | MB resident | said |\n| --- | --- | --- | --- | --- |")
        for name in names:
            done = [trial(breakeven, name, size) for size in sizes]
            # Twice over: a machine that others use is no stopwatch, and what is quadratic takes sixteen times as long.
            slow = len(done) > 1 and done[-1][1] > 2 * max(done[0][1], 0.5) * sizes[-1] / sizes[0]
            if slow or not all(ok for ok, _ in done):
                bad.append(name)
    elif not shutil.which("valgrind"):
        print(f"skipped: {len(names)} kinds of logs (valgrind, which counts, is not here)\n0 passed, 0 failed, {len(names)} skipped")
    else:
        with tempfile.TemporaryDirectory() as folder:
            bad = [n for n in names if not count(breakeven, n, folder)]
        print(f"{len(names) - len(bad)} passed, {len(bad)} failed")
    if bad:
        print("FAILED: " + ", ".join(bad))
    return 1 if bad else 0


sys.exit(main())
