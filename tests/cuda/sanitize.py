"""tests/cuda/sanitize.py PROGRAMS [--recurrent] [--streams TEST] [--tool a,b] -- is compute-sanitizer silent on every recorded program?

    make build/tests/cuda/programs && python3 tests/cuda/sanitize.py build/tests/cuda/programs

--recurrent: the programs of recurrent.py instead (recurrences, state between calls, training; each called several times, in
eager, static, lazy and graphs), under all four tools: memcheck, racecheck, initcheck, synccheck.  --streams
build/tests/test_fusion_streams: that test too under each tool, which has several engines in one process, each with its stream.
Wants an NVIDIA GPU and compute-sanitizer of the CUDA Toolkit.  Starting under it takes seconds, so each process runs
many programs (tests/cuda/programs.c), and as many processes as there are cores run beside each other.  A batch that does
not end is cut short at --limit seconds; what it had run counts, what it had not is named.  Prints a line for each tool: how many
programs ran, how many errors were seen; exits with 1 where a program did not run, or an error was seen.
"""
import argparse
import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "oracle"))
TOOLS = {"memcheck": ["--leak-check", "no"], "racecheck": [], "initcheck": [], "synccheck": []}
PLACES = ["compute-sanitizer", "/usr/local/cuda/bin/compute-sanitizer", "/usr/local/cuda/compute-sanitizer/compute-sanitizer"]


def workload(case, modes):
    if "calls" in case:
        return dict(case, modes=modes)
    made = {"name": case["name"], "source": case["source"], "calls": case["inputs"], "modes": modes, "device": "cuda"}
    made.update({"grad": bool(case.get("grad")), "autocast": case.get("autocast")})
    if "params" in case:
        made["params"] = case["params"]
    return made


def run_batch(tool, options, path, end):
    """Names that ran, errors of the tool, and what it said of them."""
    command = [options.sanitizer, "--tool", tool] + TOOLS[tool] + ["--error-exitcode", "0", options.programs, path, options.cache]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        said, _ = process.communicate(timeout=max(1, end - time.time()))
        whole = True
    except subprocess.TimeoutExpired:
        process.terminate()
        try:
            said, _ = process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            process.kill()
            said, _ = process.communicate()
        whole = False
    ran = re.findall(r"^ran (.*)$", said, re.M)
    failed = re.findall(r"^failed (.*)$", said, re.M)
    counts = [int(n) for n in re.findall(r"(?:ERROR|RACECHECK) SUMMARY: (\d+) (?:error|hazard)", said)]
    lines = [line for line in said.splitlines() if line.startswith("=========") and len(line) > 10 and "SUMMARY" not in line and "COMPUTE-SANITIZER" not in line]
    # Cut short it says no sum: each error begins with a line that is not indented.
    errors = sum(counts) if counts else sum(1 for line in lines if re.match(r"========= [A-Z]", line))
    return {"ran": ran, "failed": failed, "errors": errors, "lines": lines, "whole": whole and bool(counts), "tail": said[-400:]}


def run_streams(tool, options):
    """A C test whole under the tool: whether both are content."""
    begin = time.time()
    command = [options.sanitizer, "--tool", tool] + TOOLS[tool] + ["--error-exitcode", "9", options.streams]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=options.limit)
    except subprocess.TimeoutExpired:
        print(f"{tool}: {options.streams} took over {options.limit:.0f} s")
        return False
    passed = re.search(r"^\[  PASSED  \] (\d+) test", done.stdout, re.M)
    passed = int(passed.group(1)) if passed else 0
    print(f"{tool}: {options.streams}: {passed} tests passed, exit {done.returncode}, {time.time() - begin:.0f} s", flush=True)
    if done.returncode:
        told = [line[:200] for line in done.stdout.splitlines() if line.startswith(("=========", "[  FAILED", "[  ERROR"))]
        print("\n".join(told[:40]))
    return done.returncode == 0 and passed > 0


def run_tool(tool, cases, options, folder):
    end = time.time() + options.limit
    n = max(1, min(len(cases), options.processes))
    paths = []
    for i in range(n):
        paths.append(os.path.join(folder, f"{tool}_{i}.json"))
        with open(paths[-1], "w") as file:
            json.dump([workload(case, options.modes.split(",")) for case in cases[i::n]], file)
    begin = time.time()
    with concurrent.futures.ThreadPoolExecutor(n) as pool:
        found = list(pool.map(lambda path: run_batch(tool, options, path, end), paths))
    ran = {name for f in found for name in f["ran"]}
    errors = sum(f["errors"] for f in found)
    failed = [why for f in found for why in f["failed"]]
    missing = [case["name"] for case in cases if case["name"] not in ran and not any(why.startswith(case["name"] + ":") for why in failed)]
    print(f"{tool}: {len(ran)} of {len(cases)} programs ran in {options.modes}, {errors} errors, {len(failed)} failed, {len(missing)} not reached, {time.time() - begin:.0f} s", flush=True)
    for why in failed:
        print(f"  failed {why[:300]}")
    if missing:
        print(f"  not reached: {' '.join(missing)[:2000]}")
    for f in found:
        if f["lines"] and f["errors"]:
            print("\n".join(line[:200] for line in f["lines"][:40]))
        elif not f["whole"]:
            print(f"  a batch of {len(f['ran'])} ended early: ...{f['tail']}")
    return errors == 0 and not failed and not missing


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("programs")
    parser.add_argument("--tool", help="of " + ", ".join(TOOLS) + " (the first two; all with --recurrent)")
    parser.add_argument("--modes", help="(static,graphs; with --recurrent eager,static,lazy,graphs)")
    parser.add_argument("--recurrent", action="store_true")
    parser.add_argument("--streams", metavar="TEST")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--limit", type=float, default=150, help="seconds for each tool")
    parser.add_argument("--cases", help="a JSON list of recorded programs; else all of tests/oracle")
    options = parser.parse_args()
    options.sanitizer = next((found for found in map(shutil.which, PLACES) if found), None)
    if not options.sanitizer:
        sys.exit("compute-sanitizer was not found: it is part of the CUDA Toolkit")
    options.tool = options.tool or ",".join(TOOLS if options.recurrent else list(TOOLS)[:2])
    options.modes = options.modes or ("eager,static,lazy,graphs" if options.recurrent else "static,graphs")
    if set(options.tool.split(",")) - set(TOOLS):
        sys.exit(f"--tool {options.tool}: of " + ", ".join(TOOLS))
    if options.recurrent:
        import recurrent

        cases = recurrent.workloads(options.modes.split(","))
    elif options.cases:
        with open(options.cases) as file:
            cases = json.load(file)
    else:
        import replay

        with open(os.path.join(HERE, "..", "oracle", "not_covered.txt")) as file:
            listed = {line.split("#")[0].strip() for line in file}
        cases = [case for case in replay.recorded_cases() if case["name"] not in listed]
    # Long sources side by side, not in one batch.
    cases = sorted(cases, key=lambda case: -len(case["source"]))[:: options.every]
    with tempfile.TemporaryDirectory() as folder:
        options.cache = os.path.join(folder, "cache")
        silent = [run_tool(tool, cases, options, folder) for tool in options.tool.split(",")]
    if options.streams:
        silent += [run_streams(tool, options) for tool in options.tool.split(",")]
    return 0 if all(silent) else 1


if __name__ == "__main__":
    sys.exit(main())
