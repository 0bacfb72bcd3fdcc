"""tests/import/ranks_tables.py TRACE... -- the tables of HolisticTraceAnalysis for traces of torch.profiler, computed by its
definitions alone and without Breakeven: temporal breakdown, overlap, idle time by stream, kernels by kind, queue length.

A list of JSON, one for each file; times in microseconds, as the files have them (it rounds those to whole ones unless
HTA_DISABLE_NS_ROUNDING is set).  Slow and plain on purpose: it is what the C code is held against.
"""
import collections
import gzip
import itertools
import json
import re
import sys

KINDS = ("COMPUTATION", "COMMUNICATION", "MEMORY")
LAUNCHES = re.compile(r"(cuda|cu|hip)?(LaunchKernel(ExC|Ex)?|MemcpyAsync|MemsetAsync)$")


def kind(name):
    if re.match(r"nccl.*Kernel", name):
        return "COMMUNICATION"
    return "MEMORY" if re.match(r"Memcpy|Memset", name) else "COMPUTATION"


def events_of(path):
    with (gzip.open if path.endswith(".gz") else open)(path, "rt") as file:
        trace = json.load(file)
    spans = [e for e in trace["traceEvents"] if e.get("ph") == "X" and "dur" in e and e.get("cat") != "Trace"]
    host = [e for e in spans if e["cat"] in ("cpu_op", "user_annotation", "cuda_runtime", "cuda_driver")]
    device = [e for e in spans if e["cat"] in ("kernel", "gpu_memcpy", "gpu_memset")]
    steps = [e for e in spans if e["name"].startswith("ProfilerStep")]  # of the host, and of the device
    if len({e["name"] for e in steps}) > 1:  # the last is cut off: what was launched after its beginning is left out
        last = max(e["ts"] for e in steps)
        host = [e for e in host if e["ts"] < last]
        known = {e["args"]["correlation"] for e in host if "correlation" in e.get("args", {})}
        device = [e for e in device if e["args"].get("correlation") in known]
    return trace, host, sorted(device, key=lambda e: e["ts"])


def merged(spans):
    out = []
    for start, end in sorted(spans):
        if out and start <= out[-1][1]:
            out[-1][1] = max(out[-1][1], end)
        else:
            out.append([start, end])
    return out


def length(spans):
    return sum(b - a for a, b in spans)


def span(e):
    return e["ts"], e["ts"] + e["dur"]


def overlap(a, b):
    """Of two merged lists: each piece of the one against the other."""
    return sum(max(0, min(x[1], y[1]) - max(x[0], y[0])) for x in a for y in b if x[0] < y[1] and y[0] < x[1])


def gaps(events, launched):
    out = collections.Counter()
    for before, e in zip(events, events[1:]):
        end = before["ts"] + before["dur"]
        gap = e["ts"] - end
        at = launched.get(e["args"].get("correlation"))
        out["host_wait" if at is not None and at > end else "kernel_wait" if gap < 30 else "other"] += gap
    return out


def queue(events, calls):
    edges = []
    for e in events:
        call = calls.get(e["args"].get("correlation"))
        if call and LAUNCHES.match(call["name"]):
            edges += [(call["ts"], -1), (e["ts"], 1)]  # of equal times the launch first
    lengths = list(itertools.accumulate(-step for _, step in sorted(edges)))
    return {"max": max(lengths, default=0), "mean": sum(lengths) / len(lengths) if lengths else 0}


def launches(device, calls):
    """What is short, long or late (launch statistics)."""
    pairs = [(e, calls[e["args"]["correlation"]]) for e in device if e["args"].get("correlation") in calls]
    pairs = [(e, c) for e, c in pairs if LAUNCHES.match(c["name"])]
    return {"launches": len(pairs), "short_kernels": sum(e["dur"] < c["dur"] for e, c in pairs), "long_launches": sum(c["dur"] > 50 for _, c in pairs),
            "late_starts": sum(e["ts"] - c["ts"] - c["dur"] > 100 for e, c in pairs)}


def tables(path):
    trace, host, device = events_of(path)
    by_kind = {k: merged(span(e) for e in device if kind(e["name"]) == k) for k in KINDS}
    busy = merged(span(e) for e in device)
    total = busy[-1][1] - busy[0][0]
    calls = {}
    for e in host:
        if e["cat"] in ("cuda_runtime", "cuda_driver") and "correlation" in e.get("args", {}):
            calls.setdefault(e["args"]["correlation"], e)
    streams = collections.defaultdict(list)
    for e in device:
        streams[e["args"]["stream"]].append(e)
    launched = {c: e["ts"] for c, e in calls.items()}
    both = overlap(by_kind["COMPUTATION"], by_kind["COMMUNICATION"])
    names = collections.defaultdict(list)
    for e in device:
        names[e["name"]].append(e["dur"])
    return {
        "rank": trace["distributedInfo"]["rank"], "kernel_time": total, "idle_time": total - length(busy),
        "compute_time": length(by_kind["COMPUTATION"]), "non_compute_time": length(busy) - length(by_kind["COMPUTATION"]),
        "communication_time": length(by_kind["COMMUNICATION"]), "overlap_time": both,
        "overlap": both / length(by_kind["COMMUNICATION"]) if by_kind["COMMUNICATION"] else None,
        "idle": {str(s): gaps(events, launched) for s, events in streams.items()},
        **launches(device, calls),
        "queue": {str(s): queue(events, calls) for s, events in streams.items()},
        "kernels": {n: {"sum": sum(d), "max": max(d), "min": min(d), "count": len(d)} for n, d in names.items()},
    }


if __name__ == "__main__":
    json.dump([tables(path) for path in sys.argv[1:]], sys.stdout)
