"""tests/oracle/record.py OUT [MODULE] -- runs own_programs.py (or another module) on PyTorch and writes OUT (own_cases.json).

Needs torch; own_cases.json is kept in the repository, so that the tests do not.
Beside outputs and effects it records how many graphs torch.compile captured at
each call, static and dynamic (a module with AUTO: auto too), with a backend that only counts.  Of a case with "grad", and gradients of each call.
"""
import contextlib
import importlib
import io
import json
import math
import sys

import torch


def tensor_of(value):
    if "tensor" not in value:
        return value["value"]
    t = value["tensor"]
    return torch.tensor(t["data"], dtype=getattr(torch, t["dtype"])).reshape(t["shape"])


def arguments_of(case, call):
    """Of a case with gradients all that are floating have one."""
    arguments = [tensor_of(v) for v in call]
    for x in arguments if case.get("grad") else ():
        if isinstance(x, torch.Tensor) and x.is_floating_point():
            x.requires_grad_(True)
    return arguments


def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for v in value for t in tensors(v)] if isinstance(value, (tuple, list)) else []


def gradients(arguments, output):
    """Of the sum of all that is floating in the output."""
    sums = [t.sum() for t in tensors(output) if t.is_floating_point() and t.requires_grad]
    if sums:
        sum(sums).backward()
    return [value_of(x.grad) if isinstance(x, torch.Tensor) and x.grad is not None else None for x in arguments]


def number(x):
    if isinstance(x, float) and not math.isfinite(x):
        return "nan" if math.isnan(x) else "inf" if x > 0 else "-inf"
    return float("%.9g" % x) if isinstance(x, float) else x


def value_of(x):
    if isinstance(x, torch.Tensor):
        data = x.detach().reshape(-1).tolist()
        if x.dtype != torch.float64:
            data = [number(v) for v in data]
        else:
            data = [v if math.isfinite(v) else number(v) for v in data]
        return {"tensor": {"shape": list(x.shape), "dtype": str(x.dtype)[6:], "data": data}}
    if isinstance(x, (tuple, list)):
        return {"tuple" if isinstance(x, tuple) else "list": [value_of(v) for v in x]}  # torch.Size is a tuple
    if isinstance(x, dict):
        return {"dict": {k: value_of(v) for k, v in x.items()}}
    if isinstance(x, float):
        return {"value": number(x)}
    return {"value": x}


def new_graphs(case, dynamic):
    counted = []

    def count(module, example):
        counted.append(module)
        return module.forward

    torch._dynamo.reset()
    names = {}
    exec(compile(case["source"], case["name"], "exec"), names)
    compiled = torch.compile(names["model"], backend=count, dynamic=dynamic)
    news = []
    for call in case["inputs"]:
        before = len(counted)
        compiled(*arguments_of(case, call))
        news.append(len(counted) - before)
    return {"new_graphs": news}


MODES = {"static": False, "dynamic": True, "auto": None}


def record(case, modes=("static", "dynamic")):
    names = {}
    exec(compile(case["source"], case["name"], "exec"), names)
    case.update(outputs=[], inputs_after=[], stdout=[], breaks=[])  # inputs_after and stdout go where there is nothing to tell
    for call in case["inputs"]:
        arguments = arguments_of(case, call)
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            output = names["model"](*arguments)
            if case.get("grad"):
                case.setdefault("grads", []).append(gradients(arguments, output))
            case["outputs"].append(value_of(output))
        case["stdout"].append(printed.getvalue())
        case["inputs_after"].append([value_of(v) for v in arguments])
    if not any(case["stdout"]):
        del case["stdout"]
    if case["inputs_after"] == [[value_of(tensor_of(v)) for v in call] for call in case["inputs"]]:
        del case["inputs_after"]
    if "auto" in modes:
        del case["breaks"]  # how many graphs there are is recorded, not where they end
    for mode in modes:
        try:
            case[mode] = new_graphs(case, MODES[mode])
        except Exception as e:
            print(f"{case['name']}: {mode}: {type(e).__name__}: {str(e)[:300]}")
    return case


def main():
    programs = importlib.import_module(sys.argv[2] if len(sys.argv) > 2 else "own_programs")
    modes = tuple(MODES) if getattr(programs, "AUTO", False) else ("static", "dynamic")
    done = []
    for case in programs.cases():
        try:
            alone = ("auto",) if case["name"] in getattr(programs, "AUTO_ALONE", ()) else modes
            done.append(record(case, () if case["name"] in getattr(programs, "VALUES_ALONE", ()) else alone))
        except Exception as e:
            print(f"{case['name']}: {type(e).__name__}: {str(e)[:300]}")
    with open(sys.argv[1], "w") as file:
        json.dump({"torch": torch.__version__, "device": "cpu", "cases": done}, file, separators=(",", ":"))
        file.write("\n")
    print(f"{len(done)} programs recorded")


if __name__ == "__main__":
    main()
