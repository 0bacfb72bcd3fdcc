"""tests/faults/serve.py -- a server whose calls fail, or a worker of it, while a client asks for everything.

Each answer is what it is without the fault, or an error in the one form, or the connection is closed.  After that a server
without faults opens the store: what was acknowledged is there, and each run is whole.
"""
import http.client
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time

import inject

# What has not happened by then never will: no machine is that busy.
HANG_S = float(os.environ.get("HANG_S", 600))
HERE = os.path.dirname(__file__)
JSON, BYTES = {"Content-Type": "application/json"}, {"Content-Type": "application/octet-stream"}
LOGS = ("kineto.json", "counters.json", "torch_trace_2.14.log", "pt_xla.txt")
QUICK = {"name": "quick", "source": "import torch\n\ndef model(x):\n    y = x * 2\n    print(y)\n    return y + 1\n", "backend": "interp",
         "calls": [[{"random": {"shape": [4, 4], "dtype": "float32", "kind": "randn", "seed": 0}}]], "modes": ["eager", "static"], "seconds": 0.01}


class Server:
    def __init__(self, options, folder, faults=None, flags=()):
        self.folder, self.options = folder, options
        environment = faults.environment() if faults else os.environ
        self.child = subprocess.Popen(
            [options.binary, "serve", "--listen", "127.0.0.1:0", "--db", os.path.join(folder, "store.db"), "--cache", os.path.join(folder, "cache"), *flags],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open(os.path.join(folder, "log"), "w"),
            env={**environment, **options.environment, "TMPDIR": folder})
        self.port = None
        end = time.monotonic() + HANG_S
        while self.port is None and self.child.poll() is None and time.monotonic() < end:
            found = re.search(r"listening on http://127.0.0.1:(\d+)", self.log())
            if found:
                self.port = int(found.group(1))
            else:
                time.sleep(0.004)

    def log(self):
        with open(os.path.join(self.folder, "log"), errors="replace") as file:
            return file.read()

    def ask(self, method, path, body=None, headers=JSON):
        """(status, body, type), or None where the connection was closed without an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=HANG_S)
        try:
            connection.request(method, path, body, headers)
            answer = connection.getresponse()
            return answer.status, answer.read(), answer.headers.get("Content-Type", "")
        except TimeoutError:
            return 0, b"no answer", ""
        except (OSError, http.client.HTTPException):
            return None
        finally:
            connection.close()

    def stop(self):
        """Its exit status, negative for a signal; None where it does not end."""
        if self.child.poll() is None:
            self.child.send_signal(signal.SIGINT)
        try:
            return self.child.wait(HANG_S)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
            return None

    def ended(self, run):
        end = time.monotonic() + HANG_S
        while time.monotonic() < end:
            got = self.ask("GET", f"/api/v1/runs/{run}")
            if got and got[0] == 200:
                try:
                    if json.loads(got[1])["status"] in ("done", "failed", "cancelled"):
                        return got
                except (ValueError, KeyError):
                    return got
            elif self.child.poll() is not None:
                return got
            time.sleep(0.01)
        return 0, b"the run does not end", ""


def log_text(name):
    with open(os.path.join(HERE, "..", "import", name), "rb") as file:
        return file.read()


def prepared(options, folder):
    """A store with two runs, an import of each kind and a suite."""
    server = Server(options, folder)
    for _ in range(2):
        status, body, _ = server.ask("POST", "/api/v1/runs", json.dumps(QUICK))
        assert status == 202, body
        assert json.loads(server.ended(json.loads(body)["id"])[1])["status"] == "done"
    for name in LOGS:
        status, body, _ = server.ask("POST", f"/api/v1/imports?name={name}", log_text(name), BYTES)
        assert status == 201, body
    status, body, _ = server.ask("POST", "/api/v1/suites", json.dumps({"name": "s", "workloads": [QUICK], "modes": ["eager", "static"], "seconds": 0.01}))
    assert status == 202, body
    while json.loads(server.ask("GET", f"/api/v1/suites/{json.loads(body)['id']}")[1])["status"] in ("queued", "running"):
        time.sleep(0.02)
    assert server.stop() == 0


READS = ["/", "/docs/cli", "/api/v1/openapi.json", "/api/v1/ops?name=add", "/api/v1/passes", "/api/v1/backends", "/api/v1/examples", "/api/v1/formats", "/api/v1/runs/1/exports",
         "/api/v1/session", "/api/v1/audit", "/api/v1/files", "/api/v1/runs", "/api/v1/runs?facets=1&q=quick&sort=-speedup", "/api/v1/runs/1",
         "/api/v1/runs/3", "/api/v1/runs/5", "/api/v1/runs/6", "/api/v1/runs/7", "/api/v1/runs/1/report.json", "/api/v1/runs/1/script.py",
         "/api/v1/runs/1/timeline?mode=eager", "/api/v1/runs/3/timeline?q=a", "/api/v1/runs/3/timeline/find?q=a", "/api/v1/runs/1/trace.json",
         "/api/v1/compare?a=1&b=2", "/api/v1/history", "/api/v1/history?workload=quick&metric=median&mode=static", "/api/v1/suites", "/api/v1/suites/1",
         "/api/v1/suites/1/compare?base=1", "/api/v1/runs/99", "/no/such"]
EXPORTS = ("chrome", "speedscope", "csv", "html", "chrome_gz", "dot", "svg", "json")
LAYOUT = {"boxes": [[10, 10, -1], [10, 10, 0]], "groups": [[-1, 5]], "edges": [[0, 1]], "band_height": 10}


def known(body):
    """Without what an environment says of the machine: what cannot be found out is "unknown" there, or what another program says."""
    return re.sub(rb'"(compiler|cpu|governor)":"[^"]*"', b"", body)


def same(path, want, got):
    """What the answer has that it should not have; None: nothing."""
    if got is None:
        return None
    status, body, kind = got
    if status == 0:
        return f"{path}: {body.decode()}"
    if status == 503 and "/healthz" in path and json.loads(body)["problems"]: # which is what it is for
        return None
    if status >= 400:
        try:
            error = json.loads(body)["error"]
            return None if error["code"] and error["message"] else f"{path}: status {status} with an error without a text: {body[:100]}"
        except (ValueError, KeyError, TypeError):
            return f"{path}: status {status} with {body[:100]}"
    if status != want[0]:
        return f"{path}: status {status}, not {want[0]}"
    if want[1] is None: # differs from time to time
        if "json" in kind:
            try:
                json.loads(body)
            except ValueError:
                return f"{path}: status {status} with broken JSON: {body[-80:]}"
        return None
    return None if known(body) == known(want[1]) else f"{path}: status {status} with another body"


class Trial:
    """One server with a fault, and what it answers."""

    def __init__(self, part, store, command, wanted, **more):
        self.part, self.wanted, self.wrong = part, wanted, []
        self.folder = tempfile.mkdtemp(prefix="breakeven-faults-")
        shutil.copytree(store, self.folder, dirs_exist_ok=True)
        self.faults = inject.Faults(part.options.library, self.folder, command, depth=part.depth, **more)
        self.server = Server(part.options, self.folder, self.faults)
        self.answers, self.kept = {}, {}

    def ask(self, method, path, body=None, headers=JSON, varies=False, name=None):
        name = name or f"{method} {path}"
        got = self.server.ask(method, path, body, headers) if self.server.child.poll() is None else None
        if self.wanted is None:
            self.answers[name] = (got[0], None if varies else got[1]) if got else None
        elif self.wanted.get(name):
            wrong = same(name, self.wanted[name], got)
            if wrong:
                self.wrong.append(wrong)
        return got

    def finish(self, check):
        """Stops it, and looks into the store: what is wrong, as texts."""
        if self.faults.control.command != b"serve" and self.server.port is not None: # it has no faults itself
            self.wrong += whole(self.server)
            check(self, self.server)
        status = self.server.stop()
        log = self.server.log()
        report = re.search(r"ERROR: \w*Sanitizer: [\w-]*|runtime error: .*", log)
        if report:
            self.wrong.append(report.group())
            if self.part.options.verbose:
                print(log[report.start():report.start() + 5000])
        elif status is None:
            self.wrong.append("does not stop")
        elif status < 0:
            self.wrong.append(f"signal {-status}: {log[-300:]}")
        elif self.server.port is None and not log.strip():
            self.wrong.append(f"did not start, status {status}, without a message")
        if self.faults.control.command == b"serve":
            self.open_again(check)
        database = sqlite3.connect(os.path.join(self.folder, "store.db"))
        self.wrong += parts(database)
        database.close()
        # a folder whose removal failed goes with the next that is made: see fusion/base/scratch.c
        left = [name for name in os.listdir(self.folder) if not re.fullmatch(r"store\.db.*|points-.*|log|cache|breakeven-scratch-.*", name)]
        if left:
            self.wrong.append(f"left in the temporary folder: {sorted(left)}")
        shutil.rmtree(self.folder)
        return self.wrong

    def open_again(self, check):
        again = Server(self.part.options, self.folder)
        if again.port is None:
            self.wrong.append(f"the store does not open again: {again.log()[-200:]}")
        else:
            self.wrong += whole(again)
            check(self, again)
        if again.stop() != 0:
            self.wrong.append(f"the server after it ended badly: {again.log()[-200:]}")


def whole(server):
    """Each run of the list can be had."""
    wrong = []
    status, body, _ = server.ask("GET", "/api/v1/runs?limit=100")
    if status != 200:
        return [f"the list of runs afterwards: {status} {body[:100]}"]
    for run in json.loads(body)["runs"]:
        status, body, _ = server.ask("GET", f"/api/v1/runs/{run['id']}")
        if status != 200:
            wrong.append(f"a run afterwards: {status} {body[:100]}")
        elif json.loads(body)["status"] == "done" and not json.loads(body).get("report"):
            wrong.append("a run that is done has no report")
    return wrong


def parts(database):
    """What a run in the store has only half."""
    wrong = []
    if database.execute("PRAGMA integrity_check").fetchone()[0] != "ok":
        wrong.append("PRAGMA integrity_check")
    for run, status, source, suite in database.execute("SELECT id, status, source_hash, suite FROM run"
                                                       if has_column(database, "run", "suite") else "SELECT id, status, source_hash, NULL FROM run"):
        def count(table):
            return database.execute(f"SELECT count(*) FROM {table} WHERE run = ?", (run,)).fetchone()[0]
        tables = ["report", "timeline_block"] + (["run_summary", "run_figure"] if source else [])
        found = [count(table) for table in tables]
        if status == "done" and not all(found):
            wrong.append(f"a run is done and half there: {dict(zip(tables, found))}")
        if status == "queued" and any(found):
            wrong.append(f"a run is queued and has {dict(zip(tables, found))}")
    return wrong


def has_column(database, table, column):
    return column in [row[1] for row in database.execute(f"PRAGMA table_info({table})")]


def trials(part, command, steps, check, depth=None):
    """One trial for each point that the steps pass in the process of the command; a point is as many of its callers as `depth`."""
    part.depth = depth or part.options.depth
    with tempfile.TemporaryDirectory(prefix="breakeven-faults-") as store:
        prepared(part.options, store)
        first = Trial(part, store, command, None)
        steps(first)
        points, calls = first.faults.points(), sum(p[2] for p in first.faults.points())
        wrong = first.finish(check)
        if wrong:
            raise SystemExit(f"{part.name}: without a fault: {wrong}")
        print(f"{part.name}: {len(points)} points of {calls} calls")
        for target, kind, times, innermost in part.chosen(first.faults):
            for skip, goes_on_ms in part.ways(target, kind, times, 100):
                trial = Trial(part, store, command, first.answers, kinds=(kind,), target=target, innermost=innermost, skip=skip, goes_on_ms=goes_on_ms)
                if trial.server.port is not None:
                    steps(trial)
                part.tried += 1
                for what in trial.finish(check):
                    part.note(trial.faults, f"{kind}{' for 100 ms' if goes_on_ms else ''}: {what}")


def reads(part):
    def steps(trial):
        for path in READS:
            trial.ask("GET", path)
        for path in ("/healthz", "/healthz?full=1", "/metrics"):
            trial.ask("GET", path, varies=True)
        for form in EXPORTS:
            trial.ask("GET", f"/api/v1/runs/1/export?format={form}")
        trial.ask("GET", "/api/v1/runs/3/export?format=chrome")
        trial.ask("POST", "/api/v1/layout", json.dumps(LAYOUT))
    trials(part, "serve", steps, lambda trial, again: None)


def writes(part):
    def steps(trial):
        def kept(got, name):
            if got and got[0] in (200, 201, 202, 204):
                trial.kept[name] = json.loads(got[1]) if got[1] else {}
        kept(trial.ask("PATCH", "/api/v1/runs/1", json.dumps({"note": "kept", "tags": ["a"], "baseline": True}), varies=True), "note")
        for name in LOGS:
            kept(trial.ask("POST", f"/api/v1/imports?name=again-{name}", log_text(name), BYTES, varies=True), name)
        kept(trial.ask("POST", "/api/v1/files?bytes=5", b"12345", BYTES), "file")
        got = trial.ask("POST", "/api/v1/traces", json.dumps({"name": "live"}), varies=True)
        kept(got, "trace")
        trial.ask("POST", "/api/v1/check", json.dumps(QUICK), varies=True)
        kept(trial.ask("DELETE", "/api/v1/runs/2", varies=True), "deleted")
        trial.ask("DELETE", "/api/v1/suites/1", varies=True)

    def check(trial, again):
        kept = trial.kept
        if "note" in kept and json.loads(again.ask("GET", "/api/v1/runs/1")[1]).get("note") != "kept":
            trial.wrong.append("a note was acknowledged and is lost")
        for name in LOGS:
            if name in kept and again.ask("GET", f"/api/v1/runs/{kept[name]['id']}")[0] != 200:
                trial.wrong.append(f"an import of {name} was acknowledged and is lost")
        if "file" in kept and not json.loads(again.ask("GET", "/api/v1/files")[1])["files"]:
            trial.wrong.append("a file was acknowledged and is lost")
        if "trace" in kept and again.ask("GET", f"/api/v1/runs/{kept['trace']['id']}")[0] != 200:
            trial.wrong.append("a trace was acknowledged and is lost")
        if "deleted" in kept and again.ask("GET", "/api/v1/runs/2")[0] != 404:
            trial.wrong.append("a run was removed and is there")
    trials(part, "serve", steps, check)


def run_steps(trial):
    got = trial.ask("POST", "/api/v1/runs", json.dumps(QUICK), varies=True)
    if got and got[0] == 202:
        trial.kept["run"] = json.loads(got[1])["id"]
        ended = trial.server.ended(trial.kept["run"])
        if ended and ended[0] == 0 and trial.server.child.poll() is None:
            trial.wrong.append("the run does not end")
        elif ended and ended[0] == 200:
            run = json.loads(ended[1])
            trial.kept["status"] = run["status"]
            if run["status"] == "failed" and not run["error"]["message"]:
                trial.wrong.append("the run failed without a message")
            if trial.faults.control.command == b"worker" and re.search(r"signal (?!9\b)\d+", json.dumps(run.get("error") or {})):
                trial.wrong.append(f"the worker crashed: {run['error']['message'][:100]}")


def run_check(trial, again):
    run = trial.kept.get("run")
    if run is None:
        return
    got = again.ended(run)
    if got[0] != 200:
        trial.wrong.append("a run was acknowledged and is lost")
    elif trial.kept.get("status") == "done" and json.loads(got[1])["status"] != "done":
        trial.wrong.append("a run was done and is not any more")


def runs(part):
    trials(part, "serve", run_steps, run_check)


def worker(part):
    depth = part.options.depth if part.options.through else min(5, part.options.depth) # what lies deeper is the engine's: run.py
    trials(part, "worker", run_steps, run_check, depth=depth)
