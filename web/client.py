"""client.py -- Breakeven from Python: one file, no packages, Python 3.8 or later.

    curl "$URL/client.py" -o breakeven.py

    import breakeven

    result = breakeven.run(model, x)         # a function or an nn.Module, and tensors at hand
    print(result)                            # a table; a notebook draws result itself
    print(breakeven.compare(before, result))
    assert breakeven.gate(result, baseline="main")
    breakeven.record("sorting", [0.101, 0.099, 0.103])
    with breakeven.trace("train"):
        train()

The server's address, a token and a project are arguments of connect(), or BREAKEVEN_URL,
BREAKEVEN_TOKEN and BREAKEVEN_PROJECT, or `url`, `token` and `project` of a JSON object in
~/.config/breakeven/client.json (BREAKEVEN_CONFIG names another file); else the server is
http://127.0.0.1:8080.  /docs/client of a server has the whole of it.
"""
import ast
import contextlib
import dis
import functools
import http.client
import importlib.util
import inspect
import io
import json
import linecache
import math
import os
import platform
import re
import socket
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import textwrap
import time
import types
import urllib.error
import urllib.parse
import urllib.request
import uuid
import warnings
from html import escape as _x

ADDRESS = "http://127.0.0.1:8080"
ENDED = ("done", "failed", "cancelled")
MOST_VALUES = 512  # elements of a float tensor that are sent; of a larger one its kind is
MOST_INTS = 200000  # the same of ints and bools, which indices are made of
MOST_PARAMETERS = 50000  # elements of all parameters of a module that are sent
DTYPES = ("float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool")


class BreakevenError(Exception):
    """What the server refused, in its words, or what could not be sent.  `code` is for programs; `line` and
    `column` point into the source; `status` is HTTP's (None: nothing was sent, or nothing came back)."""

    def __init__(self, message, code="client", line=None, column=None, status=None):
        super().__init__(message)
        self.code, self.line, self.column, self.status = code, line, column, status


# ---- the server


