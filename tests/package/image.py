"""tests/package/image.py BUILD -- deploy/Containerfile, built by buildah on Debian 12 from debootstrap, with what it needs and by apt, and run by
runc: as a user without rights, on a root that is read-only.  Needs root."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from machine import bare, until  # noqa: E402
from trial import WORKLOAD, package  # noqa: E402

USER = 8080


class Images:
    """buildah with a store of its own."""

    def __init__(self, folder):
        self.words = ["buildah", "--root", f"{folder}/images", "--runroot", f"{folder}/run", "--storage-driver", "overlay"]

    def __call__(self, *words):
        done = subprocess.run([*self.words, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if done.returncode:
            raise AssertionError(f"buildah {' '.join(words)}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.stdout.strip()


class Container:
    """A bundle of an image: its root read-only, its user without capabilities, `store` where it keeps what it has."""

    def __init__(self, images, image, folder, store):
        self.name = f"breakeven-trial-{os.getpid()}-{len(os.listdir(folder))}"
        self.bundle = pathlib.Path(folder) / self.name
        self.bundle.mkdir()
        self.config = json.loads(images("inspect", "--type", "image", image))["Docker"]["config"]
        self.root = images("mount", images("from", "--pull-never", image))
        subprocess.run(["runc", "spec"], cwd=self.bundle, check=True)
        spec = json.loads((self.bundle / "config.json").read_text())
        spec["root"] = {"path": self.root, "readonly": True}
        user, _, group = self.config["User"].partition(":")
        spec["process"].update({"terminal": False, "user": {"uid": int(user), "gid": int(group)}, "cwd": self.config["WorkingDir"], "env": self.config["Env"],
                                "noNewPrivileges": True, "capabilities": {kind: [] for kind in ("bounding", "effective", "inheritable", "permitted", "ambient")}})
        spec["mounts"] += [{"destination": "/tmp", "type": "tmpfs", "source": "tmpfs", "options": ["nosuid", "nodev", "size=256m", "mode=1777"]},
                           {"destination": "/var/lib/breakeven", "type": "bind", "source": str(store), "options": ["rbind", "rw"]}]
        self.spec = spec

    def start(self, words=None, mounts=()):
        spec = json.loads(json.dumps(self.spec))
        spec["process"]["args"] = self.config["Entrypoint"] + (words or self.config["Cmd"])
        spec["mounts"] += [{"destination": to, "type": "bind", "source": os.path.abspath(at), "options": ["bind", "ro"]} for at, to in mounts]
        (self.bundle / "config.json").write_text(json.dumps(spec))
        self.log = open(self.bundle / "log", "w+")
        self.process = subprocess.Popen(["runc", "run", "-b", str(self.bundle), self.name], stdout=subprocess.PIPE, stderr=self.log, text=True)
        return self

    def ends(self):
        """What it printed."""
        out, _ = self.process.communicate(timeout=120)
        self.log.seek(0)
        assert self.process.returncode == 0, out + self.log.read()
        return out

    def run(self, *words):
        return subprocess.run(["runc", "exec", self.name, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def pid(self):
        return json.loads(subprocess.run(["runc", "state", self.name], check=True, stdout=subprocess.PIPE, text=True).stdout)["pid"]

    def ask(self, path, token, body=None):
        words = ["nsenter", "-t", str(self.pid()), "-n", "curl", "--noproxy", "*", "-s", "-w", "\n%{http_code}", "-H", f"Authorization: Bearer {token}", f"http://127.0.0.1:8080{path}"]
        if body is not None:
            words += ["-H", "Content-Type: application/json", "-d", json.dumps(body)]
        text, _, status = subprocess.run(words, stdout=subprocess.PIPE, text=True).stdout.rpartition("\n")
        return int(status or 0), json.loads(text) if text.startswith("{") else text

    def stop(self):
        subprocess.run(["runc", "kill", self.name, "TERM"], check=True)
        return self.process.wait(60)


def serve(images, folder, store):
    token = Container(images, "breakeven", folder, store).start(["token", "add", "me", "--scope", "admin"]).ends().strip()
    one = Container(images, "breakeven", folder, store).start()
    try:
        until(lambda: one.process.poll() is None and one.run("true").returncode == 0 and one.ask("/readyz", token)[0] == 200, "that it serves")
    except AssertionError:
        one.log.seek(0)
        raise AssertionError(one.log.read()) from None
    status, body = one.ask("/api/v1/runs", token, WORKLOAD)
    assert status == 202, (status, body)
    run = until(lambda: (lambda r: r if r["status"] in ("done", "failed") else None)(one.ask(f"/api/v1/runs/{body['id']}", token)[1]), "the end of a run", 120)
    assert run["status"] == "done", run["error"]
    assert one.ask("/api/v1/runs", "none")[0] == 401
    owner = os.stat(f"/proc/{one.pid()}")
    assert owner.st_uid == USER, owner
    wrote = one.run("touch", "/usr/bin/x")
    assert wrote.returncode and "Read-only file system" in wrote.stdout, wrote
    healthy = one.config["Healthcheck"]["Test"]
    assert healthy[0] == "CMD" and one.run(*healthy[1:]).returncode == 0, one.run(*healthy[1:])
    assert one.run(*[word.replace("8080", "8081") for word in healthy[1:]]).returncode != 0
    sandbox = one.ask("/healthz?full=1", token)[1]["sandbox"]
    assert sandbox["landlock"] > 0 and sandbox["seccomp"], sandbox
    assert one.stop() == 0
    again = Container(images, "breakeven", folder, store).start()
    until(lambda: again.run("true").returncode == 0 and again.ask("/readyz", token)[0] == 200, "that it serves again")
    assert again.ask(f"/api/v1/runs/{run['id']}", token)[1] == run
    assert again.stop() == 0
    return sandbox


def base_image(images, folder, root, name):
    """An image of a root that debootstrap made."""
    base = images("from", "scratch")
    subprocess.run(["tar", "-C", str(root), "--exclude=./made", "-cf", str(folder / "base.tar"), "."], check=True)
    images("add", base, str(folder / "base.tar"), "/")
    images("commit", "--rm", base, name)
    (folder / "base.tar").unlink()


def context_of(build, folder):
    """The package, and what stands for the libraries of the CUDA Toolkit."""
    context = folder / "context"
    (context / "cuda").mkdir(parents=True)
    package(build, str(context), "")
    cuda = pathlib.Path(build, "tests/cuda")
    for library in list(cuda.glob("lib[!c]*.so*")) + list(cuda.glob("libcublas.so*")) + list((cuda / "nvrtc").glob("*.so*")):
        shutil.copy(library, context / "cuda")
    return context


def try_cuda(images, build, bundles, store):
    def backends(image, mounts):
        said = Container(images, image, bundles, store).start(["backends", "--json"], mounts).ends()
        return {b["name"]: b for b in json.loads(said)["backends"]}

    assert not backends("breakeven", [])["cuda"]["available"]
    driver = pathlib.Path(build, "tests/cuda/libcuda.so.1")
    if not driver.exists():
        return "built; not run, as there are no headers of the CUDA Toolkit to build the stand-ins with"
    without = backends("breakeven-cuda", [])["cuda"]
    assert not without["available"] and "driver" in without["why_not"], without
    cuda = backends("breakeven-cuda", [(str(driver), "/usr/lib/x86_64-linux-gnu/libcuda.so.1")])["cuda"]
    assert cuda["available"], cuda
    return "backend cuda works once the host gives it a driver (a stand-in)"


def main(build):
    place = os.environ.get("BARE", "/var/tmp")
    # One that has what the package needs, so that nothing is got; and Debian's own, where apt gets it.
    bases = {"localhost/breakeven-base": bare(os.path.join(place, "breakeven-bare-systemd")),
             "localhost/debian:12-slim": bare(os.path.join(place, "breakeven-bare-slim"), packages=[], include="ca-certificates")}
    folder = pathlib.Path(tempfile.mkdtemp(prefix="breakeven-image-", dir=place))
    images = Images(folder)
    try:
        bundles, context = folder / "bundles", context_of(build, folder)
        bundles.mkdir()
        for base, root in bases.items():
            base_image(images, folder, root, base)
            for target, name in (("cpu", "breakeven"), ("cuda", "breakeven-cuda")):
                images("bud", "--isolation", "chroot", "--format", "docker", "--pull-never", "--build-arg", f"BASE={base}", "--target", target,
                       "-f", "deploy/Containerfile", "-t", name, str(context))
            store = folder / ("store of " + base.replace("/", " "))
            store.mkdir()
            os.chown(store, USER, USER)
            print(f"{base}, without CUDA: as user {USER} without capabilities on a read-only root it serves, measures, is healthy and goes on; workers: {serve(images, bundles, store)}")
            print(f"{base}, with CUDA: {try_cuda(images, build, bundles, store)}")
    finally:
        for words in (["umount", "--all"], ["rm", "--all"], ["rmi", "--all", "--force"]):
            subprocess.run([*images.words, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main(sys.argv[1])
