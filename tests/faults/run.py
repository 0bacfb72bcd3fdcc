#!/usr/bin/env python3
"""tests/faults/run.py BINARY LIBRARY PART... [--share N] [--seed S] [--through FUNCTION,...] -- lets calls of the C library fail, each way that leads to one once.

A first run finds the points (a call and its callers); then one run for each that no run before had, in which that call fails:
with --share N at so many of them, chosen by the seed, with --through at those that a function is on the way to.  What comes must be an error or what comes without a fault.
"""
import argparse
import hashlib
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

sys.path.insert(0, os.path.dirname(__file__))
import inject  # noqa: E402
import serve  # noqa: E402

HERE = os.path.dirname(__file__)


class Part:
    """Trials of one kind, and what they found: {place: [what, ...]}."""

    def __init__(self, options, name):
        self.options, self.name, self.found, self.tried = options, name, {}, 0
        # libseccomp 2.5 itself crashes or goes on for ever without memory: before the process reads what it is to run
        self.library = 0
        self.exact = name == "commands"  # what the engine prints has times in it, and what there was time for
        self.counts = name == "traces"  # what was recorded is all, or the message says what is lost

    def chosen(self, faults):
        """Points that did not yet fail, in any process; nearly the same each time, although threads pass some points in some runs alone."""
        share, failed = self.options.share, self.options.failed
        points = faults.points()
        if self.options.through:
            through = faults.through(self.options.through.split(","), self.options.binary)
            points = [p for p in points if p[0] in through]
        points = [p for p in points if p[0] not in failed and (not self.options.only or p[1] in self.options.only.split(","))]
        if share and share < len(points):
            points = sorted(points, key=lambda p: random.Random(p[0] ^ self.options.seed).random())[:share]
        failed.update(p[0] for p in points)
        print(f"{self.name}: {len(points)} points to try", flush=True)
        return points

    def ways(self, target, kind, calls, long_ms):
        """Which call of a point fails, and for how long others after it: the first, one of the rest."""
        yield 0, 0
        if kind == "memory":
            yield 0, long_ms
        if calls > 1:
            yield 1 + random.Random(target ^ self.options.seed).randrange(calls - 1), 0

    def note(self, faults, what):
        crash = tuple(faults.crash(self.options.binary)[:self.options.frames])
        way = faults.where(self.options.binary)
        if any(frame.startswith("seccomp_") for frame in way):
            self.library += 1
            return
        way = tuple(way[:self.options.frames])
        key = (what.split(":")[0], crash) if crash else (what, way)
        if key not in self.found:
            print(f"  {what}\n      failed: {' < '.join(way)}" + (f"\n      crashed: {' < '.join(crash)}" if crash else ""), flush=True)
        self.found[key] = self.found.get(key, 0) + 1


def plain(text):
    """Without what differs from run to run, and what is "unknown" where it cannot be found out."""
    return re.sub(r"\d+\.\d+ ?(µs|ms|s)\b|(?<=  compiler    ).*", "T", text)


def run(options, faults, words, folder, environment):
    """Status, output and messages; None where it hangs."""
    try:
        done = subprocess.run([options.binary, *words], env=faults.environment(TMPDIR=folder, **options.environment, **environment), capture_output=True, timeout=serve.HANG_S)
    except subprocess.TimeoutExpired:
        return None
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def command(part, words, folder, process=None, also=(), after=None, **environment):
    """A command that ends by itself, with each of its calls failing; or those of a process that it starts, by its first word.

    A failure may have a status of `also`, beside 1.  after(): what is wrong with what it left; it takes that away."""
    options = part.options

    def once(**more):
        shutil.rmtree(os.path.join(folder, "cache"), ignore_errors=True)
        faults = inject.Faults(options.library, folder, process or words[0], depth=options.depth, **more)
        return faults, run(options, faults, words, folder, environment)

    faults, whole = once()
    if whole is None or whole[0] != 0 or (after and after()):
        sys.exit(f"{' '.join(words)}: without a fault: {whole}")
    points = faults.points()
    print(f"{part.name}: {' '.join(os.path.basename(w) for w in words)}: {len(points)} points of {sum(p[2] for p in points)} calls")
    for target, kind, calls, innermost in part.chosen(faults):
        for skip, goes_on_ms in part.ways(target, kind, calls, 1000000):
            faults, got = once(kinds=(kind,), target=target, innermost=innermost, skip=skip, goes_on_ms=goes_on_ms)
            part.tried += 1
            left = after() if after else None
            if left:
                part.note(faults, left)
            judge(part, faults, got, whole, also, f"{kind}{' from then on' if goes_on_ms else ''}")


def counted(messages):
    return re.findall(r"(\d+) kernels, 0 dropped, 0 lost", messages)


