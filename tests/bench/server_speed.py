"""tests/bench/server_speed.py BINARY -- how many requests a second the server answers, beside nginx with the same bytes.

    python3 tests/bench/server_speed.py build/breakeven [--rounds 3] [--seconds 4] [--only list]     (make trial-server)

A store of 10,000 runs: six are measured here, the others are their rows again.  The load is wrk's (Debian has it, as
nginx-light): 2 threads, 64 connections, and each round asks the server and nginx in turn, so that both see the machine as it
is.  Figures are the median of the rounds with the smallest and the largest; p99 is the worst of the rounds.  "two jobs" is
while a sweep is measured and another waits for it; what that does to the sweep's own times is said at the end: a chain is
measured with the load and without, in turn.
"""
import argparse
import json
import os
import re
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

RUNS = 10_000
CHAIN = "import torch\n\ndef model(x):\n    ...\n    return x.sum()\n"
POOL = ["x = x + 0.1", "x = torch.sin(x)", "x = x * 1.01"]


def workload(name, counts, **more):
    tensor = {"random": {"shape": [8, 16], "dtype": "float32", "kind": "randn", "seed": 0}}
    return {"name": name, "source": CHAIN, "calls": [[tensor]], "modes": ["eager", "static"],
            "sweep": {"statements": {"pool": POOL, "counts": counts}}, **more}


class Server:
    def __init__(self, binary, folder, store=None):
        """`store`: the address of one on PostgreSQL; left out: a file in the folder."""
        command = [binary, "serve", "--listen", "127.0.0.1:0", "--db", store or os.path.join(folder, "store.db"), *(["--files", os.path.join(folder, "files")] if store else []), "--cache", os.path.join(folder, "cache")]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        for line in self.process.stderr:
            found = re.search(r"listening on (http://\S+)", line)
            if found:
                self.url = found.group(1)
                return
        sys.exit(f"{binary} does not start")

    def ask(self, path, body=None, method=None):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.url + path, data=data, method=method, headers={"Content-Type": "application/json"} if data else {})
        with urllib.request.urlopen(request, timeout=300) as answer:
            return answer.read()

    def run(self, body):
        return json.loads(self.ask("/api/v1/runs", body))["id"]

    def wait(self, run):
        while True:
            got = json.loads(self.ask(f"/api/v1/runs/{run}"))
            if got["status"] not in ("queued", "running"):
                return got
            time.sleep(0.2)

    def settle(self):
        """Waits until it has read the runs that were copied into its store, for the words that are looked for: half a minute's work."""
        def ticks():
            with open(f"/proc/{self.process.pid}/stat") as f:
                return sum(int(n) for n in f.read().rsplit(") ", 1)[1].split()[11:13])

        last = -100
        while ticks() - last > 4:
            last = ticks()
            time.sleep(2)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


def multiply(path, runs):
    """Rows of the runs that are there, again and again."""
    db = sqlite3.connect(path)
    have = [row[0] for row in db.execute("SELECT id FROM run_row ORDER BY id")]
    tables = {"run_row": "id"}
    for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        keys = [row[2:4] for row in db.execute(f"PRAGMA foreign_key_list({name})")]
        if name not in ("run_row", "suite_run") and not name.startswith("change"):
            tables.update({name: mine for table, mine in keys if table == "run_row"})
    for new in range(max(have) + 1, runs + 1):
        for table, key in tables.items():
            columns = [row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[1] == key or not row[5] or key != "id"]
            values = ", ".join("?" if c == key else f'"{c}"' for c in columns)
            names = ", ".join(f'"{c}"' for c in columns)
            if "id" in columns and key != "id":
                continue
            db.execute(f"INSERT INTO {table} ({names}) SELECT {values} FROM {table} WHERE {key} = ?", (new, have[new % len(have)]))
    db.commit()
    db.execute("ANALYZE")
    db.commit()
    db.close()


class Nginx:
    def __init__(self, folder, files):
        root = os.path.join(folder, "www")
        os.makedirs(root)
        os.chmod(folder, 0o755)
        for name, data in files.items():
            with open(os.path.join(root, name), "wb") as f:
                f.write(data)
        port = 20000 + os.getpid() % 10000
        self.url = f"http://127.0.0.1:{port}"
        conf = os.path.join(folder, "nginx.conf")
        with open(conf, "w") as f:
            f.write(f"""daemon off; worker_processes auto; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
events {{ worker_connections 1024; }}
http {{ access_log off; sendfile on; tcp_nopush on; default_type application/json; keepalive_requests 100000000;
open_file_cache max=100; server {{ listen 127.0.0.1:{port}; root {root}; }} }}
""")
        self.process = subprocess.Popen(["nginx", "-c", conf, "-p", folder], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.5)

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(10)


def microseconds(text):
    value, unit = re.match(r"([\d.]+)(us|ms|s|m)", text).groups()
    return float(value) * {"us": 1, "ms": 1e3, "s": 1e6, "m": 6e7}[unit]


