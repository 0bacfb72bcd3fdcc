#!/usr/bin/env python3
"""tests/hosts/slurm.py BREAKEVEN [--workloads N] [--keep] -- runs of a server on a real Slurm: `make trial-slurm`.

A sweep; a recorded step of two tasks; a run that is cancelled here; one whose job somebody ends there; one that is requeued; a server that is killed meanwhile; a suite as
an array over four nodes, two of which fall: every workload is done once.  As root, with Debian's munge, slurmctld, slurmd and slurm-client.
"""
import argparse
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.dirname(__file__))
import cluster  # noqa: E402

SOURCE = "import torch\n\ndef model(x):\n    y = x\n    ...\n    return y.sum()\n"
SWEEP = {"statements": {"pool": ["    y = torch.relu(y) * 1.5".strip(), "y = y + x"], "counts": [1, 5, 10]}}


def workload(name, **more):
    return {"name": name, "source": "def model(x):\n    return (x * 2).relu().sum()\n", "calls": [[{"random": {"shape": [256], "dtype": "float32"}}]],
            "seconds": 0.05, "host": "cluster", **more}


def sweep(name, seconds):
    return workload(name, source=SOURCE, sweep=SWEEP, seconds=seconds)


class Server:
    def __init__(self, binary, folder, port, environment):
        self.binary, self.folder, self.port, self.environment = binary, folder, port, environment
        self.url = f"http://127.0.0.1:{port}"
        self.db = os.path.join(folder, "store.db")

    def start(self):
        log = open(os.path.join(self.folder, "serve.log"), "ab")
        self.process = subprocess.Popen([self.binary, "serve", "--listen", f"127.0.0.1:{self.port}", "--db", self.db, "--cache", os.path.join(self.folder, "cache"),
                                         "--hosts", os.path.join(self.folder, "hosts.json")], stdout=log, stderr=log, env=self.environment)
        wait(lambda: self.answers(), "the server")

    def answers(self):
        try:
            return self.ask("GET", "/livez", base="") is not None
        except OSError:
            return False

    def ask(self, method, path, body=None, base="/api/v1"):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + base + path, data, {"Content-Type": "application/json"} if data else {}, method=method)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)

    def post(self, body):
        return self.ask("POST", "/runs", body)["id"]

    def run(self, run):
        return self.ask("GET", f"/runs/{run}")

    def ended(self, run):
        return self.run(run)["status"] in ("done", "failed", "cancelled")


def wait(fn, what, seconds=300):
    until = time.time() + seconds
    while not fn():
        if time.time() > until:
            raise TimeoutError(f"{what}: nothing after {seconds} s")
        time.sleep(0.3)


