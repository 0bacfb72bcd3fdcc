"""tests/models/record.py FILE -- writes what PyTorch gives for the models of web/models.

Run with PyTorch 2.11; run.py compares recorded.json with what Breakeven gives.
"""
import contextlib
import io
import json
import os
import sys
import types

import run

sys.path.insert(0, os.path.join(run.HERE, "..", "bench"))
import torch
import torch_cpu

LEFT_OUT = {"draws", "draws_between", "inplace", "modules"}  # draws that are not PyTorch's; the entry is a class


def spec(v):
    """A value as a report has it."""
    if isinstance(v, torch.Tensor):
        data = v.detach().reshape(-1).tolist()
        if v.is_floating_point():
            data = [float("%.7g" % x) for x in data]
        return {"tensor": {"shape": list(v.shape), "dtype": str(v.dtype)[6:], "data": data}}
    if isinstance(v, (tuple, list)):
        return {"tuple" if isinstance(v, tuple) else "list": [spec(x) for x in v]}
    if isinstance(v, dict):
        return {"dict": {k: spec(x) for k, x in v.items()}}
    return {"value": v}


def main():
    script, recorded = torch_cpu.load_script(), {}
    for workload in run.cases():
        if "title" in workload or workload["name"] in LEFT_OUT:
            continue
        module = types.ModuleType("model_" + workload["name"])
        sys.modules[module.__name__] = module  # dataclasses look for it there
        with contextlib.redirect_stdout(io.StringIO()):
            exec(compile(workload["source"], workload["name"], "exec"), module.__dict__)
            recorded[workload["name"]] = [
                spec(module.model(*[script.make(v) for v in call])) for call in workload["calls"]
            ]
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(recorded, file)


if __name__ == "__main__":
    main()
