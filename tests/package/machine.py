"""tests/package/machine.py -- a Debian 12 with systemd as process 1, in namespaces of its own (systemd-nspawn), for trials of what is installed.

It is made by debootstrap once, kept, and copied for each trial.  Needs root."""
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

WITH = "systemd,systemd-sysv,dbus,ca-certificates"
# What the package depends on and recommends (the machine itself reaches no network), and what looks at it.
NEEDED = ["systemd", "libjansson4", "libmicrohttpd12", "libnettle8", "libpcre2-8-0", "libseccomp2", "libsqlite3-0", "libyajl2", "libzstd1", "zlib1g", "gcc", "libc6-dev", "iproute2", "procps"]


def mirror():
    for path in ("/etc/apt/sources.list.d/debian.sources", "/etc/apt/sources.list"):
        if os.path.exists(path):
            for line in pathlib.Path(path).read_text().splitlines():
                words = line.split()
                if words[:1] == ["URIs:"] or (words[:1] == ["deb"] and words[1].startswith("http")):
                    return words[1]
    return "http://deb.debian.org/debian"


def bare(folder, packages=NEEDED, include=WITH):
    """A root by debootstrap, with these packages."""
    folder = pathlib.Path(folder)
    if not (folder / "made").exists():
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run(["debootstrap", "--variant=minbase", f"--include={include}", "bookworm", str(folder), mirror()], check=True, stdout=subprocess.DEVNULL)
        for path in list(pathlib.Path("/etc/apt/apt.conf.d").glob("99*")) + [pathlib.Path("/etc/resolv.conf")]:
            shutil.copy(path, str(folder) + str(path))
        in_root = ["chroot", str(folder), "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive"]
        subprocess.run([*in_root, "apt-get", "update", "-qq"], check=True)
        if packages:
            subprocess.run([*in_root, "apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages], check=True, stdout=subprocess.DEVNULL)
        (folder / "made").touch()
    return folder


class Machine:
    """A copy of a root that was booted; it is gone at the end."""

    def __init__(self, root):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="breakeven-machine-"))
        self.root = self.folder / "root"
        subprocess.run(["cp", "-a", "--reflink=auto", str(root), str(self.root)], check=True)
        self.nspawn = None

    def boot(self):
        self.log = open(self.folder / "console", "ab")
        self.nspawn = subprocess.Popen(["systemd-nspawn", "-q", "-D", str(self.root), "--register=no", "--keep-unit", "--private-network",
                                        "--system-call-filter=landlock_create_ruleset landlock_add_rule landlock_restrict_self", "-b"],
                                       stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        for _ in range(600):
            found = subprocess.run(["pgrep", "-P", str(self.nspawn.pid)], stdout=subprocess.PIPE, text=True).stdout.split()
            self.pid = int(found[0]) if found else 0
            if self.pid and self.run("systemctl", "is-system-running", check=False).strip() in ("running", "degraded"):
                self.run("ip", "link", "set", "lo", "up", check=False)
                return
            if self.nspawn.poll() is not None:
                break
            time.sleep(0.2)
        raise SystemExit(f"the machine did not boot: {(self.folder / 'console').read_text(errors='replace')[-3000:]}")

    def run(self, *words, check=True):
        done = subprocess.run(["nsenter", "-t", str(self.pid), "-m", "-u", "-i", "-n", "-p", "-C", "-r", "-w", "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive", *words],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if check and done.returncode:
            raise AssertionError(f"{' '.join(words)}: {done.returncode}: {done.stdout[-3000:]}")
        return done.stdout

    def ask(self, path, body=None, port=8080):
        """(status, answer) of the server in it."""
        words = ["nsenter", "-t", str(self.pid), "-n", "curl", "--noproxy", "*", "-s", "-w", "\n%{http_code}", f"http://127.0.0.1:{port}{path}"]
        if body is not None:
            words += ["-H", "Content-Type: application/json", "-d", json.dumps(body)]
        text, _, status = subprocess.run(words, stdout=subprocess.PIPE, text=True).stdout.rpartition("\n")
        return int(status), json.loads(text) if text.startswith("{") else text

    def stop(self):
        if self.nspawn and self.nspawn.poll() is None:
            self.nspawn.send_signal(signal.SIGTERM)  # a clean shutdown
            try:
                self.nspawn.wait(60)
            except subprocess.TimeoutExpired:
                self.nspawn.kill()
                self.nspawn.wait()

    def remove(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def until(what, said, seconds=60):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found = what()
        if found:
            return found
        time.sleep(0.2)
    raise AssertionError(f"{said} did not happen within {seconds} s")
