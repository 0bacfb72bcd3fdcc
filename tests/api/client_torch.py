"""tests/api/client_torch.py CLIENT URL -- the Python client with PyTorch: modules with their parameters, and trace()."""
import importlib.util
import os
import sys
import warnings

import torch
import torch.nn as nn
import torch.nn.functional as F

spec = importlib.util.spec_from_file_location("breakeven", sys.argv[1])
breakeven = sys.modules["breakeven"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(breakeven)
QUICK = {"modes": ["eager", "static"], "backend": "interp", "seconds": 0.02, "progress": False}
WIDTH = 16


class Block(nn.Module):
    def __init__(self, width, p=0.0):
        super().__init__()
        self.width, self.p = width, p
        self.lin = nn.Linear(width, width, bias=False)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return F.relu(self.norm(self.lin(x))) * WIDTH


class Odd(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.lin = nn.Linear(size, 2)

    def forward(self, x):
        return self.lin(x)


def check(found, expected):
    made = found.report["modes"]["eager"]["calls"][0]["output"]["tensor"]
    assert torch.allclose(torch.tensor(made["data"]).reshape(made["shape"]), expected, atol=1e-4), (made, expected)


def main():
    os.environ["BREAKEVEN_URL"] = sys.argv[2]
    warnings.simplefilter("ignore")
    torch.manual_seed(0)
    x = torch.randn(4, WIDTH)
    for module in (Block(WIDTH).eval(), nn.Sequential(nn.Linear(WIDTH, 8), nn.GELU(), Block(8), nn.Linear(8, 2, bias=False))):
        check(breakeven.run(module, x, **QUICK), module(x))
    odd = Odd(WIDTH)
    try:
        breakeven.run(odd, x, **QUICK)
        raise AssertionError("it tells not how it is made")
    except breakeven.BreakevenError as error:
        assert 'made="Odd(64)"' in str(error), error
    check(breakeven.run(odd, x, made="Odd(WIDTH)", **QUICK), odd(x))
    turned = breakeven.run(lambda t: t + 1, torch.randn(8, 16).t(), **QUICK)
    assert ".permute(1, 0)" in turned.answer["workload"]["calls"][0][0]["python"] and turned.notes
    leaf = torch.randn(8, requires_grad=True)
    learnt = breakeven.run(lambda t: (t * t).sum(), leaf, grad=True, **QUICK)
    given = learnt.report["modes"]["eager"]["calls"][0]["grads"][0]["tensor"]["data"]
    assert torch.allclose(torch.tensor(given), 2 * leaf.detach(), atol=1e-5)
    for dtype in (torch.float16, torch.bfloat16, torch.float64, torch.int32, torch.bool):
        assert breakeven.run(lambda t: t * 1, torch.ones(5).to(dtype), **QUICK).status == "done"
    with breakeven.trace("traced", progress=False) as traced:
        torch.compile(lambda t: torch.sin(t) + F.relu(t), backend="eager")(x)
    log = traced.result.answer
    heads, [row] = traced.result.rows()
    found = dict(zip(heads, map(int, row)))
    assert found["graphs"] >= 1 and set(found) == {"graphs", "breaks", "recompiles", "kernels"}, traced.result
    assert log["status"] == "done" and log["about"]["files"] == 2 and log["report"]["import"]["joined"] == 1, log["about"]
    assert log["about"]["length_us"] < 1e9, "both logs have one clock"
    texts, _ = traced.result.client.ask("GET", f"/api/v1/runs/{traced.result.id}/artifacts")
    assert texts["total"] > 0, "TORCH_TRACE was written and read"


if __name__ == "__main__":
    main()
