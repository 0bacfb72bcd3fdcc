# input: x=float32[3,2]
"""What nn.Module does beside forward(); the entry is a class of modules."""
import torch
import torch.nn as nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.nn.modules.utils import _pair
from torch.nn.parameter import Parameter


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2)
        self.b = nn.Linear(2, 2)
        self.b.weight = self.a.weight
        self.norm = nn.BatchNorm1d(2)
        self.rest = nn.ModuleList([nn.Linear(2, 2), nn.Identity()])
        self.rest.insert(0, nn.ReLU())
        del self.rest[2]
        self.register_buffer("scale", torch.full((2,), 0.5))

    def forward(self, x):
        x = self.norm(self.b(self.a(x)))
        for layer in self.rest:
            x = layer(x)
        return x * self.scale


torch.manual_seed(7)
first, second = Net(), Net()
state = first.state_dict()
assert list(state)[:4] == ["scale", "a.weight", "a.bias", "b.weight"] and "rest.1.bias" in state
assert [n for n, _ in first.named_parameters()][:3] == ["a.weight", "a.bias", "b.bias"]
assert sum(isinstance(m, nn.modules.batchnorm._BatchNorm) for m in first.modules()) == 1
assert isinstance(first.norm, _BatchNorm) and _pair(3) == (3, 3)
print(second.load_state_dict(state))
state["lost"] = state.pop("a.bias")
try:
    second.load_state_dict(state)
except RuntimeError as error:
    print(error)
missing, unexpected = second.load_state_dict(state, strict=False)
assert (missing, unexpected) == (["a.bias"], ["lost"])
second = second.double().float()
assert second.a.weight is second.b.weight and isinstance(second.a.weight, Parameter)
chain = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 2))
assert len(chain[1:]) == 2 and len(chain + nn.Sequential(nn.Tanh())) == 4
print(chain[:2])
named = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Tanh()})
named.pop("a")
assert list(named) == ["b"] and "a" not in named
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
assert device.type == "cpu" and isinstance(device, torch.device)
first.to(device, memory_format=torch.channels_last)


class model(nn.Module):
    def __init__(self, width: int = 2):
        super().__init__()
        self.first, self.second = first, second
        self.rnn = nn.GRU(width, 3, bidirectional=True)

    def forward(self, x):
        return self.first(x), self.second(x), self.rnn(x)[0]