class Trial:
    def __init__(self, slurm, server, workloads):
        self.slurm, self.server, self.workloads, self.failed = slurm, server, workloads, []

    def hold(self, what, true, seen=""):
        print(f"{'ok  ' if true else 'FAIL'}  {what}" + (f": {seen}" if seen != "" else ""), flush=True)
        if not true:
            self.failed.append(what)

    def job_of(self, run):
        for host in self.server.ask("GET", "/hosts")["hosts"]:
            for job in host["jobs"]:
                if job["run"] == run:
                    return job.get("job")
        return None

    def running(self, run):
        return self.server.run(run)["status"] == "running"

    def a_sweep(self):
        run = self.server.post(sweep("sweep", 0.05))
        wait(lambda: self.server.ended(run), "the sweep")
        got = self.server.run(run)
        self.hold("a sweep on Slurm is done, with its points", got["status"] == "done" and [p["n"] for p in got["report"]["points"]] == [1, 5, 10], got["error"] or got["status"])

    def a_recorded_step(self):
        """srun breakeven trace: a task on each of two nodes, with a CUPTI and a driver that stand for real ones."""
        cupti = os.path.join(os.path.dirname(self.server.binary), "tests", "cupti")
        if not os.path.exists(os.path.join(cupti, "driver")):
            print("      skipped: a recorded step (no headers of the CUDA Toolkit here)")
            return
        words = f"CUPTI_FAKE_KERNELS=$((100 + SLURM_PROCID)) exec {self.server.binary} trace --post {self.server.url} --name step --cupti {cupti}/libcupti_fake.so -- {cupti}/driver 0"
        answer = self.slurm.call("srun", "--ntasks=2", "--nodes=2", "--cpus-per-task=1", f"--chdir={self.server.folder}", "sh", "-c", words)
        runs = [r for r in self.server.ask("GET", "/runs?q=step")["runs"] if r["name"] == "step"]
        self.hold("two tasks of srun are one run", answer.returncode == 0 and len(runs) == 1 and runs[0]["status"] == "done", answer.stderr[-600:] if answer.returncode or len(runs) != 1 else runs[0]["id"])
        got = self.server.run(runs[0]["id"])["report"]["trace"]["processes"] if runs else []
        self.hold("with a lane for each rank", [(p["rank"], p["kernels"]) for p in got] == [(0, 100), (1, 101)], [(p["rank"], p["kernels"]) for p in got])

    def cancelled_here(self):
        run = self.server.post(sweep("long", 20))
        wait(lambda: self.running(run), "a long run")
        job = self.job_of(run)
        self.server.ask("DELETE", f"/runs/{run}")
        status = self.server.run(run)["status"]
        wait(lambda: self.slurm.jobs().get(job, "gone") not in ("RUNNING", "COMPLETING", "PENDING"), "its job ends")
        self.hold("a run that is cancelled here ends its job", status == "cancelled", f"{status}, {self.slurm.jobs().get(job)}")

    def cancelled_waiting(self):
        self.slurm.call("scontrol", "update", "PartitionName=main", "State=DOWN")
        run = self.server.post(workload("waits"))
        wait(lambda: self.job_of(run), "a job that waits")
        job = self.job_of(run)
        said = [j for h in self.server.ask("GET", "/hosts")["hosts"] for j in h["jobs"] if j["run"] == run][0]
        self.server.ask("DELETE", f"/runs/{run}")
        wait(lambda: self.slurm.jobs().get(job, "gone") not in ("RUNNING", "COMPLETING", "PENDING"), "its job ends")
        self.slurm.call("scontrol", "update", "PartitionName=main", "State=UP")
        self.hold("one that waits, too", self.server.run(run)["status"] == "cancelled", f"{self.slurm.jobs().get(job)}; Slurm said {said.get('said')}")

    def cancelled_there(self):
        run = self.server.post(sweep("ended there", 20))
        wait(lambda: self.running(run), "a long run")
        self.slurm.call("scancel", self.job_of(run))
        wait(lambda: self.server.ended(run), "the run of a job that was ended")
        got = self.server.run(run)
        self.hold("a run whose job is ended there is cancelled, and says so", got["status"] == "cancelled" and "CANCELLED" in (got["error"] or {}).get("message", ""), got["error"])

    def requeued(self):
        run = self.server.post(sweep("again", 2))
        wait(lambda: self.running(run), "a run")
        answer = self.slurm.call("scontrol", "requeue", self.job_of(run))
        wait(lambda: self.server.ended(run), "a run that is requeued")
        got = self.server.run(run)
        self.hold("a run whose job is requeued is done by its second process", got["status"] == "done" and got["attempts"] == 2, f"{got['status']}, {got['attempts']} processes{answer.stderr}")

    def server_killed(self):
        run = self.server.post(sweep("goes on", 3))
        wait(lambda: self.running(run), "a run")
        self.server.process.send_signal(signal.SIGKILL)
        self.server.process.wait()
        time.sleep(2)
        self.server.start()
        wait(lambda: self.server.ended(run), "the run of a server that was killed")
        got = self.server.run(run)
        self.hold("a run outlives its server", got["status"] == "done" and got["attempts"] == 1, f"{got['status']}, {got['attempts']} process, {got['error']}")

    def suite(self):
        body = {"name": "array", "host": "cluster", "seconds": 0.3, "modes": ["eager", "static"], "policy": "dynamo", "workloads": [{k: v for k, v in workload(f"w{i}").items() if k not in ("host", "seconds")} for i in range(self.workloads)]}
        suite = self.server.ask("POST", "/suites", body)["id"]
        wait(lambda: self.server.ask("GET", f"/suites/{suite}")["runs"]["running"] >= 3, "runs of the suite")
        first = [job.get("job", "") for host in self.server.ask("GET", "/hosts")["hosts"] for job in host["jobs"]]
        arrays = {job.split("_")[0] for job in first if "_" in job}
        for node in self.slurm.nodes[:2]:
            self.slurm.kill_node(node)
            print(f"      {node} fell; {self.server.ask('GET', f'/suites/{suite}')['runs']}", flush=True)
        wait(lambda: sum(self.server.ask("GET", f"/suites/{suite}")["runs"][s] for s in ("queued", "running")) == 0, "the suite", 900)
        counts = self.server.ask("GET", f"/suites/{suite}")["runs"]
        with sqlite3.connect(f"file:{self.server.db}?mode=ro", uri=True) as db:
            names = [row[0] for row in db.execute("SELECT name FROM run JOIN suite_run ON suite_run.run = run.id JOIN report ON report.run = run.id WHERE suite = ? AND status = 'done'", (suite,))]
            tries = [row[0] for row in db.execute("SELECT attempts FROM run JOIN suite_run ON suite_run.run = run.id WHERE suite = ?", (suite,))]
        self.hold(f"a suite of {self.workloads} goes as one array", len(arrays) == 1, ", ".join(sorted(arrays)))
        self.kept(body, suite)
        self.hold("two nodes fall, and each workload is done once", counts["done"] == self.workloads and sorted(names) == sorted(f"w{i}" for i in range(self.workloads)), f"{counts}, {sum(t > 1 for t in tries)} of them by a second process")

    def kept(self, body, suite):
        """The same again, with two programs changed: the array has these alone."""
        for changed in body["workloads"][:2]:
            changed["source"] += "\n# changed\n"
        made = self.server.ask("POST", "/suites", {**body, "commit": "another"})
        wait(lambda: sum(self.server.ask("GET", f"/suites/{made['id']}")["runs"][s] for s in ("queued", "running")) == 0, "the suite that keeps runs", 300)
        got = self.server.ask("GET", f"/suites/{made['id']}")
        self.hold("a suite keeps what has not changed, and hands over the rest", (made["kept"], made["runs"], got["runs"]["done"]) == (self.workloads - 2, 2, 2) and got["report"]["common"]["n"] == self.workloads, f"{made}, {got['runs']}, {got['report']['common']} of suite {suite}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--workloads", type=int, default=40)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    lacks = cluster.missing()
    if lacks:
        print(f"skipped: hosts on a real Slurm (missing: {', '.join(lacks)})\n0 passed, 0 failed, 1 skipped")
        return 0
    folder = tempfile.mkdtemp(prefix="breakeven-slurm-")
    slurm = cluster.Cluster(os.path.join(folder, "slurm"))
    os.mkdir(slurm.folder)
    port = cluster.free_port()
    server = Server(os.path.abspath(options.binary), folder, port, slurm.environment)
    trial = Trial(slurm, server, options.workloads)
    with open(os.path.join(folder, "hosts.json"), "w") as f:
        json.dump({"hosts": {"cluster": {"executor": "slurm", "title": "four nodes", "server": server.url, "program": server.binary, "output": folder, "time": "00:20:00"}}}, f)
    steps = ("a_sweep", "a_recorded_step", "cancelled_here", "cancelled_waiting", "cancelled_there", "requeued", "server_killed", "suite")
    try:
        slurm.start()
        server.start()
        for step in steps:
            if not options.only or step in options.only.split(","):
                getattr(trial, step)()
    except (TimeoutError, urllib.error.HTTPError) as problem:
        trial.hold("the trial ends", False, problem.read().decode() if isinstance(problem, urllib.error.HTTPError) else problem)
        with open(os.path.join(folder, "serve.log"), errors="replace") as f:
            print("".join(f.readlines()[-20:]), slurm.tail())
    finally:
        if getattr(server, "process", None):
            server.process.terminate()
            server.process.wait(30)
        slurm.stop()
        if options.keep:
            print(folder)
        else:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{'held' if not trial.failed else 'did not hold'}: runs on a real Slurm")
    return 1 if trial.failed else 0


if __name__ == "__main__":
    sys.exit(main())
