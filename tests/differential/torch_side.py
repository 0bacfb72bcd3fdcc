"""torch_side.py [DEVICE] -- runs workloads in PyTorch: a JSON line in, a JSON line out.

In: a workload with its source and calls, "compiled": through torch.compile(backend="aot_eager"),
"rows": with results laid out row by row, "double": in float64;
out: {"calls": [{"output", "inputs_after", "grads",
"param_grads", "stdout"}]} or {"error": "Type: text", "line"}.  Values are as in reports.
"""
import contextlib
import io
import json
import linecache
import logging
import os
import sys
import traceback
import warnings

import torch
from torch.utils._python_dispatch import TorchDispatchMode

warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)
torch.set_num_threads(1)
DEVICE = sys.argv[1] if len(sys.argv) > 1 else "cpu"


def number(x):
    if isinstance(x, float) and (x != x or x in (float("inf"), float("-inf"))):
        return str(x)
    return x


def make(value, double=False):
    kind, v = next(iter(value.items()))
    if kind == "tensor":
        data = [float(x) if isinstance(x, str) else x for x in v["data"]]
        dtype = getattr(torch, v["dtype"])
        if double and dtype.is_floating_point:
            data, dtype = torch.tensor(data, dtype=dtype).double().tolist(), torch.float64
        return torch.tensor(data, dtype=dtype, device=DEVICE).reshape(v["shape"]).clone()  # a view of a leaf has no cast that autocast keeps
    if kind == "value":
        return v
    if kind in ("list", "tuple"):
        return {"list": list, "tuple": tuple}[kind](make(x, double) for x in v)
    return {k: make(x, double) for k, x in v.items()}


def show(v):
    if isinstance(v, torch.Tensor):
        v = v.detach().cpu()
        dtype = str(v.dtype)[6:]
        flat = v.flatten().double() if v.is_floating_point() else v.flatten()
        return {"tensor": {"shape": list(v.shape), "dtype": dtype, "data": [number(x) for x in flat.tolist()]}}
    if v is None or isinstance(v, (bool, int, float, str)):
        return {"value": number(v)}
    if isinstance(v, torch.Size):
        return {"tuple": [show(x) for x in v]}
    if isinstance(v, (list, tuple)):
        return {"list" if isinstance(v, list) else "tuple": [show(x) for x in v]}
    if isinstance(v, dict):
        return {"dict": {str(k): show(x) for k, x in v.items()}}
    return {"repr": repr(v)}


def floats(v):
    if isinstance(v, torch.Tensor):
        return [v] if v.is_floating_point() else []
    if isinstance(v, dict):
        v = list(v.values())
    return [t for x in v for t in floats(x)] if isinstance(v, (list, tuple)) else []


def leaves(args):
    made = []
    for a in args:
        made.append(a.requires_grad_() if isinstance(a, torch.Tensor) and a.is_floating_point() else None)
    return made


class Rows(TorchDispatchMode):
    """Results lie row by row, whatever the strides of operands, as they do here."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        out = func(*args, **(kwargs or {}))
        returns = func._schema.returns
        if len(returns) == 1 and returns[0].alias_info is None and isinstance(out, torch.Tensor):
            return out.contiguous()
        return out


def around(workload):
    if workload.get("rows"):
        return Rows()
    if not workload.get("autocast"):
        return contextlib.nullcontext()
    return torch.autocast(torch.device(DEVICE).type, dtype=getattr(torch, workload["autocast"]))


def run(workload):
    torch.manual_seed(67280421310721)  # what its generator begins with, and ours
    if DEVICE != "cpu":  # a default device is passed on as device=, which not every function takes
        torch.set_default_device(DEVICE)
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float64 if workload.get("double") else torch.float32)
    env = {"__name__": "workload"}
    code = compile(workload["source"], "source", "exec")
    linecache.cache["source"] = (len(workload["source"]), None, workload["source"].splitlines(True), "source")
    calls = []
    prints = io.StringIO()
    with contextlib.redirect_stdout(prints):
        exec(code, env)
        entry = env[workload.get("entry", "model")]
        if isinstance(entry, type):
            entry = entry()
        run_entry = entry
        if workload.get("compiled"):
            torch._dynamo.reset()
            run_entry = torch.compile(entry, backend="aot_eager")
        grad = workload.get("grad")
        for call in workload["calls"]:
            args = [make(v, workload.get("double")) for v in call]
            given = leaves(args) if grad else [None] * len(args)
            params = dict(entry.named_parameters()) if isinstance(entry, torch.nn.Module) else {}
            for p in params.values():
                if grad:
                    p.grad = None
            with around(workload):
                out = run_entry(*args)
            made = {"output": show(out), "stdout": prints.getvalue()}  # of the first call with what loading printed
            prints.truncate(0)
            prints.seek(0)
            if grad:
                total = sum(t.sum() for t in floats(out))
                for t in [*given, *params.values()]:  # the call's own, and not what the program left there
                    if t is not None:
                        t.grad = None
                if isinstance(total, torch.Tensor) and total.requires_grad:
                    total.backward()
                made["grads"] = [show(g.grad) if g is not None and g.grad is not None else None for g in given]
                if params:
                    made["param_grads"] = {k: show(p.grad) if p.grad is not None else None for k, p in params.items()}
            made["inputs_after"] = [show(a) for a in args]
            calls.append(made)
    return calls


def main():
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            answer = {"calls": run(json.loads(line))}
        except Exception as e:  # the program's own, whatever it is
            where = [f.lineno for f in traceback.extract_tb(e.__traceback__) if f.filename == "source"]
            answer = {"error": f"{type(e).__name__}: {e}"[:400], "line": where[-1] if where else None}
        print(json.dumps(answer), file=out, flush=True)


main()
