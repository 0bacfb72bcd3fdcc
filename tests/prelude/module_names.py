# Names that children of modules may have, and the order of a ParameterDict.
import torch
import torch.nn as nn
from collections import OrderedDict
def attempt(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
class Holder(nn.Module):
    kind = "x"
def model():
    p = lambda: nn.Parameter(torch.ones(1))
    print(list(nn.ParameterDict({"b": p(), "a": p()})), list(nn.ParameterDict(OrderedDict([("b", p()), ("a", p())]))), list(nn.ParameterDict([("b", p()), ("a", p())])))
    d = nn.ParameterDict({"z": p()})
    d.update({"y": p(), "x": p()})
    print(list(d.keys()), list(nn.ModuleDict({"b": nn.ReLU(), "a": nn.ReLU()})), [n for n, _ in d.named_parameters()])
    attempt(lambda: nn.ParameterDict({"double": p()}))
    attempt(lambda: nn.ModuleDict({"forward": nn.ReLU()}))
    attempt(lambda: nn.ModuleDict({"train": nn.ReLU()}))
    h = Holder()
    attempt(lambda: h.register_parameter("kind", p()))
    attempt(lambda: h.register_buffer("kind", torch.ones(1)))
    attempt(lambda: h.add_module("kind", nn.ReLU()))
    attempt(lambda: h.add_module("a.b", nn.ReLU()))
    attempt(lambda: h.register_parameter("a.b", p()))
    attempt(lambda: h.register_parameter("", p()))
    attempt(lambda: h.add_module("q", 3))
    attempt(lambda: h.register_parameter("q", torch.ones(1)))
    attempt(lambda: h.register_buffer("q", 3))
