"""tests/oracle/record_constructs.py OUT [TEXT | SEED COUNT] -- runs constructs.py on PyTorch and writes OUT.

With TEXT: the programs of that file (autocast.txt); with SEED and COUNT: the random
programs of generate.py instead.

Needs torch; construct_cases.json is kept in the repository, so that the tests do
not.  The form is that of cases.json: outputs, effects, printed text, graphs of
torch.compile(dynamic=None | False | True) per call with a backend that only
counts, and the breaks that torch._dynamo.explain() names on the first call.
"""
import contextlib
import importlib.util
import io
import itertools
import json
import os
import re
import sys
import tempfile
import warnings

import torch
import torch._dynamo

import constructs
import generate
from record import value_of

MODES = {"auto": None, "static": False, "dynamic": True}
# First match decides: the type of a break as PyTorch words it, and our kind.
KINDS = [
    ("graph_break()", "explicit"),
    ("generic_jump", "data-dependent-branch"),
    ("Data-dependent branching", "data-dependent-branch"),
    ("Tensor.item", "scalar-read"),
    ("Dynamic shape operator", "dynamic-shape-op"),
    ("non-integer tensor", "data-dependent-op"),
    ("Data dependent operator", "data-dependent-op"),
    ("torch.compiler.disable", "disabled-function"),
    ("marked as skipped", "skipped-function"),
    ("Failed to trace builtin", "host-call"),
]


def argument(v):
    kind, x = next(iter(v.items()))
    if kind == "tensor":
        return torch.tensor(x["data"], dtype=getattr(torch, x["dtype"])).reshape(x["shape"])
    if kind == "value":
        return x
    if kind == "dict":
        return {k: argument(w) for k, w in x.items()}
    return [argument(w) for w in x]


FOLDER = tempfile.mkdtemp()
SERIAL = itertools.count()


def fresh(case):
    """The model, in a module of its own: Dynamo treats code without a file differently."""
    torch._dynamo.reset()
    name = f"program_{next(SERIAL)}"
    path = os.path.join(FOLDER, name + ".py")
    with open(path, "w") as file:
        file.write(case["source"])
    spec = importlib.util.spec_from_file_location(name, path)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.model


def ops(module):
    calls = [n for n in module.graph.nodes if n.op in ("call_function", "call_method", "call_module")]
    return {
        "ops": [n.target if isinstance(n.target, str) else n.target.__name__ for n in calls],
        "placeholders": sum(n.op == "placeholder" for n in module.graph.nodes),
    }


def ambient(case):
    """The field "autocast" of a workload: around each call."""
    if "autocast" in case:
        return torch.autocast("cpu", dtype=getattr(torch, case["autocast"]))
    return contextlib.nullcontext()


def captured(case, dynamic):
    graphs, news = [], []

    def count(module, example):
        graphs.append(ops(module))
        return module.forward

    compiled = torch.compile(fresh(case), backend=count, dynamic=dynamic)
    for call in case["inputs"]:
        before = len(graphs)
        with contextlib.redirect_stdout(io.StringIO()), ambient(case):
            compiled(*[argument(v) for v in call])
        news.append(len(graphs) - before)
    return {"new_graphs": news, "graphs": graphs}


def breaks(case):
    found = []
    with contextlib.redirect_stdout(io.StringIO()), ambient(case):
        explained = torch._dynamo.explain(fresh(case))(*[argument(v) for v in case["inputs"][0]])
    for reason in explained.break_reasons:
        stack = [{"line": f.lineno, "function": f.name} for f in reason.user_stack if f.filename.startswith(FOLDER)]
        kind = next((kind for text, kind in KINDS if text in reason.reason), "other")
        found.append({"kind": kind, "stack": stack, "says": reason.reason.split("\n")[0][:120]})
    return found


def record(case):
    model = fresh(case)
    if isinstance(model, torch.nn.Module):
        case["params"] = {n: value_of(p) for n, p in [*model.named_parameters(), *model.named_buffers()]}
    case.update(outputs=[], inputs_after=[], stdout=[])
    for call in case["inputs"]:
        arguments, text = [argument(v) for v in call], io.StringIO()
        with contextlib.redirect_stdout(text), ambient(case):
            case["outputs"].append(value_of(model(*arguments)))
        case["inputs_after"].append([value_of(v) for v in arguments])
        case["stdout"].append(text.getvalue())
    if not any(case["stdout"]):
        del case["stdout"]
    if case["group"].endswith("-values"):
        return case
    for mode, dynamic in MODES.items():
        case[mode] = captured(case, dynamic)
    case["breaks"] = breaks(case)
    if case["group"] == "grad":
        gradients(case)
    return case


def gradients(case):
    """Of the sum of all floating outputs of the first call, to its inputs and the parameters."""
    model = fresh(case)
    arguments = [argument(v) for v in case["inputs"][0]]
    for x in arguments:
        if isinstance(x, torch.Tensor) and x.is_floating_point():
            x.requires_grad_(True)
    out = model(*arguments)
    sum(y.sum() for y in (out if isinstance(out, (tuple, list)) else [out]) if y.is_floating_point() and y.requires_grad).backward()
    case["grad"] = True
    case["grads"] = [value_of(x.grad) if isinstance(x, torch.Tensor) and x.grad is not None else None for x in arguments]


def main():
    warnings.simplefilter("ignore")
    done = []
    if len(sys.argv) > 3:
        cases = generate.programs(sys.argv[2], int(sys.argv[3]))
    else:
        cases = constructs.cases(*sys.argv[2:])
    for case in cases:
        try:
            done.append(record(case))
        except Exception as e:
            print(f"{case['name']}: {type(e).__name__}: {re.sub(chr(10), ' ', str(e))[:300]}")
    version = ".".join(map(str, sys.version_info[:2]))
    with open(sys.argv[1], "w") as file:
        json.dump({"torch": torch.__version__, "python": version, "device": "cpu", "cases": done}, file, separators=(",", ":"))
        file.write("\n")
    print(f"{len(done)} programs recorded on PyTorch {torch.__version__}, Python {version}")


main()