def load(url, seconds, connections=64):
    """(requests a second, p99 in ms) of one round of wrk; anything but 2xx ends it."""
    said = subprocess.run(["wrk", "-t2", f"-c{connections}", f"-d{seconds}s", "--latency", url], capture_output=True, text=True).stdout
    rate, p99 = re.search(r"Requests/sec:\s+([\d.]+)", said), re.search(r"99%\s+([\d.]+(?:us|ms|s|m))", said)
    if "Non-2xx" in said or not rate or not p99:
        sys.exit(f"wrk of {url}:\n{said}")
    return float(rate.group(1)), microseconds(p99.group(1)) / 1e3


def row(name, ours, theirs, size):
    rates = [rate for rate, _ in ours]
    line = f"| {name} | {size:,} | {statistics.median(rates):,.0f} ({min(rates):,.0f} to {max(rates):,.0f}) | {max(p for _, p in ours):.1f} |"
    if theirs:
        other = [rate for rate, _ in theirs]
        ratios = [a / b for a, b in zip(rates, other)]
        line += f" {statistics.median(other):,.0f} | {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f}) |"
    else:
        line += " | |"
    print(line, flush=True)


def busy(server, paths, o):
    """Rates while two jobs run, and what that does to them."""
    print(f"\nWhile two jobs run, p99 in ms of the worst round:\n\n| answer | bytes | requests a second | p99, ms | | |\n| --- | ---: | ---: | ---: | --- | --- |")
    jobs = [server.run(workload(f"busy {i}", list(range(1, 65)))) for i in range(2)]
    time.sleep(2)
    for name, path in paths:
        row(name, [load(server.url + path, o.seconds) for _ in range(o.rounds)], None, len(server.ask(path)))
    for job in reversed(jobs):
        server.ask(f"/api/v1/runs/{job}", method="DELETE")
    time.sleep(1)


def disturbed(server, path, o):
    """The medians of a chain under load over those without, each measured in turn."""
    def measured(under):
        wrk = subprocess.Popen(["wrk", "-t1", "-c64", "-d120s", server.url + path], stdout=subprocess.DEVNULL) if under else None
        report = server.wait(server.run(workload("chain", [30])))["report"]
        if wrk:
            wrk.terminate()
            wrk.wait()
        return report["points"][0]["modes"]["static"]["latency"]["median_us"]

    ratios = []
    for _ in range(o.rounds):
        alone = measured(False)
        ratios.append(measured(True) / alone)
    print(f"\nA chain's static latency under that load over without it: {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")


def main():
    parse = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parse.add_argument("binary")
    parse.add_argument("--rounds", type=int, default=3)
    parse.add_argument("--seconds", type=int, default=4)
    parse.add_argument("--only", default="", help="a part of the names of rows")
    parse.add_argument("--store", help="a folder with a store that an earlier call left (--keep)")
    parse.add_argument("--keep", action="store_true")
    o = parse.parse_args()
    folder = o.store or tempfile.mkdtemp(prefix="breakeven-speed-")
    if not o.store:
        server = Server(os.path.abspath(o.binary), folder)
        for i in range(6):
            server.wait(server.run(workload(f"chain {i}", [1, 5, 10, 20], commit=f"{i:040x}", branch="main", tags=["bench"], project="speed")))
        server.stop()
        multiply(os.path.join(folder, "store.db"), RUNS)
    server = Server(os.path.abspath(o.binary), folder)
    server.settle()
    run = f"/api/v1/runs/{RUNS // 2}"
    asset = re.search(r'/assets/\w+/js/[^"]+\.js', server.ask("/runs").decode()).group(0)
    rows = [("an asset", asset), ("/healthz", "/healthz"), ("a run's summary", run + "?view=summary"), ("a run, whole", run),
            ("a list of 50", "/api/v1/runs?limit=50"), ("the page's list", "/api/v1/runs?fold=1&facets=1"),
            ("the next 50", "/api/v1/runs?limit=50&cursor=5000"), ("the formats", "/api/v1/formats")]
    rows = [(name, path) for name, path in rows if o.only in name]
    nginx_at = tempfile.mkdtemp(prefix="breakeven-nginx-")
    nginx = Nginx(nginx_at, {f"{i}.json": server.ask(path) for i, (_, path) in enumerate(rows)})
    try:
        print("| answer | bytes | requests a second | p99, ms | nginx | ratio |\n| --- | ---: | ---: | ---: | ---: | ---: |")
        for i, (name, path) in enumerate(rows):
            pairs = [(load(server.url + path, o.seconds), load(f"{nginx.url}/{i}.json", o.seconds)) for _ in range(o.rounds)]
            row(name, [a for a, _ in pairs], [b for _, b in pairs], len(server.ask(path)))
        picked = [r for r in rows if "run" in r[0] or "list" in r[0]]
        if picked:
            busy(server, picked, o)
            disturbed(server, picked[0][1], o)
    finally:
        nginx.stop()
        server.stop()
        shutil.rmtree(nginx_at)
        if not o.keep and not o.store:
            shutil.rmtree(folder)
        else:
            print(f"store: {folder}")


if __name__ == "__main__":
    main()