def judge(part, faults, got, whole, also, what):
    if got is None:
        return part.note(faults, f"{what}: hangs")
    status, out, messages = got
    if "ERROR: " in messages and "Sanitizer" in messages:
        first = re.search(r"ERROR: \w*Sanitizer: [\w-]*", messages).group()
        part.note(faults, f"{what}: {first}")
        if part.options.verbose:
            print(messages[:6000])
    elif status < 0:
        part.note(faults, f"{what}: signal {-status}")
    elif status == 0 and part.exact and plain(out) != plain(whole[1]):
        part.note(faults, f"{what}: status 0 and another output")
        if part.options.verbose:
            import difflib
            print("\n".join(list(difflib.unified_diff(plain(whole[1]).split("\n"), plain(out).split("\n"), lineterm="", n=0))[:12]), messages[:300])
    elif status == 0 and part.counts and counted(messages) != counted(whole[2]) and not re.search(r"[1-9]\d* (dropped|lost)|not recorded|nothing was recorded", messages):
        part.note(faults, f"{what}: status 0 and another count: {messages.strip()[:200]}")
    elif status == 0 and part.name == "suites" and re.findall(r"prints|several", out) != re.findall(r"prints|several", whole[1]):
        part.note(faults, f"{what}: status 0 and other workloads")
    elif status not in (0, 1, *also):
        part.note(faults, f"{what}: status {status}: {messages.strip()[:200]}")
    elif status == 1 and not (messages + out).strip():
        part.note(faults, f"{what}: status 1 without a message")


def engine(part):
    programs = (("breaks", ["--input", "x=float32[4,8]"]), ("autograd", ["--input", "x=float32[4,8]"]),
                ("sizes", ["--input", "x=float32[4,8]", "--input", "n=3"]), ("prints", ["--input", "x=float32[8,8]"]))
    with tempfile.TemporaryDirectory() as folder:
        for name, inputs in programs:
            words = [program(name), *inputs, "--no-sandbox"]
            command(part, ["explain", *words], folder)
            command(part, ["run", *words, "--no-timing", "--threads", "1"], folder)


def program(name):
    return os.path.join(HERE, "programs", f"{name}.py")


def files(part):
    """What the engine has of files: compiled kernels, weights, plugins, archives; and its sandbox."""
    with tempfile.TemporaryDirectory() as folder:
        kernel = ["run", program("kernel"), "--input", "x=float32[64]", "--no-timing", "--threads", "1", "--modes", "static"]
        command(part, [*kernel, "--backend", "cpu", "--cache", os.path.join(folder, "cache")], folder)
        weights = [w for name in ("every.safetensors", "net.pt") for w in ("--weights", os.path.join(HERE, "..", "weights", name))]
        command(part, ["explain", program("weights"), "--input", "x=float32[2]", *weights], folder)
        for plugin in ("ops", "loops"):
            command(part, [*kernel, "--backend", "interp", "--plugin", beside(part.options, "plugins", f"{plugin}.so")], folder)
        archive = os.path.join(folder, "program.zip")
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as made:
            made.write(program("kernel"), "net/kernel.py")
        command(part, ["explain", archive, "--entry", "kernel.py:model", "--input", "x=float32[64]"], folder)


def beside(options, folder, name):
    """What `make tests` built beside the program (of build-asan: beside the other)."""
    return os.path.join(os.path.dirname(os.path.abspath(options.library)), "..", folder, name)


def suites(part):
    """A suite of a folder and one of a list, whose runs are workers."""
    with tempfile.TemporaryDirectory() as folder:
        workloads = os.path.join(folder, "workloads")
        os.makedirs(os.path.join(workloads, "several"))
        shutil.copy(program("prints"), workloads)
        shutil.copy(program("prints"), os.path.join(workloads, "several", "main.py"))
        with open(os.path.join(folder, "list"), "w") as file:
            file.write("workloads/prints.py # the one\n")
        flags = ["--backend", "interp", "--modes", "eager", "--seconds", "0.01"]
        command(part, ["suite", workloads, *flags], folder)
        command(part, ["suite", os.path.join(folder, "list"), *flags, "--json"], folder)


def torch(part):
    """PyTorch's process beside the engine, by its stand-in."""
    with tempfile.TemporaryDirectory() as folder:
        command(part, ["run", program("kernel"), "--input", "x=float32[64]", "--backend", "interp", "--modes", "eager", "--no-timing", "--threads", "1",
                       "--engine", "breakeven,torch", "--torch-python", sys.executable], folder, PYTHONPATH=os.path.join(HERE, "..", "torch_stand_in"))


