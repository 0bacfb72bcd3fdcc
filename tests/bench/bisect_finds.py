"""tests/bench/bisect_finds.py [BINARY] -- how often does `breakeven bisect` name the commit that made a program slower?

    python3 tests/bench/bisect_finds.py [build/breakeven] [--tries 20] [--commits 64] [--slower 1.08] [--metric wall] [--ms 30] [--rounds 200] [--seed 1] [--keep FOLDER]

Each try makes a repository of so many commits, of which one, drawn at random, makes a C program that
computes for about --ms milliseconds so many times slower, and bisects it.  Prints a line a try: whether
that commit was named, in how many steps, rounds and seconds; then how many were.  Asserts nothing.
"""
import argparse
import json
import os
import random
import statistics
import subprocess
import tempfile
import time

PROGRAM = """#include <stdio.h>
int main(void) { volatile unsigned x = 1; for (long i = 0; i < %dL; i++) x = x * 1664525u + 1013904223u; return x == 0; }
"""
NAMES = ["-c", "user.name=Bench", "-c", "user.email=bench@example.org"]


def loops_a_ms(folder):
    """How many turns of the loop take a millisecond of a core here."""
    source, program = os.path.join(folder, "speed.c"), os.path.join(folder, "speed")
    with open(source, "w", encoding="utf-8") as file:
        file.write(PROGRAM % 20_000_000)
    subprocess.run(["cc", "-O1", "-o", program, source], check=True)
    began = os.times().children_user
    subprocess.run([program], check=True)
    return 20_000_000 / (os.times().children_user - began) / 1e3


def make_repository(folder, loops, commits, slow_at, slower):
    def git(*words):
        subprocess.run(["git", *NAMES, "-C", folder, *words], check=True, stdout=subprocess.DEVNULL)

    subprocess.run(["git", "init", "-q", folder], check=True)
    for i in range(commits + 1):
        with open(os.path.join(folder, "work.c"), "w", encoding="utf-8") as file:
            file.write(f"/* {i} */\n" + PROGRAM % round(loops * (slower if i >= slow_at else 1)))
        git("add", ".")
        git("commit", "-q", "-m", f"Change {i}")


def main():
    parse = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parse.add_argument("binary", nargs="?", default="build/breakeven")
    parse.add_argument("--tries", type=int, default=20)
    parse.add_argument("--commits", type=int, default=64)
    parse.add_argument("--slower", type=float, default=1.08)
    parse.add_argument("--metric", default="wall")
    parse.add_argument("--ms", type=float, default=30)
    parse.add_argument("--rounds", type=int, default=200, help="of a commit, as the command has it")
    parse.add_argument("--seed", type=int, default=1)
    parse.add_argument("--keep", help="a folder for the logs")
    args = parse.parse_args()
    draw, found, steps, seconds = random.Random(args.seed), 0, [], []
    for i in range(args.tries):
        with tempfile.TemporaryDirectory() as home:
            folder, slow_at = os.path.join(home, "repository"), draw.randint(1, args.commits)
            make_repository(folder, loops_a_ms(home) * args.ms, args.commits, slow_at, args.slower)
            begin = time.monotonic()
            done = subprocess.run([os.path.abspath(args.binary), "bisect", "--repo", folder, f"HEAD~{args.commits}", "HEAD", "--json", "--rounds", str(args.rounds),
                                   "--metric", args.metric, "--build", "cc -O1 -o work work.c", "--", "./work"], capture_output=True, text=True)
            took = time.monotonic() - begin
        log = json.loads(done.stdout) if done.stdout else {"state": done.stderr[-200:], "suspects": [], "steps": [], "rounds": {"good": []}}
        if args.keep:
            with open(os.path.join(args.keep, f"{args.seed}-{i + 1}.json"), "w", encoding="utf-8") as file:
                json.dump({"slow_at": slow_at, **log}, file)
        right = [c["subject"] for c in log["suspects"]] == [f"Change {slow_at}"]
        rounds = len(log["rounds"]["good"]) + sum(len(s["rounds"]["good"]) for s in log["steps"])
        found += right
        steps.append(len(log["steps"]))
        seconds.append(took)
        named = ", ".join(c["subject"] for c in log["suspects"]) or "none"
        print(f"try {i + 1}: change {slow_at}: {'found' if right else 'NOT found: ' + log['state'] + ', ' + named} in {len(log['steps'])} steps, {rounds} rounds, {took:.0f} s; "
              f"{log.get('ratio') or float('nan'):.3f}x", flush=True)
    print(f"{found} of {args.tries} found; at most {max(steps)} steps; {statistics.median(seconds):.0f} s a bisection (at most {max(seconds):.0f})")


main()
