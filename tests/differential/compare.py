"""Do two runs of a program show the same?  Values as in reports: {"tensor": ...}, {"value": ...}, ..."""
import json
import math
import re

import differences

# Relative to the largest number of a tensor.  What rounding does to a sum may differ by mode.
TOLERANCE = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 3e-5, "float64": 1e-9}
NUMBER = re.compile(r"-?\d+\.\d*(?:e[-+]?\d+)?|-?\d+(?:e[-+]?\d+)?|\bnan\b|\binf\b")


# Where a program rounds to a dtype: it says so, or makes tensors of the default one.
ROUNDS = {
    "float16": r"float16|\.half\(",
    "bfloat16": r"bfloat16",
    "float32": r"float32|\.float\(|\bnn\.[A-Z]|torch\.(zeros|ones|rand|randn|full|linspace|tensor|empty|eye)\(",
}


class Slack(float):
    """How many times the tolerance, and what each dtype is allowed at `least`."""

    least = 0.0


def slack_of(workload, loose):
    """What a wider dtype holds may have been rounded to another dtype on its way."""
    made = Slack(loose)
    made.least = max((TOLERANCE[d] for d in rounded_to(workload)), default=0.0)
    return made


def rounded_to(workload):
    """The dtypes that its numbers may be rounded to: those of the program, its calls and the block around them."""
    given = json.dumps([workload["calls"], workload.get("autocast")])
    return [d for d, text in ROUNDS.items() if f'"{d}"' in given or re.search(text, workload["source"])]


# Relative: how far a number moves that is rounded to a dtype.
STEP = {"float64": 1e-12, "float32": 2e-7, "float16": 2.0**-11, "bfloat16": 2.0**-8}


def number(x):
    return float(x) if isinstance(x, str) and x in ("nan", "inf", "-inf") else x


def close(x, y, tolerance, scale):
    x, y = number(x), number(y)
    if isinstance(x, bool) != isinstance(y, bool) or not isinstance(x, (int, float)) or not isinstance(y, (int, float)):
        return x == y
    if math.isnan(x) or math.isnan(y) or math.isinf(x) or math.isinf(y):
        return x == y or (math.isnan(x) and math.isnan(y))
    return abs(x - y) <= tolerance * (scale + abs(y)) + 1e-30


def tensors(a, b, path, loose):
    for field in ("shape", "dtype"):
        if a.get(field) != b.get(field):
            return f"{path}: {field} {a.get(field)} for {b.get(field)}"
    x, y = a.get("data"), b.get("data")
    if x is None or y is None:
        return None if x is y else f"{path}: numbers on one side alone"
    tolerance = TOLERANCE.get(b["dtype"], 0) * loose
    if tolerance:
        tolerance = max(tolerance, getattr(loose, "least", 0.0))
    finite = [abs(v) for v in y if isinstance(v, (int, float)) and not isinstance(v, bool) and math.isfinite(v)]
    scale = max(finite, default=0.0) if tolerance else 0.0
    for i, (p, q) in enumerate(zip(x, y)):
        if not (close(p, q, tolerance, scale) if tolerance else p == q):
            return f"{path}[{i}]: {p} for {q}"
    return None if len(x) == len(y) else f"{path}: {len(x)} numbers for {len(y)}"


def values(a, b, path, loose=1):
    """None where they agree, else where they part, a first."""
    if a is None or b is None:
        if differences.allowed(path, a, b):
            return None
        return None if a is b else f"{path}: {'nothing' if a is None else 'something'} for {'nothing' if b is None else 'something'}"
    if not isinstance(a, dict) or not isinstance(b, dict):
        return None if a == b else f"{path}: {a!r} for {b!r}"[:200]
    kind = next(iter(b))
    if b == {"value": None} and differences.zeros(a):
        return f"{path}: zeros for None"
    if kind not in a:
        return f"{path}: {next(iter(a))} for {kind}"
    x, y = a[kind], b[kind]
    if kind == "tensor":
        return tensors(x, y, path, loose)
    if kind == "value":
        if isinstance(y, float) and isinstance(x, (int, float)):
            return None if close(x, y, 3e-5 * loose, abs(y) + 1e-6) else f"{path}: {x!r} for {y!r}"
        return None if x == y and type(x) is type(y) else f"{path}: {x!r} for {y!r}"
    if kind == "repr":
        return None
    if len(x) != len(y):
        return f"{path}: {len(x)} items for {len(y)}"
    if kind == "dict":
        if list(x) != list(y):
            return f"{path}: keys {list(x)} for {list(y)}"[:200]
        pairs = [(k, x[k], y[k]) for k in y]
    else:
        pairs = [(k, p, q) for k, (p, q) in enumerate(zip(x, y))]
    for k, p, q in pairs:
        found = values(p, q, f"{path}.{k}", loose)
        if found:
            return found
    return None


