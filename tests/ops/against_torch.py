"""tests/ops/against_torch.py [ID...] -- the references themselves, against PyTorch.

Every call of every row is run on the PyTorch that is installed, in eager, and
compared with what the reference expects; so what check.py asks of the engine is
what PyTorch does.  Rows that the tables lack are tried under the names of torch.
"""
import sys
import warnings

import torch
import torch.nn as nn
import torch.nn.functional as F

import check
import naive
import table


def load(x):
    made = torch.tensor(x.flat(), dtype=torch.float64 if x.dtype in naive.FLOATS else torch.bool if x.dtype == "bool" else torch.int64)
    return made.reshape(x.shape).to(getattr(torch, x.dtype))


def dump(v):
    if isinstance(v, torch.Tensor):
        data = v.detach().to(torch.float64) if v.dtype.is_floating_point else v
        return {"tensor": {"shape": list(v.shape), "dtype": str(v.dtype)[6:], "data": data.reshape(-1).tolist()}}
    if isinstance(v, (tuple, list)):
        return {"tuple": [dump(i) for i in v]}
    return {"value": v}


def names(name):
    for prefix, owner in (("torch.nn.functional.", F), ("torch.", torch), ("torch.linalg.", torch.linalg), ("Tensor.", torch.Tensor)):
        if hasattr(owner, name):
            return [prefix + name]
    return []


def tried(name, t):
    text, made = t.source(0)
    want = t.expected(made)
    scope = {"torch": torch, "nn": nn, "math": __import__("math"), "v": [load(b) for b in t.bases], "r": []}
    try:
        exec("\n".join(line[4:] for line in text), scope)
        why = check.fault(dump(scope["r"][0]), want, t.row.tol * t.call.tol)
    except Exception as e:
        why = f"{type(e).__name__}: {str(e).splitlines()[0]}"
    return why and f"{name}: {t.name()}: {why}"


def main():
    warnings.simplefilter("ignore")
    rows = check.op_rows()
    count = 0
    for name, row in table.ROWS.items():
        if row.why or (sys.argv[1:] and name not in sys.argv[1:]):
            continue
        kind, spellings = rows.get(name, ("NATIVE", names(name)))
        plain = table.Row(row.ref, [c for c in row.calls if not c.raises], vars(row))
        for c in row.calls:
            if c.raises:
                t = check.Tried(row, c, next((s for s in c.spellings or spellings if check.takes(s, c)), "torch." + name), "float32")
                made, how = t.inputs()
                lines = [f"{n} = v[{k}]{h}" for k, (n, h) in enumerate(how)] + [t.line]
                try:
                    exec("\n".join(lines), {"torch": torch, "nn": nn, "v": [load(b) for b in t.bases]})
                    print(f"{name}: {t.name()}: torch does not refuse it")
                except Exception as e:
                    print(f"  refused: {name}: {t.line}: {type(e).__name__}: {str(e).splitlines()[0][:110]}")
        try:
            for t in check.tries(plain, kind, spellings):
                count += 1
                why = tried(name, t)
                if why:
                    print(why[:330])
        except Exception as e:
            print(f"{name}: {type(e).__name__}: {e}")
    print(count, "calls", torch.__version__)


main()
