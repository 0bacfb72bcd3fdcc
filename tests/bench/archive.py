"""tests/bench/archive.py BINARY -- how quick lists, histories, comparisons and searches are in an archive of 100,000 runs.

    python3 tests/bench/archive.py build/breakeven [--runs 100000] [--rounds 20] [--keep FOLDER]     (make trial-archive)
    STORE=postgresql://... python3 tests/bench/archive.py build/breakeven --runs 50000 --times 20 --reports 5000 --keep-days 6 --modes eager,static   (its database is empty, or was filled by this)

One run is measured here with 100 samples and more; the others are its rows again, under 200 names, with 2,000 sources, notes,
tags, commits, verdicts and figures of their own, over two years.  What the default rule of retention would have thinned out
has the report that `breakeven prune` left of it.  What runs are found by is put in as db/search.c stores it; of the last
LEFT runs the server stores it itself, as of those of an earlier version.  Then each request is asked `--rounds` times, each time with other values, so that no answer is one that was kept,
and a backup is made while runs are posted.  It prints p50 and p95 of each, the size of the file, and fails where a p95 is over
100 ms, the file over 2 GB or a run lost.  On PostgreSQL, which makes backups itself, rows are put in by COPY, and what
the processes of its sessions computed counts too.
"""
import argparse
import hashlib
import json
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from server_speed import Server  # noqa: E402

TABLES = ("run_row", "run_workload", "report", "run_summary", "findings", "run_figure", "run_tag", "timeline_block", "search_text", "search_run")

DAY_NS = 86_400_000_000_000
DAYS = 730
NAMES, SOURCES, METRICS, LEFT = 200, 2000, ("latency", "speedup"), 500
WORDS = "softmax layer_norm gelu attention rotary conv2d dropout embedding matmul einsum logsumexp cumsum".split()
MOST_MS, MOST_BYTES = 100, 2 << 30
SOURCE = "import torch\ndef model(x, w):\n    y = torch.relu(x @ w)\n    print(y.shape)\n    return torch.softmax(y, -1)\n"


def workload(name, seconds, modes):
    tensor = {"random": {"shape": [64, 64], "dtype": "float32", "kind": "randn", "seed": 1}}
    return {"name": name, "source": SOURCE, "calls": [[tensor, tensor]], "modes": modes.split(","), "seconds": seconds, "project": "project-0"}


def source(i):
    r = random.Random(i)
    lines = [f"    y = torch.{r.choice(WORDS)}(y)  # step {r.randrange(10**6)}" for _ in range(30)]
    return "import torch\ndef model(x, w):\n    y = x @ w\n" + "\n".join(lines) + f"\n    return y * {i}\n"


def columns(h, table):
    return [row[1] for row in h.execute(f"PRAGMA table_info({table})")]


def values(h, table, where):
    names = columns(h, table)
    return [dict(zip(names, row)) for row in h.execute(f"SELECT {', '.join(names)} FROM {table} WHERE {where}")]


