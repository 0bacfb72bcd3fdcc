# input: x=float32[1]
# What torch.load gives, and what load_state_dict says of it: recorded in state.want.
import collections
import io
import os

import torch


class Net(torch.nn.Module):
    def __init__(self, n=8, extra=False):
        super().__init__()
        self.up = torch.nn.Linear(4, n)
        self.bn = torch.nn.BatchNorm1d(n)
        self.down = torch.nn.Linear(n, 2)
        if extra:
            self.more = torch.nn.Linear(2, 2)

    def forward(self, x):
        return self.down(torch.relu(self.bn(self.up(x))))


class Counted(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.steps = 0

    def get_extra_state(self):
        return {"steps": self.steps}

    def set_extra_state(self, state):
        self.steps = state["steps"]


def show(key, value):
    if isinstance(value, torch.Tensor):
        print(key, value, value.dtype, value.shape, value.stride(), value.storage_offset(), value.requires_grad)
    elif isinstance(value, collections.OrderedDict):
        print(key, "OrderedDict")
        for name, v in value.items():
            show(key + "." + name, v)
    else:
        print(key, value, type(value).__name__)


def attempt(f, *args, **keywords):
    try:
        print(f(*args, **keywords))
    except Exception as error:
        print(type(error).__name__, error)


def loads():
    found = torch.load("every.pt")
    for key, value in found.items():
        show(key, value)
    again = torch.load("every.pt", map_location=torch.device("cpu"), weights_only=True)
    found["base"][0] = 100.0
    print(found["col"][0, 0], found["part"], again["base"][0], again["col"][0, 0])
    print(found["model"]._metadata, found["ordered"] == again["ordered"], found["leaf"].is_leaf)
    print(isinstance(found["param"], torch.nn.Parameter), isinstance(found["leaf"], torch.nn.Parameter))
    found["leaf"].sum().backward()
    print(found["leaf"].grad, torch.load("big.pt"), torch.load("protocol4.pt", weights_only=False))
    w = found["scalar"]
    w += 2
    found["i8"].mul_(2)
    print(w, found["i8"], again["scalar"], again["i8"])


def states():
    state = torch.load("net.pt", "cpu")
    net = Net()
    print(net.load_state_dict(state))
    attempt(Net(6).load_state_dict, state)
    attempt(Net(extra=True).load_state_dict, state)
    attempt(Net(extra=True).load_state_dict, state, strict=False)
    wrong = dict(state)
    wrong.update({"zz": torch.ones(1), "up.q": torch.ones(1), "nope.a.b": torch.ones(1), "up.bias": 3})
    del wrong["down.weight"]
    attempt(net.load_state_dict, wrong)
    attempt(net.load_state_dict, wrong, strict=False)
    attempt(net.load_state_dict, 3)
    attempt(net.up.load_state_dict, {k[3:]: v for k, v in state.items() if k.startswith("up.")})
    old = dict(state)
    del old["bn.num_batches_tracked"]
    attempt(net.load_state_dict, old)
    taken = Net()
    keys = taken.load_state_dict(state, assign=True)
    print(keys, keys[0], keys.unexpected_keys, len(keys), taken.up.weight.requires_grad)
    state["up.weight"][0, 0] = 7.0
    print(taken.up.weight[0, 0].item(), torch.equal(taken.up.weight[1:], net.up.weight[1:]))
    counted = Counted()
    counted.steps = 5
    other = Counted()
    print(other.load_state_dict(counted.state_dict()), other.steps)
    attempt(other.load_state_dict, {})
    net.eval()
    print(net(torch.ones(1, 4)).detach())
    return net


def saves(net):
    buffer = io.BytesIO()
    torch.save({"net": net.state_dict(), "step": torch.ones(2, requires_grad=True) * 2}, buffer)
    buffer.seek(0)
    with torch.no_grad():
        net.up.bias.add_(1)
    back = torch.load(buffer)
    print(torch.equal(back["net"]["up.bias"] + 1, net.up.bias), list(back["net"]), back["step"].requires_grad)
    print(os.path.exists("net.pt"), os.path.isfile("nope.pt"))
    try:
        torch.load("nope.pt")
    except FileNotFoundError as error:
        print(str(error)[:46])


def model(x):
    loads()
    saves(states())
    return x