def _config():
    path = os.environ.get("BREAKEVEN_CONFIG") or os.path.join(
        os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config"), "breakeven", "client.json")
    if not os.path.exists(path):
        if os.environ.get("BREAKEVEN_CONFIG"):
            raise BreakevenError(f"there is no file {path}, which BREAKEVEN_CONFIG names")
        return {}
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
    except (OSError, ValueError) as error:
        raise BreakevenError(f"{path} cannot be read: {error}") from None
    wrong = [key for key in found if key not in ("url", "token", "project")] if isinstance(found, dict) else ["no object"]
    if wrong:
        raise BreakevenError(f"{path}: {wrong[0]}: it is a JSON object of url, token and project")
    return found


def _said(body, status):
    """The error of an answer; what is no answer of Breakeven is told as such."""
    try:
        error = json.loads(body)["error"]
        message = error["message"]
    except (ValueError, KeyError, TypeError):
        text = body.decode("utf-8", "replace").strip()[:200]
        return BreakevenError(f"the server answered {status}, and not as Breakeven does: {text}", "no-breakeven", status=status)
    where = "" if error.get("line") is None else f" (line {error['line']} of what was sent)"
    return BreakevenError(message + where, error.get("code", "unknown"), error.get("line"), error.get("column"), status)


class Client:
    """A server.  The functions of this module use one that connect() makes, or the first use."""

    def __init__(self, url=None, token=None, project=None, timeout=60):
        config = _config()
        self.url = (url or os.environ.get("BREAKEVEN_URL") or config.get("url") or ADDRESS).rstrip("/")
        self.token = token or os.environ.get("BREAKEVEN_TOKEN") or config.get("token")
        self.project = project or os.environ.get("BREAKEVEN_PROJECT") or config.get("project")
        self.timeout = timeout
        if not self.url.startswith(("http://", "https://")):
            raise BreakevenError(f"{self.url} is no address of a server: write http://HOST:PORT")

    def open(self, method, path, body=None, kind="application/json", query=None, key=None):
        """The answer, to be read and closed."""
        words = {key: value for key, value in (query or {}).items() if value is not None}
        address = self.url + path + ("?" + urllib.parse.urlencode(words) if words else "")
        headers = {"Content-Type": kind} if body is not None else {}
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        if key:
            headers["Idempotency-Key"] = key
        request = urllib.request.Request(address, data=body, headers=headers, method=method)
        try:
            return urllib.request.urlopen(request, timeout=self.timeout)
        except urllib.error.HTTPError as error:
            with error:
                raise _said(error.read(), error.code) from None
        except (urllib.error.URLError, OSError, http.client.HTTPException) as error:
            why = getattr(error, "reason", error)
            raise BreakevenError(f"no server answers at {self.url}: {why}; connect(url) or BREAKEVEN_URL names another",
                                 "no-server") from None

    def ask(self, method, path, body=None, query=None, kind="application/json"):
        """(what the JSON of an answer says, its status); `body` is bytes, or what JSON can say.  It is asked again
        where the answer was lost on its way, or the server starts again: a post makes nothing twice by its key."""
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        key, lost = uuid.uuid4().hex if method == "POST" else None, False
        for pause in (0.5, 2, 5, None):
            try:
                with self.open(method, path, body, kind, query, key) as answer:
                    text, status = answer.read(), answer.status
                break
            except (BreakevenError, OSError, http.client.HTTPException) as error:
                why, status = getattr(error.__context__, "reason", error.__context__), getattr(error, "status", None)
                lost = lost or status in (502, 503, 504) or not (status or isinstance(why, (ConnectionRefusedError, socket.gaierror)))
                if pause is None or not lost or status not in (None, 409, 502, 503, 504):
                    raise error if isinstance(error, BreakevenError) else BreakevenError(
                        f"{self.url} began to answer and did not end: {error!r}", "no-server") from None
            time.sleep(pause)
        try:
            return json.loads(text) if text else None, status
        except ValueError:
            raise _said(text, status) from None

    def run(self, subject, *inputs, kwargs=None, wait=True, progress=None, **fields):
        """Measures `subject` with `inputs`, and `kwargs` by name, and returns its Result.

        subject: a function, an nn.Module, the text of a program, a path of a .py file, or a whole workload as a
        dict.  An input: a tensor, a number, text, None, or lists, tuples and dicts of them; a text is one, but
        for random(...).  fields: those of a workload, as modes=, device=, sweep=, made="Net(64)" says how a
        module is made.  wait=False returns at once; progress: False, or a function of (status, share, what)."""
        workload, notes = _workload(subject, inputs, kwargs, dict(fields))
        if self.project and "project" not in workload:
            workload["project"] = self.project
        answer, _ = self.ask("POST", "/api/v1/runs", workload)
        return self.result(answer["id"], wait, progress, notes)

    def result(self, number, wait=True, progress=None, notes=()):
        """The Result of a run by its number."""
        found = Result(self, int(number), list(notes))
        return found.wait(progress) if wait else found

    def compare(self, a, b, margin=None, force=False, metric=None):
        """Run b beside run a: a Comparison."""
        return Comparison(self.ask("GET", "/api/v1/compare", query={
            "a": _number(a), "b": _number(b), "margin": margin, "force": 1 if force else None, "metric": metric})[0])

    def gate(self, *runs, baseline, margin=None, fails_on=None, progress=None):
        """Whether runs pass beside a baseline (a branch, a tag, "baseline" or a run): a Gate, true where they do.
        A run is a Result or its number, or a workload as a dict."""
        if not runs:
            raise BreakevenError("gate() wants at least one run, or a workload")
        workloads = [r for r in runs if isinstance(r, dict)]
        if workloads and len(workloads) < len(runs):
            raise BreakevenError("gate() takes runs or workloads, not both at once")
        body = {"workloads": workloads} if workloads else {"runs": [_number(r) for r in runs]}
        body["baseline"] = str(_number(baseline)) if isinstance(baseline, (Result, int)) else baseline
        fails_on = fails_on if fails_on is None or isinstance(fails_on, str) else ",".join(fails_on)
        body.update({key: value for key, value in (("margin", margin), ("fails_on", fails_on)) if value is not None})
        with _Line(progress) as line:
            while True:
                answer, status = self.ask("POST", "/api/v1/gate", body)
                if status != 202:
                    return Gate(answer)
                body = {**{k: v for k, v in body.items() if k != "workloads"}, "runs": [r["id"] for r in answer["runs"]]}
                line.say("running", None, f"{len(answer['runs'])} runs of a gate")
                time.sleep(0.5)

    def record(self, name, samples, unit="s", command=None, machine=None, commit=None, branch=None):
        """Keeps what you measured yourself as a run of workload `name`: at least one time, in `unit` (s, ms, us, ns)."""
        scale = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}.get(unit)
        if scale is None:
            raise BreakevenError(f"record(): unit is s, ms, us or ns, not {unit!r}")
        times = [float(x) * scale for x in samples]
        if not times or any(not 0 <= x < float("inf") for x in times):
            raise BreakevenError("record(): samples are times, 0 or more, and at least one")
        git = _git()
        record = {"breakeven_record": 1, "name": name, "samples": [{"wall_s": x} for x in times],
                  "machine": machine or platform.node(), "command": [command] if command else [],
                  "commit": commit or git.get("commit", ""), "branch": branch or git.get("branch", "")}
        answer, _ = self.ask("POST", "/api/v1/results", record, {"file": "record.json", "project": self.project})
        return self.result(answer["runs"][0], progress=False)

    def upload(self, *paths, name=None, progress=None):
        """Logs of PyTorch as one run: Chrome traces, folders of TORCH_TRACE, PT_XLA_DEBUG; several are the ranks of a job."""
        files = []
        for path in paths:
            path = os.fspath(path)
            if not os.path.exists(path):
                raise BreakevenError(f"there is no file {path}")
            inside = sorted(os.path.join(folder, f) for folder, _, names in os.walk(path) for f in names)
            files += inside if os.path.isdir(path) else [path]
        if not files:
            raise BreakevenError(f"nothing to upload: no file is in {', '.join(map(str, paths)) or 'nothing'}")
        body, kind = _packed(files)
        answer, _ = self.ask("POST", "/api/v1/imports", body, {"name": name, "project": self.project}, kind)
        return self.result(answer["id"], progress=progress)

    @contextlib.contextmanager
    def trace(self, name=None, profiler=True, torch_trace=True, progress=None, **options):
        """Uploads what torch.profiler and TORCH_TRACE write of the block, as one run; yields an object whose
        `result` is set after it.  options: of torch.profiler.profile."""
        made = types.SimpleNamespace(result=None)
        with tempfile.TemporaryDirectory(prefix="breakeven-") as folder:
            with _torch_trace(folder if torch_trace else None), _profiler(folder if profiler else None, options):
                yield made
            made.result = self.upload(folder, name=name or "trace", progress=progress)


def _number(run):
    number = run.id if isinstance(run, Result) else run
    if isinstance(number, bool) or not isinstance(number, int):
        raise BreakevenError(f"a run is a Result or its number, not {type(run).__name__}")
    return number