class File:
    """Takes rows into a file."""

    def __init__(self, path):
        self.h = sqlite3.connect(path)
        self.h.execute("PRAGMA synchronous = OFF")

    def take(self, rows):
        for table, some in rows.items():
            names = list(some[0])
            self.h.executemany(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({', '.join('?' * len(names))})", [list(r.values()) for r in some])
        for r in rows.get("search_text", ()):
            self.h.execute("INSERT INTO search(rowid, body) VALUES(?, ?)", (r["id"], r["body"]))
        self.h.commit()

    def one(self, text):
        return str(self.h.execute(text).fetchone()[0])

    def end(self):
        self.h.close()


class Shared:
    """Takes rows into a database of PostgreSQL."""

    SPECIAL = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})

    def __init__(self, url):
        self.url, self.indexes = url, None

    def psql(self, text):
        return subprocess.run(["psql", self.url, "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1"], input=text, text=True, check=True, capture_output=True).stdout.strip()

    def field(self, value):
        return "\\N" if value is None else "\\\\x" + value.hex() if isinstance(value, bytes) else str(value).translate(self.SPECIAL)

    def take(self, rows):
        if self.indexes is None:  # made again at the end: half the time
            made = self.psql("SELECT indexrelid::regclass || '|' || replace(pg_get_indexdef(indexrelid), chr(10), ' ') FROM pg_index i WHERE NOT indisunique AND indrelid IN (" + ", ".join(f"'{t}'::regclass" for t in TABLES) + ")").splitlines()
            self.indexes = [line.split("|", 1)[1] for line in made]
            self.psql("".join(f"DROP INDEX {line.split('|')[0]};" for line in made))
        parts = ["SET session_replication_role = replica;\nBEGIN;\n"]  # no trigger looks for what a row refers to: it is there
        for table, some in rows.items():
            parts.append(f"COPY {table} ({', '.join(some[0])}) FROM STDIN;\n")
            parts += ["\t".join(map(self.field, r.values())) + "\n" for r in some]
            parts.append("\\.\n")
        self.psql("".join(parts) + "COMMIT;\n")

    def multiply(self, times, apart_ns):
        """Each run becomes so many, one after the other."""
        for table in TABLES:
            if table == "search_text":
                continue
            key = "id" if table == "run_row" else "run"
            as_now = {key: f"({key} - 1) * {times} + k + 1", "workload_hash": "md5(workload_hash || k)", "commit_id": "md5(commit_id || k) || substr(commit_id, 1, 8)",
                      **{c: f"{c} + k * {apart_ns}" for c in ("created_ns", "started_ns", "finished_ns")}}
            columns = self.psql(f"SELECT column_name FROM information_schema.columns WHERE table_name = '{table}' ORDER BY ordinal_position").splitlines()
            self.psql(f"SET session_replication_role = replica; CREATE UNLOGGED TABLE once AS SELECT * FROM {table}; DELETE FROM {table};"
                      f" INSERT INTO {table} ({', '.join(columns)}) SELECT {', '.join(as_now.get(c, c) for c in columns)} FROM once, generate_series(0, {times - 1}) k; DROP TABLE once")

    def one(self, text):
        return self.psql(text)

    def end(self):
        for table in ("run_row", "search_text"):
            self.psql(f"SELECT setval(pg_get_serial_sequence('{table}', 'id'), (SELECT max(id) FROM {table}))")
        for index in self.indexes:
            self.psql(index)
        self.psql("DELETE FROM run_count; INSERT INTO run_count SELECT kind, value, project, count(*) FROM run_counted GROUP BY kind, value, project")
        self.psql("VACUUM ANALYZE")


def thinned(binary, path):
    """The report that retention leaves of the one run, in a copy of its store."""
    copy = path + ".thin"
    shutil.copy(path, copy)
    with sqlite3.connect(copy) as h:
        h.execute("UPDATE run_row SET created_ns = 1, finished_ns = 2")
    h.close()
    subprocess.run([binary, "prune", "--db", copy], check=True, stdout=subprocess.DEVNULL)
    with sqlite3.connect(copy) as h:
        out = values(h, "report", "run = 1")[0]
    h.close()
    return out


class Found:
    """What runs are found by: each text once; `new`: the rows of those that are not stored yet."""

    def __init__(self, h):
        self.ids, self.new = {}, []
        self.last = h.execute("SELECT max(id) FROM search_text").fetchone()[0]
        self.reason = h.execute("SELECT text FROM search_run WHERE run = 1 AND kind = 'reason'").fetchone()[0]

    def text(self, kind, body):
        if (kind, body) not in self.ids:
            self.last += 1
            self.ids[kind, body] = self.last
            self.new.append({"id": self.last, "kind": kind, "hash": hashlib.md5(body.encode()).hexdigest(), "body": body})
        return self.ids[kind, body]

    def rows(self, run, tags, source):
        about = "\n".join([run["name"], run["project"], run["branch"], tags])
        texts = {"about": self.text("about", about), "source": self.text("source", source), "reason": self.reason}
        if run["note"]:
            texts["note"] = self.text("note", run["note"])
        return [{"run": run["id"], "kind": kind, "text": text} for kind, text in texts.items()]


