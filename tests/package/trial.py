"""tests/package/trial.py BUILD -- the package of what was built, on a bare Debian 12: it is clean by lintian, installs, its unit serves,
survives restarts, a kill, a reboot, an upgrade and its removal, with what it stored.  Needs root."""
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from machine import Machine, bare, until  # noqa: E402

WORKLOAD = {"name": "packed", "source": "import torch\ndef model(x):\n    return torch.sin(x) * 2 + 1\n", "entry": "model", "seconds": 0.05,
            "calls": [[{"random": {"shape": [64, 64], "dtype": "float32", "kind": "randn", "seed": 1}}]], "modes": ["eager", "static"]}

PACKAGES = "/srv/packages"  # of the machine


def package(build, folder, revision):
    env = {**os.environ, "PACKAGE_REVISION": revision}
    return subprocess.run(["sh", "deploy/package.sh", build, folder], check=True, env=env, stdout=subprocess.PIPE, text=True).stdout.strip()


def serves(machine):
    return until(lambda: machine.ask("/readyz")[0] == 200 if machine.run("systemctl", "is-active", "breakeven", check=False).strip() == "active" else None,
                 "that the unit serves")


def measured(machine):
    status, body = machine.ask("/api/v1/runs", WORKLOAD)
    assert status == 202, (status, body)
    run = until(lambda: (lambda r: r if r["status"] in ("done", "failed") else None)(machine.ask(f"/api/v1/runs/{body['id']}")[1]), "the end of a run", 120)
    assert run["status"] == "done", run["error"]
    assert any((machine.root / "var/cache/breakeven").iterdir()), "gcc compiled its kernels"
    return run


def healthy(machine):
    """What `breakeven doctor` says of the unit that runs: no fault, but that the machine has no time service or the like."""
    for words in (["runuser", "-u", "breakeven", "--"], []):
        checks = {c["name"]: c for c in json.loads(machine.run(*words, "breakeven", "doctor", "--json", check=False))["checks"]}
        assert "/etc/breakeven.conf" in checks["settings"]["said"], checks["settings"]
        assert checks["disk"]["said"].endswith("/var/lib/breakeven") and checks["cache"]["said"] == "/var/cache/breakeven", checks
        for name in ("port", "disk", "cache", "schema", "sandbox", "compiler"):
            assert checks[name]["finding"] == "good", checks[name]
        assert "a server of Breakeven listens" in checks["port"]["said"], checks["port"]
    serves(machine)  # as before: what root looked at is the unit's still


def try_it(machine, first, second):
    said = []
    machine.boot()
    (machine.root / PACKAGES.lstrip("/")).mkdir()
    for deb in (first, second):
        subprocess.run(["cp", deb, str(machine.root / PACKAGES.lstrip("/"))], check=True)
    inside = [f"{PACKAGES}/{os.path.basename(deb)}" for deb in (first, second)]
    machine.run("dpkg", "-i", inside[0])
    serves(machine)
    said.append("installed, the unit serves")
    user = machine.run("ps", "-o", "user=,args=", "-C", "breakeven", check=False).split("\n")
    assert not any(line.startswith("root") for line in user), user
    sandbox = machine.ask("/healthz?full=1")[1]["sandbox"]
    assert sandbox["seccomp"] and sandbox["landlock"] > 0, sandbox
    said.append(f"workers: {sandbox}")
    assert machine.run("systemd-analyze", "verify", "--man=no", "breakeven.service").strip() == "", "the unit is as systemd wants it"
    healthy(machine)
    said.append("systemd-analyze verify finds nothing; the doctor looks with /etc/breakeven.conf, as the unit's user and as root")
    said.append(machine.run("systemd-analyze", "security", "--no-pager", "breakeven").strip().split("\n")[-1].strip())
    run = measured(machine)
    again = lambda: machine.ask(f"/api/v1/runs/{run['id']}")[1]  # noqa: E731
    machine.run("systemctl", "restart", "breakeven")
    serves(machine)
    assert again() == run
    before = machine.run("systemctl", "show", "-P", "MainPID", "breakeven").strip()
    machine.run("kill", "-9", before)
    until(lambda: machine.run("systemctl", "show", "-P", "MainPID", "breakeven").strip() not in (before, "0"), "a new process after kill -9")
    serves(machine)
    assert again() == run
    said.append("restart and kill -9: the run is there, equal")
    machine.stop()
    machine.boot()
    serves(machine)
    assert again() == run
    said.append("reboot: it serves by itself")
    machine.run("dpkg", "-i", inside[1])
    serves(machine)
    assert machine.run("dpkg-query", "-W", "-f", "${Version}", "breakeven").endswith("+b2"), "the second version"
    assert again() == run
    measured(machine)
    said.append("upgrade: the run is there, equal, and another is measured")
    machine.run("dpkg", "-r", "breakeven")
    assert machine.run("systemctl", "is-active", "breakeven", check=False).strip() != "active"
    assert not (machine.root / "usr/bin/breakeven").exists()
    assert (machine.root / "var/lib/breakeven/store.db").exists() and (machine.root / "etc/breakeven.conf").exists()
    machine.run("dpkg", "-i", inside[1])
    serves(machine)
    assert again() == run
    machine.run("dpkg", "-P", "breakeven")
    assert not (machine.root / "etc/breakeven.conf").exists() and not (machine.root / "var/cache/breakeven").exists()
    assert (machine.root / "var/lib/breakeven/store.db").exists()
    said.append("removed: the store and the settings stay; installed again, the run is there; purged: the store stays")
    return said


def main(build):
    bare_root = bare(os.path.join(os.environ.get("BARE", "/var/tmp"), "breakeven-bare-systemd"))
    with tempfile.TemporaryDirectory() as folder:
        first = package(build, folder, "")
        second = package(build, folder, "+b2")
        clean = subprocess.run(["lintian", "--no-cfg", "--allow-root", "--fail-on", "error,warning", first], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if clean.returncode:
            raise SystemExit(f"lintian: {clean.stdout}")
        print(f"lintian: nothing wrong with {os.path.basename(first)}, {os.path.getsize(first)} bytes")
        machine = Machine(bare_root)
        try:
            for line in try_it(machine, first, second):
                print(line)
        except AssertionError:
            print(machine.run("journalctl", "-u", "breakeven", "-n", "40", "--no-pager", check=False), file=sys.stderr)
            raise
        finally:
            machine.remove()


if __name__ == "__main__":
    main(sys.argv[1])