_client = None


def connect(url=None, token=None, project=None, timeout=60):
    """The server that the functions of this module use from here on."""
    global _client
    _client = Client(url, token, project, timeout)
    return _client


def _of_module(name):
    """A method of Client as a function, of the server that is used."""
    method = getattr(Client, name)

    @functools.wraps(method)
    def call(*args, **words):
        return getattr(_client or connect(), name)(*args, **words)

    return call


run, result, compare, gate, record, upload, trace = map(_of_module, ("run", "result", "compare", "gate", "record", "upload", "trace"))


def _git():
    try:
        done = subprocess.run(["git", "rev-parse", "HEAD", "--abbrev-ref", "HEAD"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except OSError:  # there is no git
        return {}
    found = done.stdout.split() if done.returncode == 0 else []
    return {key: text for key, text in zip(("commit", "branch"), found) if text != "HEAD"}


# ---- waiting


class _Line:
    """One line on a terminal, or in a notebook, that says how far a run is."""

    def __init__(self, progress):
        if progress not in (None, True, False) and not callable(progress):
            raise BreakevenError("progress is True, False, or a function of (status, share, what)")
        self.call = progress if callable(progress) else None
        self.drawn = progress is True or (progress is None and (sys.stderr.isatty() or "ipykernel" in sys.modules))
        self.width = 0
        self.out = sys.stderr if sys.stderr.isatty() or "ipykernel" not in sys.modules else sys.stdout  # a notebook's errors are red

    def __enter__(self):
        return self

    def say(self, status, share, what):
        if self.call:
            self.call(status, share, what)
        elif self.drawn:
            text = f"{status}{'' if share is None else f' {100 * share:.0f} %'}{', ' if what else ''}{what or ''}"[:79]
            self.out.write("\r" + text + " " * (self.width - len(text)))
            self.out.flush()
            self.width = len(text)

    def __exit__(self, *_):
        if self.width:
            self.out.write("\r" + " " * self.width + "\r")
            self.out.flush()


class _Shown:
    """What has said(), its first line, and rows(), a table: as text and in a notebook."""

    def __repr__(self):
        heads, rows = self.rows()
        return "\n".join([self.said()] + ([_table(heads, rows)] if rows else []))

    def _repr_html_(self):
        heads, rows = self.rows()
        return _framed([f"<p>{_x(self.said())}</p>"] + ([_html_table(heads, rows)] if rows else []))


class Result(_Shown):
    """A run: `status`, `report` and `findings` are the server's, as /docs/report and openapi.json have them."""

    def __init__(self, client, number, notes):
        self.client, self.id, self.notes = client, number, notes
        self.url, self.answer = f"{client.url}/runs/{number}", {"status": "queued"}

    status, report, findings, name = (property(lambda self, key=key: self.answer.get(key)) for key in ("status", "report", "findings", "name"))

    def refresh(self):
        self.answer, _ = self.client.ask("GET", f"/api/v1/runs/{self.id}")
        return self

    def cancel(self):
        """Ends it where it has not ended."""
        if self.refresh().status not in ENDED:
            self.client.ask("DELETE", f"/api/v1/runs/{self.id}")
        return self.refresh()

    def wait(self, progress=None):
        """Until it has ended.  A run that failed raises what it failed for; it goes on where you interrupt."""
        with _Line(progress) as line:
            try:
                while self.refresh().status not in ENDED:
                    self._listen(line)
            except KeyboardInterrupt:
                sys.stderr.write(f"\nrun {self.id} goes on at {self.url}: result({self.id}) has it, .cancel() ends it\n")
                raise
        error = self.answer.get("error")
        if self.status == "failed":
            error = error if isinstance(error, dict) else {"message": error or "the run failed"}
            failed = BreakevenError(f"run {self.id}: {error.get('message')}", error.get("code", "failed"), error.get("line"),
                                    error.get("column"))
            failed.result = self
            raise failed
        return self

    def _listen(self, line):
        """Server-sent events until the run ends, or the stream does."""
        try:
            with self.client.open("GET", f"/api/v1/runs/{self.id}/events") as stream:
                for text in stream:
                    if text.startswith(b"data:"):
                        said = json.loads(text[5:])
                        line.say(said["status"], said.get("progress"), said.get("what"))
        except (OSError, ValueError, http.client.HTTPException):  # a proxy cut it: the run is asked for again
            time.sleep(0.5)
        except BreakevenError as error:
            if error.code == "no-server" or (error.status or 0) >= 500 or error.status == 429:
                time.sleep(2)
            else:
                raise

    @property
    def points(self):
        """[(n or None, {mode: {"median_us", "ci_us", "speedup", "speedup_ci", "verdict"}})], one but for a sweep."""
        report, found = self.report or {}, []
        for p in report.get("points") or [{"n": None, **{k: report.get(k) or {} for k in ("modes", "break_even")}}]:
            rows = {}
            for mode, m in p["modes"].items():
                latency, even = m.get("latency") or {}, (p.get("break_even") or {}).get(mode) or {}
                rows[mode] = {"median_us": latency.get("median_us"), "ci_us": latency.get("ci_us"),
                              "speedup": even.get("speedup"), "speedup_ci": even.get("speedup_ci"), "verdict": even.get("verdict")}
            found.append((p.get("n"), rows))
        return found

    def __getitem__(self, mode):
        """result["static"]["speedup"]: of a mode, at the first point."""
        rows = self.points[0][1]
        if mode not in rows:
            raise BreakevenError(f"run {self.id} has no mode {mode}: {', '.join(rows) or 'none was measured'}")
        return rows[mode]

    @property
    def sentence(self):
        return _joined((self.findings or {}).get("answer"))

    def rows(self):
        """The table: the texts that the page shows, which the server made."""
        log, modes = (self.report or {}).get("import"), (self.report or {}).get("modes", {})
        if log:
            found = log["graphs"], len(log["breaks"]), len(log["recompiles"]), log["kernels"]["count"]
            return ["graphs", "breaks", "recompiles", "kernels"], [[str(n) for n in found]]
        unit = "" if any(m.get("measure") for m in modes.values()) else (self.findings or {}).get("time_unit", "")
        made, points = [], (self.findings or {}).get("points") or []
        heads = (["n"] if len(points) > 1 else []) + ["mode", f"median {unit}".strip(), "95 %", "speedup", "95 %", "verdict"]
        for p in points:
            for mode, m in p["modes"].items():
                median, speedup = m.get("median") or {}, m.get("speedup") or {}
                measure = (modes.get(mode) or {}).get("measure") or {}
                row = [mode, median.get("text") or measure.get("shown", "-"), _span(median), speedup.get("text", ""), _span(speedup), m.get("verdict") or ""]
                made.append([str(p["n"])] + row if len(points) > 1 else row)
        full = [i for i in range(len(heads)) if any(row[i] for row in made)]  # columns that say something
        return [heads[i] for i in full], [[row[i] for i in full] for row in made]

    def said(self):
        return f"run {self.id}{f' {self.name}' if self.name else ''}: {self.status}, {self.url}"

    def __repr__(self):
        return "\n".join([super().__repr__()] + ([self.sentence] if self.sentence else []) + [f"note: {note}" for note in self.notes])

    def _repr_html_(self):
        heads, made = self.rows()
        parts = [f'<p><a href="{_x(self.url)}">run {self.id}</a> {_x(self.name or "")}: {_x(self.sentence or self.status)}</p>']
        if made:
            parts.append(_html_table(heads, made))
            parts += [_bars(n, rows) for n, rows in self.points[:8]]
        return _framed(parts + [f"<p>{_x(note)}</p>" for note in self.notes])


class Comparison(_Shown):
    """`answer` is the server's; `verdict` its word; `sentences` one for each pair of runs."""

    def __init__(self, answer):
        self.answer, self.verdict = answer, answer["verdict"]
        self.sentences = [_joined(c.get("sentence")) or c.get("refused") or "" for c in answer["comparisons"]]

    def rows(self):
        made = []
        for c in self.answer["comparisons"]:
            for f in c.get("figures") or []:
                shown = [((f.get(side) or {}).get("shown") or {}).get("text", "-") for side in "ab"]
                times = f.get("times") or {}
                made.append([f["mode"] or "", f["title"], *shown, times.get("text", ""), _span(times), f["verdict"] or ""])
        return ["mode", "figure", "A", "B", "ratio", "95 %", "verdict"], made

    def said(self):
        return f"{self.verdict}: {' '.join(self.sentences)}"


class Gate(_Shown):
    """True where all passed.  `answer` is the server's."""

    def __init__(self, answer):
        self.answer, self.verdict = answer, answer["verdict"]
        self.passed = self.verdict == "PASSED"

    def __bool__(self):
        return self.passed

    def rows(self):
        return (["workload", "outcome", "verdict", "figure", ""],
                [[r["workload"], r["outcome"], r.get("verdict") or "", r.get("figure") or "", r.get("times") or ""]
                 for r in self.answer["rows"]])

    def said(self):
        return f"{self.verdict}: {self.answer['sentence']}"


def _joined(parts):
    return "".join(p["text"] for p in parts or [])


def _span(text):
    return f"{text['low']} to {text['high']}" if text.get("low") and text.get("high") else ""


def _table(heads, rows):
    widths = [max(len(row[i]) for row in [heads] + rows) for i in range(len(heads))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in [heads] + rows]
    return "\n".join(lines)


# Colours of the notebook where it says any, else of the system: both themes.
_STYLE = ("<style>.breakeven{font:13px/1.5 system-ui,sans-serif;color:var(--jp-ui-font-color1,CanvasText);color-scheme:light dark;overflow-x:auto}"
          ".breakeven table{border-collapse:collapse;margin:4px 0}.breakeven table :is(th,td){padding:2px 10px 2px 0;text-align:left;white-space:nowrap}"
          ".breakeven table th{font-weight:600;border-bottom:1px solid color-mix(in srgb,currentColor 40%,transparent)}"
          ".breakeven svg{display:block;max-width:100%;height:auto}.breakeven svg text{fill:currentColor;font-size:12px}.breakeven .bar{fill:#3b7ddd}"
          ".breakeven .whisker{stroke:currentColor;stroke-width:1.5}</style>")


def _framed(parts):
    return f'{_STYLE}<div class="breakeven">{"".join(parts)}</div>'


def _html_table(heads, rows):
    head = "".join(f"<th>{_x(h)}</th>" for h in heads)
    body = "".join("<tr>" + "".join(f"<td>{_x(c)}</td>" for c in row) + "</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _bars(n, rows):
    """The median of each mode as a bar, with its interval."""
    shown = [(mode, r["median_us"], r["ci_us"]) for mode, r in rows.items() if r["median_us"] is not None]
    if not shown:
        return ""
    left, width, step = (90, 260, 20) if n is None else (150, 200, 20)
    most = max(max([us] + list(ci or [])) for _, us, ci in shown) or 1
    drawn = [] if n is None else [f'<text x="0" y="14">n = {n:,}</text>']
    for i, (mode, us, ci) in enumerate(shown):
        y, at = i * step, lambda v: left + width * v / most
        drawn.append(f'<text x="{left - 6}" y="{y + 14}" text-anchor="end">{_x(mode)}</text>'
                     f'<rect class="bar" x="{left}" y="{y + 4}" width="{width * us / most:.1f}" height="12"/>')
        if ci:
            drawn.append(f'<line class="whisker" x1="{at(ci[0]):.1f}" x2="{at(ci[1]):.1f}" y1="{y + 10}" y2="{y + 10}"/>')
    title = "Median time of each mode" + ("" if n is None else f", n = {n}")
    size = left + width + 4, step * len(shown)
    return (f'<svg role="img" aria-label="{_x(title)}" width="{size[0]}" height="{size[1]}" viewBox="0 0 {size[0]} {size[1]}">'
            f'<title>{_x(title)}</title>{"".join(drawn)}</svg>')


# ---- inputs


class _Random(dict):
    """A tensor by its kind, as the server makes it."""


def random(*shape, dtype="float32", kind=None, seed=0, low=None, high=None, requires_grad=False):
    """A tensor that the server makes: kind is randn, rand, randint, zeros, ones or arange (randn of floats, else randint)."""
    if dtype not in DTYPES:
        raise BreakevenError(f"random(): dtype is one of {', '.join(DTYPES)}, not {dtype!r}")
    floats = "float" in dtype
    made = {"shape": list(shape), "dtype": dtype, "kind": kind or ("randn" if floats else "randint"), "seed": seed}
    if low is not None or high is not None or made["kind"] == "randint":
        made["low"], made["high"] = low or 0, high if high is not None else 2 if dtype == "bool" else 10
    return _Random({"random": {**made, **({"requires_grad": True} if requires_grad else {})}})


def _is_tensor(x):
    return all(hasattr(x, name) for name in ("shape", "dtype", "tolist")) and not isinstance(x, type)


def _flat(x):
    found = x.tolist()
    for _ in range(len(x.shape) - 1):
        found = [item for row in found for item in row]
    return found if isinstance(found, list) else [found]


def _order(x):
    """The dims as memory has them, where that is another order than theirs; None where there are gaps."""
    strides = list(x.stride()) if hasattr(x, "stride") else None
    if strides is None or len(strides) < 2:
        return []
    dims = sorted(range(len(strides)), key=lambda d: (-strides[d], d))
    expected = 1
    for d in reversed(dims):
        if x.shape[d] != 1 and strides[d] != expected:
            return None
        expected *= x.shape[d]
    return [] if dims == sorted(dims) else dims


def _kind(x):
    """What to make a large tensor of: its values do not matter, but what they are like does."""
    low, high = float(x.min()), float(x.max())
    if low == high and low in (0.0, 1.0):
        return "ones" if low else "zeros"
    return "rand" if 0 <= low and high <= 1 else "randn"


def _tensor(x, where, notes):
    dtype, shape = str(x.dtype).replace("torch.", ""), [int(n) for n in x.shape]
    numel = math.prod(shape)
    if dtype not in DTYPES:
        raise BreakevenError(f"{where}: a tensor of {dtype} cannot be sent; the dtypes are {', '.join(DTYPES)}")
    order, floats = _order(x), "float" in dtype
    grad = bool(getattr(x, "requires_grad", False) and getattr(x, "is_leaf", True))
    if order is None:
        notes.append(f"{where}: its elements have gaps between them, and lie row by row in the run")
    if order and not grad:  # dims[k] is the k-th in memory
        made = [shape[d] for d in order]
        how = ("torch.randn({}, dtype=torch.{})" if floats else "torch.randint(0, 10, {}, dtype=torch.{})").format(tuple(made), dtype)
        if dtype == "bool":
            how = f"(torch.rand({tuple(made)}) < 0.5)"
        notes.append(f"{where}: a tensor of this order of memory is sent by its shape, with random values")
        return {"python": f"{how}.permute({', '.join(str(order.index(d)) for d in range(len(order)))})"}
    if order:
        notes.append(f"{where}: its dims lie in another order in memory, and row by row in the run")
    x = x.detach() if hasattr(x, "detach") else x
    if numel <= (MOST_VALUES if floats else MOST_INTS):
        data = [repr(v) if isinstance(v, float) and v - v != 0 else v for v in _flat(x)]
        if all(not isinstance(v, str) for v in data):
            return {"tensor": {"shape": shape, "dtype": dtype, "data": data, **({"requires_grad": True} if grad else {})}}
        notes.append(f"{where}: it holds inf or nan, and is sent by its shape")
    if not floats:
        return dict(random(*shape, dtype=dtype, low=int(x.min()), high=int(x.max()) + 1))
    return dict(random(*shape, dtype=dtype, kind=_kind(x), requires_grad=grad))


def _value(x, where, notes):
    if isinstance(x, _Random):
        return dict(x)
    if x is None or isinstance(x, (bool, int, float, str)):
        return {"value": x}
    if _is_tensor(x):
        return _tensor(x, where, notes)
    if type(x) in (list, tuple):
        return {"list" if type(x) is list else "tuple": [_value(v, f"{where}[{i}]", notes) for i, v in enumerate(x)]}
    if type(x) is dict and all(isinstance(k, str) for k in x):
        return {"dict": {k: _value(v, f"{where}[{k!r}]", notes) for k, v in x.items()}}
    raise BreakevenError(f"{where}: a {type(x).__name__} cannot be sent; tensors, numbers, texts, None, lists, tuples and dicts can")


def _device(x):
    """Where the tensors in it are, as a workload says it."""
    if isinstance(x, _Random) or not isinstance(x, (list, tuple, dict)):
        return getattr(getattr(x, "device", None), "type", None)
    return "cuda" if "cuda" in map(_device, x.values() if isinstance(x, dict) else x) else None


# ---- sources


def _lacking(what, why="no file and no cell of a notebook has it"):
    return BreakevenError(f"the source of {what} cannot be had: {why}; give the text of a program, or the path of its file, with entry=")


def _tree(filename):
    """(lines, syntax tree) of a file or of a cell of a notebook; (None, None) where it is gone."""
    lines = linecache.getlines(filename)
    try:
        return lines, ast.parse("".join(lines)) if lines else None
    except SyntaxError:  # a cell with lines for IPython alone
        kept = ["\n" if line.lstrip().startswith(("%", "!", "?")) else line for line in lines]
        try:
            return kept, ast.parse("".join(kept))
        except SyntaxError:
            return None, None


def _class_text(cls):
    """By a method's code, since inspect does not find classes of a notebook."""
    with contextlib.suppress(OSError, TypeError):
        return textwrap.dedent(inspect.getsource(cls))
    for member in vars(cls).values():
        code = getattr(getattr(member, "__func__", member), "__code__", None)
        lines, tree = _tree(code.co_filename) if code else (None, None)
        for node in ast.walk(tree) if tree else ():
            if isinstance(node, ast.ClassDef) and node.name == cls.__name__ and node.lineno <= code.co_firstlineno <= node.end_lineno:
                first = min([node.lineno] + [d.lineno for d in node.decorator_list])
                return textwrap.dedent("".join(lines[first - 1:node.end_lineno]))
    raise _lacking(f"class {cls.__name__}")


def _like(code):
    """What two codes of the same text have in common, whether a name is of a closure or global."""
    return code.co_varnames, set(code.co_names) | set(code.co_freevars), [c for c in code.co_consts if not isinstance(c, types.CodeType)]


def _lambda_text(f):
    lines, tree = _tree(f.__code__.co_filename)
    texts = {ast.get_source_segment("".join(lines), n) for n in ast.walk(tree)
             if isinstance(n, ast.Lambda) and n.lineno <= f.__code__.co_firstlineno <= n.end_lineno} if tree else set()
    found = [t for t in texts if _like(eval(compile(t, "lambda", "eval"), {}).__code__) == _like(f.__code__)]
    if len(found) != 1:
        raise _lacking("a lambda", *(["several of its line could be it"] if found else []))
    return found[0]


def _function_text(f, name):
    if f.__name__ == "<lambda>":
        return f"{name} = {_lambda_text(f)}\n"
    try:
        text = textwrap.dedent(inspect.getsource(f))
    except (OSError, TypeError):
        raise _lacking(f.__name__) from None
    return text if f.__name__ == name else f"{text}{name} = {f.__name__}\n"


def _reads(text):
    """Names that a text reads and does not define at its top: globals, wherever in it they are read."""
    codes, read, kept = [compile(text, "text", "exec")], set(), set()
    for i in dis.get_instructions(codes[0]):
        if i.opname in ("STORE_NAME", "STORE_GLOBAL"):
            kept.add(i.argval)
    while codes:
        code = codes.pop()
        codes += [c for c in code.co_consts if isinstance(c, types.CodeType)]
        read |= {i.argval for i in dis.get_instructions(code) if i.opname in ("LOAD_NAME", "LOAD_GLOBAL", "LOAD_FROM_DICT_OR_GLOBALS")}
    return sorted(read - kept)


def _is_installed(module):
    """Whether a module is of Python, of an installed package or built in, so that it is not sent."""
    path = getattr(module, "__file__", None)
    if not path:
        return not hasattr(module, "__path__") and module.__name__ != "__main__"
    paths = sysconfig.get_paths()
    inside = [os.path.realpath(p) for key, p in paths.items() if key in ("stdlib", "platstdlib", "purelib", "platlib")]
    path = os.path.realpath(path)
    return any(path.startswith(p + os.sep) for p in inside) or "site-packages" in path or "dist-packages" in path


def _is_plain(v):
    if type(v) in (list, tuple):
        return all(map(_is_plain, v))
    if type(v) is dict:
        return all(_is_plain(k) and _is_plain(x) for k, x in v.items())
    return v is None or (type(v) in (bool, int, str, float) and v == v and v not in (float("inf"), -float("inf")))


class _Program:
    """The text of a program: definitions of a script or of cells, in order, with what they read; whole files of
    the modules that they import."""

    def __init__(self):
        self.imports, self.values, self.bodies, self.files = [], [], [], {}
        self.known = {}

    def text(self):
        return "\n".join(self.imports) + "\n" + "\n".join(self.values) + "\n\n" + "\n\n".join(self.bodies)

    def add(self, name, value, owner):
        """Makes `name` mean what it means where `owner` is."""
        if name in self.known:
            if self.known[name] is not value:
                raise BreakevenError(f"{name} means two things in what {owner} reads; give one of them another name")
            return
        self.known[name] = value
        if isinstance(value, types.ModuleType):
            self.imports.append(f"import {value.__name__} as {name}" if "." in value.__name__ or value.__name__ != name
                                else f"import {name}")
            self.add_module(value)
        elif inspect.isclass(value) or inspect.isfunction(value):
            self.add_definition(name, value)
        elif inspect.isbuiltin(value) or (callable(value) and hasattr(value, "__module__") and hasattr(value, "__name__")):
            self.imports.append(f"from {value.__module__ or 'torch'} import {value.__name__} as {name}")
        elif str(type(value)) in ("<class 'torch.dtype'>", "<class 'torch.device'>"):
            self.add("torch", sys.modules["torch"], owner)
            self.values.append(f"{name} = {value if 'dtype' in str(type(value)) else f'torch.device({str(value)!r})'}")
        elif _is_plain(value):
            self.values.append(f"{name} = {value!r}")
        elif _is_tensor(value):
            raise BreakevenError(f"{owner} reads the tensor {name}, which is no argument of it; pass it as one")
        else:
            raise BreakevenError(f"{owner} reads {name}, a {type(value).__name__}, which cannot be sent; pass it as an argument, or "
                                 "put both in a file and give its path with entry=")

    def add_definition(self, name, value):
        module = sys.modules.get(value.__module__)
        if module is not None and module.__name__ != "__main__" and getattr(module, value.__name__, None) is value:
            self.imports.append(f"from {value.__module__} import {value.__name__} as {name}")
            self.add_module(module)
        elif inspect.isclass(value):
            self.add_class(value, name)
        else:
            self.add_function(value, name)

    def add_all(self, text, scope, owner):
        for name in _reads(text):
            if name in scope:
                self.add(name, scope[name], owner)

    def add_function(self, f, name):
        text = _function_text(f, name)
        self.add_all(text, {**f.__globals__, **inspect.getclosurevars(f).nonlocals, f.__name__: f, name: f}, f.__name__)
        self.bodies.append(text)

    def add_class(self, cls, name):
        text, scope = _class_text(cls), {}
        scope.update(vars(sys.modules.get(cls.__module__, sys)))
        for member in vars(cls).values():
            f = getattr(member, "fget", None) or getattr(member, "__func__", member)
            if inspect.isfunction(f):
                scope.update(f.__globals__)
                scope.update({k: v for k, v in inspect.getclosurevars(f).nonlocals.items() if k != "__class__"})
        self.add_all(text, {**scope, cls.__name__: cls}, f"class {cls.__name__}")
        self.bodies.append(text if cls.__name__ == name else f"{text}{name} = {cls.__name__}\n")

    def add_module(self, module):
        """The whole file of a module of the user's, with the packages it is in and the modules that it imports."""
        if _is_installed(module) or module.__name__ == "__main__" or module is sys.modules[__name__]:
            return
        path = getattr(module, "__file__", None)
        parts = module.__name__.split(".")
        for i in range(1, len(parts)):
            self.add_module(sys.modules[".".join(parts[:i])])
        if not path:  # a package without __init__.py
            return
        package = hasattr(module, "__path__")
        inside = "/".join(parts) + ("/__init__.py" if package else ".py")
        if inside in self.files:
            return
        try:
            with open(inspect.getsourcefile(module) or path, encoding="utf-8") as file:
                self.files[inside] = file.read()
        except (OSError, TypeError, UnicodeDecodeError) as error:
            raise _lacking(f"module {module.__name__}", str(error)) from None
        for name in _imported(self.files[inside], module.__name__ if package else module.__name__.rpartition(".")[0]):
            if name in sys.modules:
                self.add_module(sys.modules[name])


def _imported(text, package):
    """The names of modules that a file may import."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                base = importlib.util.resolve_name("." * node.level + base, package) if package else base
            found |= {base} | {f"{base}.{alias.name}" for alias in node.names}
    return {name for full in found for name in (full, full.rpartition(".")[0]) if name}


# ---- modules


def _is_module(x):
    return any(c.__name__ == "Module" and c.__module__ == "torch.nn.modules.module" for c in type(x).__mro__)


def _made(module):
    """How a module is made, by the attributes that have the names of its class's parameters; None where that is not told."""
    cls = type(module)
    if cls.__name__ in ("Sequential", "ModuleList") and cls.__module__ == "torch.nn.modules.container":
        parts = [_made(child) for child in module.children()]
        inside = ", ".join(map(str, parts))
        return None if None in parts else f"{cls.__name__}({f'[{inside}]' if cls.__name__ == 'ModuleList' else inside})"
    words = []
    for name, p in list(inspect.signature(cls.__init__).parameters.items())[1:]:
        if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) or name in ("device", "dtype"):
            continue
        value = getattr(module, name, module)
        if name == "bias" and (value is None or _is_tensor(value)):
            value = value is not None
        if name in ("elementwise_affine", "affine") and value is module:
            value = getattr(module, "weight", None) is not None
        if value is module and p.default is not p.empty:
            continue
        if value is module or not _is_plain(value):
            return None
        if p.default is p.empty or value != p.default:
            words.append(f"{name}={value!r}")
    return f"{cls.__name__}({', '.join(words)})"


def _parameters(module, notes):
    tensors = dict(module.state_dict())
    if sum(t.numel() for t in tensors.values()) > MOST_PARAMETERS:
        notes.append(f"its parameters have more than {MOST_PARAMETERS} elements, and are those that the program makes")
        return None
    return {name: _tensor(t.contiguous(), name, notes) for name, t in tensors.items() if t.numel()}


def _module_program(program, module, made, notes):
    how = made or _made(module)
    if not how:
        raise BreakevenError(f"how {type(module).__name__} was made cannot be told from it: say it, as made=\"{type(module).__name__}(64)\"")
    scope = {**vars(sys.modules.get(type(module).__module__, sys)), **{type(m).__name__: type(m) for m in module.modules()}}
    program.add_all(how, scope, "what makes the module")
    program.bodies.append(f"model = {how}\n" + ("" if module.training else "model.eval()\n"))
    return "model"


def _workload(subject, inputs, kwargs, fields):
    """(what is posted, notes of what is not as it is here)"""
    notes, made, program = [], fields.pop("made", None), _Program()
    if isinstance(subject, dict):
        if inputs or kwargs or made:
            raise BreakevenError("a workload as a dict has its own inputs: give none beside it")
        return {**subject, **fields}, notes
    args = [_value(x, f"input {i}", notes) for i, x in enumerate(inputs)]
    named = {k: _value(v, f"input {k}", notes) for k, v in (kwargs or {}).items()}
    workload = {"calls": [{"args": args, "kwargs": named} if named else args], **fields}
    if isinstance(subject, str):
        _text_program(subject, workload)
    else:
        _object_program(program, subject, made, workload, notes)
    for note in notes:
        warnings.warn(note, stacklevel=4)
    if "device" not in workload and _device([inputs, kwargs or {}]):
        workload["device"] = "cuda"
    for key, text in _git().items():
        workload.setdefault(key, text)
    return workload, notes


def _text_program(subject, workload):
    if "\n" not in subject and subject.endswith(".py"):
        workload.setdefault("name", os.path.basename(subject)[:-3])
        try:
            with open(subject, encoding="utf-8") as file:
                subject = file.read()
        except OSError as error:
            raise BreakevenError(f"{subject} cannot be read: {error.strerror}") from None
    workload["source"] = subject


def _object_program(program, subject, made, workload, notes):
    if "entry" in workload:
        raise BreakevenError("entry= is for the text of a program; a function or a module is its own")
    if inspect.ismethod(subject) and not _is_module(subject.__self__):
        raise BreakevenError(f"{subject.__name__} is a method of a {type(subject.__self__).__name__}; write a function that calls it")
    if _is_module(subject):
        entry, name = _module_program(program, subject, made, notes), type(subject).__name__
        parameters = _parameters(subject, notes)
        if parameters:
            workload["params"] = parameters
    elif inspect.isfunction(subject):
        if made:
            raise BreakevenError("made= says how a module is made; this is a function")
        name = "model" if subject.__name__ == "<lambda>" else subject.__name__
        entry = name
        program.add(entry, subject, "run()")
    else:
        raise BreakevenError(f"run() measures a function, an nn.Module, a text or a dict, not a {type(subject).__name__}")
    if '"python":' in json.dumps(workload["calls"]):
        program.add("torch", sys.modules["torch"], "an input")
    workload.setdefault("name", name)
    if program.files:
        workload["files"] = {"breakeven_entry.py": program.text(), **program.files}
        workload["entry"] = f"breakeven_entry.py:{entry}"
    else:
        workload["source"], workload["entry"] = program.text(), entry


# ---- logs


def _packed(files):
    """One file as it is, several in a .tar.gz."""
    if len(files) == 1:
        with open(files[0], "rb") as file:
            return file.read(), "application/octet-stream"
    room, top = io.BytesIO(), os.path.commonpath([os.path.dirname(os.path.abspath(f)) for f in files])
    with tarfile.open(fileobj=room, mode="w:gz", compresslevel=6) as tar:
        for path in files:
            tar.add(path, os.path.relpath(os.path.abspath(path), top))
    return room.getvalue(), "application/gzip"


def _wanted(module):
    try:
        return importlib.import_module(module)
    except ImportError:
        raise BreakevenError("trace() wants PyTorch, which this Python has not; upload() takes files that are there") from None


@contextlib.contextmanager
def _profiler(folder, options):
    if folder is None:
        if options:
            raise BreakevenError(f"trace(): {sorted(options)[0]} is for torch.profiler, which profiler=False leaves out")
        yield
        return
    with _wanted("torch.profiler").profile(**options) as watched:
        yield
    path = os.path.join(folder, "trace.json")
    watched.export_chrome_trace(path)
    with open(path, "rb+") as file:  # the clock's base goes before the events that are counted from it
        text = file.read().strip()
        base = re.search(rb',\s*("baseTimeNanoseconds":\s*\d+)\s*}\s*$', text[-4096:])
        if base and text.startswith(b"{"):
            file.seek(0)
            file.write(b"{" + base.group(1) + b"," + text[1:len(text) - len(base.group())] + b"}")
            file.truncate()


@contextlib.contextmanager
def _torch_trace(folder):
    """What TORCH_TRACE=FOLDER does, from here to the end of the block."""
    if folder is None:
        yield
        return
    _internal = _wanted("torch._logging._internal")
    if not hasattr(_internal, "LazyTraceHandler") or not hasattr(_internal, "trace_log"):
        raise BreakevenError("this PyTorch writes no TORCH_TRACE: torch_trace=False leaves it out")
    handler = _internal.LazyTraceHandler(os.path.join(folder, "torch_trace"))
    os.makedirs(os.path.join(folder, "torch_trace"), exist_ok=True)
    if hasattr(_internal, "TorchLogsFormatter"):
        handler.setFormatter(_internal.TorchLogsFormatter(trace=True))
    log, level = _internal.trace_log, _internal.trace_log.level
    log.addHandler(handler)
    log.setLevel("DEBUG")
    try:
        yield
    finally:
        log.removeHandler(handler)
        log.setLevel(level)
        handler.close()