def fill(path, into, runs, times, reports, thin, keep_days):
    """The one run of the file at `path`, again and again; the last `reports` with a report; then each `times` times."""
    h = sqlite3.connect(path)
    run, report, summary = values(h, "run_row", "id = 1")[0], values(h, "report", "run = 1")[0], values(h, "run_summary", "run = 1")[0]
    findings, figures, blocks = values(h, "findings", "run = 1"), values(h, "run_figure", "run = 1"), values(h, "timeline_block", "run = 1")
    now, base = time.time_ns(), json.loads(values(h, "run_workload", "run = 1")[0]["json"])
    sources, found = [source(i) for i in range(SOURCES)], Found(h)
    full = 0
    for begin in range(2, runs + 1, 2000):
        ids = range(begin, min(begin + 2000, runs + 1))
        rows = {t: [] for t in TABLES}
        for i in ids:
            r = random.Random(i)
            name = f"{WORDS[i % len(WORDS)]}_{i % NAMES}"
            created = now - int((runs - i) / runs * DAYS * DAY_NS)
            body = json.dumps({**base, "name": name, "source": sources[(i * 7919) % SOURCES]})
            speedup = r.lognormvariate(0.2, 0.3)
            rows["run_row"].append({**run, "id": i, "name": name, "project": f"project-{i % 8}", "workload_hash": "%032x" % i,
                                    "commit_id": "%040x" % r.getrandbits(160), "branch": r.choice(["main", "next", "exp"]), "created_ns": created,
                                    "started_ns": created, "finished_ns": created + 10**9, "note": f"driver {i % 97}, cold" if i % 20 == 0 else "",
                                    "pinned": int(i % 1000 == 0), "source_hash": "%032x" % ((i * 7919) % SOURCES), "status": "failed" if i % 50 == 3 else "done"})
            recent = now - created < keep_days * DAY_NS or i % 1000 == 0
            full += recent
            if i > runs - reports:
                rows["report"].append({**(report if recent else thin), "run": i})
            rows["run_summary"].append({**summary, "run": i, "speedup": speedup, "verdict": "FASTER" if speedup > 1.05 else "SLOWER" if speedup < 0.95 else "SAME", "breaks": i % 5})
            if recent:
                rows["findings"] += [{**f, "run": i} for f in findings]
                rows["timeline_block"] += [{**b, "run": i} for b in blocks]
            rows["run_figure"] += [{**f, "run": i, "value": f["value"] * speedup} for f in figures]
            rows["run_workload"].append({"run": i, "json": body})
            tag = r.choice(["nightly", "release", "pr"]) if i % 3 == 0 else ""
            if tag:
                rows["run_tag"].append({"run": i, "tag": tag})
            if i <= runs - LEFT // times:
                rows["search_run"] += found.rows(rows["run_row"][-1], tag, sources[(i * 7919) % SOURCES])
        rows["search_text"], found.new = found.new, []
        into.take({table: some for table, some in rows.items() if some})
    h.close()
    if times > 1:
        into.multiply(times, int(DAYS * DAY_NS / runs / times))
    into.end()
    samples = sum(f["samples"] for f in figures) * runs * times
    print(f"{runs * times:,} runs of {NAMES} names, {full * times:,} of them whole; {samples:,} samples in {len(figures) * runs * times:,} figures")


