"""tests/bench/ranks_trial.py BREAKEVEN [--ranks N] [--mb M] [--job FOLDER] -- a job of N ranks of M MB each with their compile logs, one of which computes longer,
one of which runs two collectives in the other order, and one of which compiled another graph: imported into a server of its own, and opened.

Prints seconds and memory of the import, and what the run, its page Ranks and its whole timeline take to open; fails where the
import holds more than 400 MB, the run takes more than 2 s to open, or what was planted is not named.  --job: it is there, made by
this before, or made there and kept.
"""
import argparse
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

MOST_MB, MOST_S = 400, 2


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def get(url):
    began = time.monotonic()
    with urllib.request.urlopen(url) as answer:
        body = answer.read()
    return body, time.monotonic() - began


def wait_for(url):
    for _ in range(200):
        try:
            return get(url + "/healthz")
        except OSError:
            time.sleep(0.05)
    raise SystemExit("the server does not answer")


def processor_s():
    """Of the children that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main():
    p = argparse.ArgumentParser()
    p.add_argument("breakeven")
    p.add_argument("--ranks", type=int, default=8)
    p.add_argument("--mb", type=float, default=100)
    p.add_argument("--job", default="")
    args = p.parse_args()
    late, swapped, other = args.ranks // 2, args.ranks - 1, args.ranks // 4
    with tempfile.TemporaryDirectory(prefix="breakeven-ranks-") as folder:
        job = args.job or os.path.join(folder, "job")
        if not os.path.exists(job):
            maker = os.path.join(os.path.dirname(__file__), "ranks_job.py")
            subprocess.run([sys.executable, maker, job, "--ranks", str(args.ranks), "--mb", str(args.mb), "--straggler", str(late),
                            "--swap", f"{swapped}:100", "--diverge", str(other)], stdout=subprocess.DEVNULL, check=True)
        made = sum(e.stat().st_size for e in os.scandir(job))
        url = f"http://127.0.0.1:{free_port()}"
        server = subprocess.Popen([args.breakeven, "serve", "--listen", url[7:], "--db", os.path.join(folder, "store.db")],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_for(url)
            began, before = time.monotonic(), processor_s()
            subprocess.run([args.breakeven, "import", job, "--post", url], check=True, stdout=subprocess.DEVNULL)
            took, worked = time.monotonic() - began, processor_s() - before
            used = resource.getrusage(resource.RUSAGE_CHILDREN)
            body, opened = get(f"{url}/api/v1/runs/1")
            page, _ = get(f"{url}/runs/1/ranks")
            whole, drawn = get(f"{url}/api/v1/runs/1/timeline?px=1200")
        finally:
            server.terminate()
            server.wait()
        stored = os.path.getsize(os.path.join(folder, "store.db"))
    ranks = json.loads(body)["report"]["import"]["ranks"]
    last = max(ranks["ranks"], key=lambda r: r["caused_us"])
    # The generator is a child too, a small one.
    mb = used.ru_maxrss / 1024
    print(f"{args.ranks} ranks of {made / args.ranks / 1e6:.0f} MB: imported in {took:.1f} s, {worked:.1f} s of them of processor time, at most {mb:.0f} MB resident, "
          f"{stored / 1e6:.0f} MB stored; the run opens in {opened:.2f} s ({len(body) / 1e3:.0f} kB), its whole timeline in {drawn:.1f} s "
          f"({len(whole) / 1e6:.1f} MB)")
    wrong = [text for text, holds in [
        (f"the import held {mb:.0f} MB", mb <= MOST_MB), (f"the run opened in {opened:.2f} s", opened <= MOST_S),
        (f"rank {last['rank']} is called late, not {late}", last["rank"] == late),
        (f"what rank {swapped} swapped is not named: {ranks['divergences'][:2]}",
         any(d["ranks"] == [swapped] and d["index"] == 100 for d in ranks["divergences"])),
        *[(f"the {what} of rank {other}'s [0/1] is not named: {ranks['divergences'][:4]}",
           any(d["kind"] == kind and d["ranks"] == [other] and d["compile"] == "0/1" for d in ranks["divergences"]))
          for kind, what in [("graph", "other graph"), ("collective", "other order of collectives")]],
        ("the page is empty", b"<main" in page)] if not holds]
    print("\n".join(wrong) if wrong else "held")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
