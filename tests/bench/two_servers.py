"""tests/bench/two_servers.py OLD NEW -- does another build of Breakeven open this one's store, and answer alike?

    python3 tests/bench/two_servers.py ../old/build/breakeven build/breakeven [--traces ../shared/traces]

OLD fills a store: runs, one that fails, a sweep, a suite, imports, notes.  Then OLD answers every
GET of that store, and NEW those of a copy of it.  Each answer is compared as JSON, as text, or
byte for byte; a field that one of them lacks is a line, as is one that differs.  What a build says
of itself is not of the store and is left out: its version, the style sheet of an HTML export, the
program around the user's in script.py (which is asked for, its text is not compared).
A timeline is its head, as JSON, and its rows, byte for byte.
Ends with 1 where something is missing or differs; fields that are new are named and are no failure.
What may differ is counted apart (MEANT): documents for people, and the intervals of comparisons.
"""
import argparse
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from never_slower import workloads

TESTS = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
STYLE = re.compile(rb"<style>.*?</style>", re.S)


class Server:
    def __init__(self, binary, folder):
        command = [binary, "serve", "--listen", "127.0.0.1:0", "--db", os.path.join(folder, "store.db"), "--cache", os.path.join(folder, "cache")]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.url = None
        for line in self.process.stdout:
            found = re.search(r"http://127\.0\.0\.1:\d+", line)
            if found:
                self.url = found.group(0)
                break
        if not self.url:
            sys.exit(f"{binary} does not start")

    def ask(self, path, method="GET", body=None):
        """(status, type, bytes)"""
        data = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method, headers={"Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return answer.status, answer.headers.get_content_type(), answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers.get_content_type(), error.read()

    def json(self, path, method="GET", body=None):
        return json.loads(self.ask(path, method, body)[2])

    def stop(self):
        self.process.terminate()
        self.process.wait(60)


def posts():
    """Workloads of every kind, short."""
    short = {"seconds": 0.02, "threads": 1}
    for name, workload in workloads(0):
        if not name.startswith("models/") and "step" not in name:
            yield {**workload, **short}
    lines = "import torch\ndef model(x):\n    y = torch.sin(x) + 1\n    print(y.sum().item())\n    return y * 2\n"
    calls = [[{"random": {"shape": [4, 8], "dtype": "float32", "seed": 1}}], [{"random": {"shape": [5, 8], "dtype": "float32", "seed": 1}}]]
    for modes in (["eager", "lazy", "static", "dynamic", "auto", "graphs"], ["static"]):
        yield {"name": "breaks", "source": lines, "calls": calls, "modes": modes, **short}
    yield {"name": "fails", "source": "import torch\ndef model(x):\n    return x[99, 99, 99]\n", "calls": calls, **short}
    yield {"name": "native", "source": lines, "calls": calls, "policy": "native", "grad": False, **short}


def fill(server, traces):
    """Fills the store, and waits until all has ended."""
    for workload in posts():
        status, _, said = server.ask("/api/v1/runs", "POST", workload)
        if status >= 300:
            print(f"not posted: {workload.get('name')}: {said[:200]!r}")
    few = [w for _, w in workloads(0)][3:5]
    server.ask("/api/v1/suites", "POST", {"name": "two", "workloads": [{**w, "seconds": 0.02} for w in few], "modes": ["static"]})
    for path in sorted(os.listdir(traces)) if traces else []:
        if not path.endswith(".md"):
            with open(os.path.join(traces, path), "rb") as file:
                server.ask(f"/api/v1/imports?name={path}", "POST", file.read())
    while True:
        runs = server.json("/api/v1/runs?limit=200")["runs"]
        if all(r["status"] not in ("queued", "running") for r in runs):
            break
        time.sleep(1)
    ids = [r["id"] for r in runs]
    server.ask(f"/api/v1/runs/{ids[-1]}", "PATCH", {"note": "the first", "tags": ["kept"], "baseline": True})
    return ids


def paths(server, ids):
    """What a store is asked for."""
    yield from ("/api/v1/runs", "/api/v1/runs?facets=1", "/api/v1/runs?verdict=faster&sort=-speedup", "/api/v1/suites", "/api/v1/history", "/api/v1/formats", "/api/v1/examples")
    for suite in server.json("/api/v1/suites")["suites"]:
        yield f"/api/v1/suites/{suite['id']}"
    formats = [f["name"] for f in server.json("/api/v1/formats")["formats"]]
    for run in ids:
        yield from (f"/api/v1/runs/{run}", f"/api/v1/runs/{run}/report.json", f"/api/v1/runs/{run}/script.py", f"/api/v1/runs/{run}/timeline")
        yield from (f"/api/v1/runs/{run}/export?format={name}" for name in formats)
    for one, other in zip(ids, ids[1:]):
        yield f"/api/v1/compare?a={one}&b={other}&force=1"
    for name in {r["name"] for r in server.json("/api/v1/runs?limit=200")["runs"]}:
        yield f"/api/v1/history?workload={urllib.request.quote(name)}&metric=latency&mode=static"


def differences(old, new, at, found, added):
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old:
            if key not in new:
                found.append(f"{at}.{key} is missing")
            else:
                differences(old[key], new[key], f"{at}.{key}", found, added)
        added.update(re.sub(r"\d+", "N", f"{at}.{key}") for key in new.keys() - old.keys())
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for i, (a, b) in enumerate(zip(old, new)):
            differences(a, b, f"{at}[{i}]", found, added)
    elif old != new:
        found.append(f"{at}: {json.dumps(old)[:110]} -> {json.dumps(new)[:110]}")


def first_line(old, new):
    pairs = zip(old.split(b"\n"), new.split(b"\n"))
    return next((f"{a[:110]!r} -> {b[:110]!r}" for a, b in pairs if a != b), f"{len(old)} -> {len(new)} bytes")


def plain(body, versions):
    """Unpacked, and without what the build says of itself."""
    if body[:2] == b"\x1f\x8b":
        body = gzip.decompress(body)
    for version in versions:
        body = body.replace(version.encode(), b"VERSION")
    return STYLE.sub(b"", body)


# Where values may differ, but nothing may be missing: why.
MEANT = (
    (re.compile(r"export\?format=(html|svg)$"), "documents for people"),
    (re.compile(r"/compare\?"), "comparisons, whose intervals are of another method (web/docs/measuring.md)"),
)


def halves(body):
    """A timeline's head and its rows."""
    size = int.from_bytes(body[4:8], "little")
    return json.loads(body[8:8 + size]), body[8 + size:]


def compare(answers, versions, server, added):
    wrong, meant = 0, dict.fromkeys((why for _, why in MEANT), 0)
    for path, (status, kind, body) in answers.items():
        now_status, now_kind, now = server.ask(path)
        body, now = plain(body, versions), plain(now, versions)
        found = []
        if (status, kind) != (now_status, now_kind):
            found.append(f"{status} {kind} -> {now_status} {now_kind}")
        elif kind == "application/json":
            differences(json.loads(body), json.loads(now), "", found, added)
        elif body[:4] == now[:4] == b"BETV":
            (head, rows), (now_head, now_rows) = halves(body), halves(now)
            differences(head, now_head, "", found, added)
            if rows != now_rows:
                found.append(f"rows: {len(rows)} -> {len(now_rows)} bytes")
        elif body != now and not path.endswith("script.py"):
            found.append(first_line(body, now))
        why = next((why for pattern, why in MEANT if pattern.search(path)), None)
        if why and found and not any("is missing" in line for line in found):
            meant[why] += 1
            continue
        wrong += bool(found)
        for line in found[:4]:
            print(f"{path}: {line}")
    for why, n in meant.items():
        print(f"{n} differ as they are meant to: {why}")
    return wrong


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("old")
    parse.add_argument("new")
    parse.add_argument("--traces", default="")
    args = parse.parse_args()
    added = set()
    with tempfile.TemporaryDirectory() as folder:
        store, copy = os.path.join(folder, "store"), os.path.join(folder, "copy")
        os.mkdir(store)
        server = Server(args.old, store)
        ids = fill(server, args.traces)
        server.stop()
        shutil.copytree(store, copy)
        server = Server(args.old, store)
        answers = {path: server.ask(path) for path in paths(server, ids)}
        server.stop()
        server = Server(args.new, copy)
        versions = [subprocess.run([b, "--version"], capture_output=True, text=True).stdout.split()[1] for b in (args.old, args.new)]
        wrong = compare(answers, versions, server, added)
        server.stop()
    for at in sorted(added):
        print(f"new: {at}")
    print(f"{len(answers)} answers of {len(ids)} runs: {wrong} differ, {len(added)} fields are new")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