def requests(runs):
    """Name, and what makes a path of a round."""
    name = lambda r: (lambda i: f"{WORDS[i % len(WORDS)]}_{i % NAMES}")(r.randrange(2, runs))  # noqa: E731
    done = lambda r: next(i for i in iter(lambda: runs - r.randrange(1, 200), None) if i % 50 != 3)  # noqa: E731  # the others failed
    q = urllib.parse.quote
    return {
        "list, as the page opens": lambda r: f"/runs?limit=100&facets=1&fold=1&offset={r.randrange(100)}",
        "list, without facets": lambda r: f"/runs?limit={50 + r.randrange(50)}",
        "list of a project": lambda r: f"/runs?project=project-{r.randrange(8)}&limit={50 + r.randrange(50)}",
        "list of a tag": lambda r: f"/runs?tag=nightly&fold=1&limit={50 + r.randrange(50)}",
        "list by a verdict": lambda r: f"/runs?verdict=slower&fold=1&limit={50 + r.randrange(50)}",
        "list by speedup": lambda r: f"/runs?sort=-speedup&limit={50 + r.randrange(50)}",
        "list by name, far down": lambda r: f"/runs?sort=name&offset={runs - 1000 - r.randrange(1000)}&limit=50",
        "list of what is broken": lambda r: f"/runs?verdict=broken&fold=1&limit={50 + r.randrange(50)}",
        "list by a number": lambda r: f"/runs?speedup=%3E{1.5 + r.random()}&fold=1&limit=100",
        "search, a word in most sources": lambda r: f"/runs?q={r.choice(WORDS)}&fold=1&limit={50 + r.randrange(50)}",
        "search, a word in all sources": lambda r: f"/runs?q=torch&fold=1&limit={50 + r.randrange(50)}",
        "search, two words": lambda r: f"/runs?q={q(r.choice(WORDS) + ' driver')}&fold=1&limit={50 + r.randrange(50)}",
        "search, a rare text": lambda r: f"/runs?q={q('step ' + str(r.randrange(10**6)))}&fold=1&limit=100",
        "search, a phrase": lambda r: f"/runs?q={q(chr(34) + 'driver ' + str(r.randrange(97)) + ', cold' + chr(34))}&limit=100",
        "search, a reason": lambda r: f"/runs?q=reason:GB0059&limit={50 + r.randrange(50)}",
        "search, two letters": lambda r: f"/runs?q={r.choice(['ge', 'so', 'ma'])}&fold=1&limit={50 + r.randrange(50)}",
        "search, a commit": lambda r: f"/runs?q={'%05x' % r.getrandbits(20)}&limit=100",
        "search, all but a word": lambda r: f"/runs?q=-{r.choice(WORDS)}&fold=1&limit={50 + r.randrange(50)}",
        "history of a workload": lambda r: f"/history?workload={name(r)}&metric={r.choice(METRICS)}&mode=static",
        "names of workloads": lambda r: f"/history?limit={50 + r.randrange(50)}",
        "heat": lambda r: f"/heat?project=project-{r.randrange(8)}",
        "changes": lambda r: f"/history/changes?state=open&limit={10 + r.randrange(50)}",
        "what a day brought": lambda r: f"/since?hours={20 + r.randrange(9)}",
        "what a week brought": lambda r: f"/since?hours={160 + r.randrange(9)}",
        "comparison": lambda r: f"/compare?a={done(r)}&b={done(r)}&force=1",
        "one run": lambda r: f"/runs/{r.randrange(2, runs)}?view=summary",
    }


def cpu_ms(pids):
    """What processes have computed so far: on a busy machine it says more than the clock."""
    total = 0
    for pid in pids:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/schedstat") as f:
                total += int(f.read().split()[0])
    return total / 1e6


def processes(server, store):
    """The server, and on PostgreSQL its sessions there."""
    sessions = store.one("SELECT pid FROM pg_stat_activity WHERE application_name = 'breakeven'").split() if isinstance(store, Shared) else []
    return [server.process.pid, *sessions]


def measure(server, store, runs, rounds, only):
    worst, pids = 0, processes(server, store)
    for title, make in requests(runs).items():
        if only and only not in title:
            continue
        times, r, before = [], random.Random(title), cpu_ms(pids)
        for _ in range(rounds):
            path = "/api/v1" + make(r)
            begin = time.perf_counter()
            server.ask(path)
            times.append((time.perf_counter() - begin) * 1000)
        times.sort()
        p95 = times[min(len(times) - 1, int(len(times) * 0.95))]
        worst = max(worst, p95)
        print(f"  {title:34} p50 {times[len(times) // 2]:7.1f} ms   p95 {p95:7.1f} ms   computed {(cpu_ms(pids) - before) / rounds:6.1f} ms{'   OVER' if p95 > MOST_MS else ''}", flush=True)
    return worst