def traces(part):
    """`breakeven trace`, what it posts, and the library that records in the traced program, which must not notice."""
    fake, driver = (beside(part.options, "cupti", name) for name in ("libcupti_fake.so", "driver"))
    if not os.path.exists(fake):
        return print("traces: no headers of the CUDA Toolkit here")
    with tempfile.TemporaryDirectory() as folder:
        server = serve.Server(part.options, folder, flags=("--recordings", "10000", "--user-requests", "1000000"))
        try:
            url = ["--post", f"http://127.0.0.1:{server.port}"]
            words = ["trace", "-o", os.path.join(folder, "out.trace")]
            recorded = ["--cupti", fake, "--inject", beside(part.options, "..", "libbreakeven_inject.so"), "--", driver, "0"]
            kept = os.path.join(folder, "kept.trace")
            subprocess.run([part.options.binary, "trace", "-o", kept, *recorded], env={**os.environ, "CUPTI_FAKE_KERNELS": "1000"}, check=True, stderr=subprocess.DEVNULL)
            command(part, [*words, *recorded], folder, also=(127, 143), CUPTI_FAKE_KERNELS="1000", CUPTI_FAKE_MEMORY="9") # the program was not started, or was ended
            # 99: the program itself, which is the driver here, could not load the library
            command(part, [*words, *recorded], folder, process="0", also=(99,), CUPTI_FAKE_KERNELS="1000", CUPTI_FAKE_MEMORY="9")
            command(part, [*words, *url, *recorded], folder, also=(127, 143), CUPTI_FAKE_KERNELS="1000")
            command(part, ["trace", "--from", kept, *url], folder)
            command(part, ["import", os.path.join(HERE, "..", "import", "kineto.json"), *url], folder)
            command(part, ["run", program("kernel"), "--input", "x=float32[64]", "--backend", "interp", "--modes", "eager", "--threads", "1", *url], folder)
        finally:
            status = server.stop()
        if status != 0:
            sys.exit(f"traces: the server ended badly: {server.log()[-1000:]}")


def commands(part):
    """What reads logs and the store, and prints."""
    with tempfile.TemporaryDirectory() as folder:
        serve.prepared(part.options, folder)
        store = ["--db", os.path.join(folder, "store.db")]
        for name in serve.LOGS:
            command(part, ["import", os.path.join(HERE, "..", "import", name)], folder)
            command(part, ["import", os.path.join(HERE, "..", "import", name), "--json"], folder)
        for form in serve.EXPORTS:
            command(part, ["export", "1", "--format", form, *store], folder)
        command(part, ["show", "1", *store], folder)
        command(part, ["show", "1", "--json", *store], folder)
        command(part, ["compare", "1", "1", *store], folder)
        command(part, ["history", "quick", *store], folder)
        command(part, ["history", *store], folder)
        command(part, ["audit", *store], folder)
        command(part, ["check", *store], folder)
        command(part, ["check", "--json", *store], folder)
        for words in (["ops", "add"], ["ops", "--json"], ["backends"], ["passes", "--json"]):
            command(part, words, folder)


def copies(part):
    """Backups, and stores that are made of one: what is there afterwards is whole."""
    with tempfile.TemporaryDirectory() as folder:
        serve.prepared(part.options, folder)
        store, kept, fresh = (os.path.join(folder, name) for name in ("store.db", "kept", "fresh"))
        os.makedirs(f"{store}.files", exist_ok=True)
        text = os.urandom(3 << 20)
        with open(os.path.join(f"{store}.files", hashlib.sha256(text).hexdigest()), "wb") as file:
            file.write(text)
        subprocess.run([part.options.binary, "backup", kept, "--db", store], check=True, stdout=subprocess.DEVNULL)

        def looked_at(words):
            """What a fault must not leave: a file of that name which is not whole."""
            if os.path.exists(fresh) and subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
                return "it left what is not whole"
            for name in os.listdir(folder):
                if name.startswith(("fresh", "back")):
                    path = os.path.join(folder, name)
                    (shutil.rmtree if os.path.isdir(path) else os.unlink)(path)
            return None

        back = os.path.join(folder, "back")
        command(part, ["backup", fresh, "--db", store], folder, after=lambda: looked_at([part.options.binary, "restore", fresh, "--db", back]))
        command(part, ["restore", kept, "--db", fresh], folder, after=lambda: looked_at([part.options.binary, "check", "--db", fresh]))
        command(part, ["vacuum", "--db", store], folder)
        if subprocess.run([part.options.binary, "check", "--db", store], stdout=subprocess.DEVNULL).returncode:
            sys.exit("copies: the store is not whole any more")


PARTS = {"copies": copies, "engine": engine, "files": files, "suites": suites, "torch": torch, "traces": traces, "commands": commands, "read": serve.reads, "write": serve.writes, "runs": serve.runs, "worker": serve.worker}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("library")
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--share", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--frames", type=int, default=5)
    parser.add_argument("--through", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    leaks = os.path.join(os.path.dirname(os.path.abspath(__file__)), "leaks.supp")
    # ASan may be a library that comes after ours
    options.environment = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0", "LSAN_OPTIONS": f"suppressions={leaks}:print_suppressions=0"}
    options.failed = set() # the hashes of the points that failed
    failed = tried = 0
    for name in options.parts or PARTS:
        part, began = Part(options, name), time.monotonic()
        PARTS[name](part)
        failed, tried = failed + sum(part.found.values()), tried + part.tried
        print(f"{name}: {part.tried} runs with a failure in {time.monotonic() - began:.0f} s, {sum(part.found.values())} wrong{f', {part.library} in libseccomp' if part.library else ''}", flush=True)
    print(f"{tried - failed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