def of_rounding(p, q):
    """Whole numbers beyond what float32 counts by one: int() of what was computed."""
    return min(abs(float(p)), abs(float(q))) > 2**24 and close(float(p), float(q), 3e-7, 0.0)


def printed(a, b, path, loose=1):
    """Equal texts, but for the last digits of numbers that were computed."""
    a, b = differences.text(a), differences.text(b)
    if a == b:
        return None
    if NUMBER.sub("#", a) == NUMBER.sub("#", b):
        pairs = list(zip(NUMBER.findall(a), NUMBER.findall(b)))
        if all(p == q or ("." in p + q and close(float(p), float(q), 2e-3 * loose, 1.0)) or of_rounding(p, q) for p, q in pairs):
            return None
    return f"{path}: printed {a!r} for {b!r}"[:240]


def numbers(v):
    """The numbers of each tensor or float of a value, in order."""
    if isinstance(v, dict) and "tensor" in v:
        return [list(map(number, v["tensor"].get("data") or []))]
    if isinstance(v, dict) and ("value" in v or "repr" in v):
        x = number(v.get("value"))
        return [[x]] if isinstance(x, float) else []
    items = list(v.values()) if isinstance(v, dict) else v if isinstance(v, list) else []
    return [x for item in items for x in numbers(item)]


def as_near(ours, theirs, judge):
    """Whether ours are about as near to float64's numbers as theirs are, tensor by tensor; reports have nine digits."""
    for a, b, c in zip(ours, theirs, judge):
        for part in (p for p in PARTS if p in b):
            x, y, z = numbers(a.get(part)), numbers(b.get(part)), numbers(c.get(part))
            if [len(p) for p in x] != [len(p) for p in y] or [len(p) for p in y] != [len(p) for p in z]:
                return False
            for p, q, r in zip(x, y, z):
                allowed = 8 * max((abs(n - m) for n, m in zip(q, r)), default=0)
                if not all(n == o or abs(n - m) <= allowed + 1e-8 * abs(m) for n, o, m in zip(p, q, r)):
                    return False
    return len(ours) == len(theirs) == len(judge)


PARTS = ("output", "inputs_after", "grads", "param_grads")


def calls(ours, theirs, loose=1):
    """Of two modes' or engines' calls: where they part first."""
    if len(ours) != len(theirs):
        return f"{len(ours)} calls for {len(theirs)}"
    for i, (a, b) in enumerate(zip(ours, theirs)):
        found = printed(a.get("stdout") or "", b.get("stdout") or "", f"call {i}", loose)
        for part in PARTS:
            if found:
                break
            x, y = a.get(part), b.get(part)
            if part not in b:
                continue
            if isinstance(y, list) and isinstance(x, list):
                found = next(filter(None, (values(p, q, f"call {i}: {part}[{k}]", loose) for k, (p, q) in enumerate(zip(x, y)))), None)
            elif isinstance(y, dict) and isinstance(x, dict) and part == "param_grads":
                found = None if sorted(x) == sorted(y) else f"call {i}: {part} of {sorted(x)} for {sorted(y)}"
                found = found or next(filter(None, (values(x[k], y[k], f"call {i}: {part}.{k}", loose) for k in y)), None)
            else:
                found = values(x, y, f"call {i}: {part}", loose)
        if found:
            return found
    return None