def backup_while_runs_arrive(binary, server, path):
    """Each run that was answered before the backup began is in it; none is lost in the store."""
    before, stop, posted = [], threading.Event(), []

    def post():
        while not stop.is_set():
            run = json.loads(server.ask("/api/v1/traces", {"name": "arrives", "command": "bench"}))["id"]
            posted.append(run)
            server.ask(f"/api/v1/traces/{run}/end", {"error": "nothing was recorded"})

    thread = threading.Thread(target=post)
    thread.start()
    time.sleep(1)
    before = list(posted)
    begin = time.perf_counter()
    subprocess.run([binary, "backup", path + ".backup", "--db", path], check=True, stdout=subprocess.DEVNULL)
    took = time.perf_counter() - begin
    stop.set()
    thread.join()
    with sqlite3.connect(path + ".backup") as h:
        kept = {row[0] for row in h.execute("SELECT id FROM run_row")}
    with sqlite3.connect(path) as h:
        here = {row[0] for row in h.execute("SELECT id FROM run_row")}
    lost = [i for i in before if i not in kept] + [i for i in posted if i not in here]
    print(f"backup in {took:.1f} s while {len(posted):,} runs arrived, {len(before):,} before it began: {len(lost)} lost")
    return lost


def wait_until_found(store):
    begin = time.perf_counter()
    while int(store.one(f"SELECT count(*) FROM report r WHERE run > (SELECT max(run) FROM report) - {2 * LEFT} AND NOT EXISTS (SELECT 1 FROM search_run s WHERE s.run = r.run AND s.kind = 'reason')")):
        time.sleep(1)
    print(f"what runs are found by: stored in {time.perf_counter() - begin:.0f} s")


def main():
    ask = argparse.ArgumentParser()
    ask.add_argument("binary")
    ask.add_argument("--runs", type=int, default=100_000)
    ask.add_argument("--reports", type=int, help="how many of the last have a report; left out: all")
    ask.add_argument("--times", type=int, default=1, help="on PostgreSQL: so many of each run, by a statement there")
    ask.add_argument("--modes", default="eager,static,dynamic", help="of the run")
    ask.add_argument("--rounds", type=int, default=20)
    ask.add_argument("--keep-days", type=float, default=60, help="what the default rule keeps whole")
    ask.add_argument("--keep", help="a folder for the store, which is used again")
    ask.add_argument("--only", help="a part of a request's title")
    a = ask.parse_args()
    folder = a.keep or tempfile.mkdtemp(prefix="breakeven-archive-")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "store.db")
    url = os.environ.get("STORE")
    store = Shared(url) if url else None
    fresh = store.one("SELECT count(*) FROM pg_tables WHERE tablename = 'run_row'") == "0" if store else not os.path.exists(path)
    if fresh:
        server = Server(a.binary, folder)
        server.wait(server.run(workload("mlp", 2, a.modes)))
        server.stop()
        thin = thinned(a.binary, path)
        if store:
            subprocess.run([a.binary, "store", "copy", path, url], check=True, stdout=subprocess.DEVNULL)
        fill(path, store or File(path), a.runs, a.times, a.reports or a.runs, thin, a.keep_days)
    store = store or File(path)
    server = Server(a.binary, folder, url)
    wait_until_found(store)
    worst = measure(server, store, a.runs * a.times, a.rounds, a.only)
    lost = [] if a.only or url else backup_while_runs_arrive(a.binary, server, path)
    size = int(store.one("SELECT pg_database_size(current_database())")) if url else os.path.getsize(path)
    print(f"worst p95 {worst:.1f} ms of {MOST_MS}; the {'database' if url else 'file'} has {size / 2**30:.2f} GiB{'' if url else f' of {MOST_BYTES / 2**30:.0f}'}")
    server.stop()
    if not a.keep:
        shutil.rmtree(folder)
    return 1 if worst > MOST_MS or (size > MOST_BYTES and not url) or lost else 0


if __name__ == "__main__":
    sys.exit(main())
