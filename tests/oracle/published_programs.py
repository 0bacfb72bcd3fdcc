"""tests/oracle/published_programs.py -- where graphs end in programs as people publish them: meters that begin at 0,
blocks of no_grad that return, recurrent layers, states that are loaded, sparse matrices, weights written through .data.

Rows: name, inputs of each call, source after the imports.  `record.py published_cases.json published_programs` writes
what replay.py replays, mode auto with the others.
"""
import random

from library_programs import IMPORTS
from own_programs import value

AUTO = True
# Where releases differ in which floats are symbols (2.6: those that changed, in every mode; 2.11: of dynamic=True at once).
AUTO_ALONE = {"meter_in_globals", "meter_in_an_object"}
# How often PyTorch captures __torch_function__ again is its own.
VALUES_ALONE = {"class_of_tensors", "functions_that_classes_override"}

RECURRENT = """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.seq = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.rnns = nn.ModuleList([nn.GRU(4, 4), nn.GRU(4, 4)])
        self.rnn = nn.LSTM(4, 4)
        self.out = nn.Linear(4, 3)
"""

PROGRAMS = [
    ("meter_in_globals", [["f 4"], ["f 4"], ["f 4"], ["f 4"]], """total = 0
n = 0
def model(x):
    global total, n
    loss = x.sum()
    total += loss.item()
    n += x.size(0)
    print('%.3f' % (total / n))
    return loss * 2
"""),
    ("meter_in_an_object", [["f 4"], ["f 4"], ["f 4"], ["f 4"]], """class Meter:
    def __init__(self):
        self.reset()
    def reset(self):
        self.val = self.avg = self.sum = self.count = 0
    def update(self, val, n=1):
        self.val = val
        self.sum += val * n
        self.count += n
        self.avg = self.sum / self.count
meter = Meter()
def model(x):
    y = (x * 2).sin()
    loss = y.sum()
    meter.update(loss.item(), x.size(0))
    return y + 1, meter.avg
"""),
    ("block_that_returns", [["f 4"], ["f 4"]], """def boxes(y):
    print("boxes")
    return [y]
def model(x):
    with torch.no_grad():
        y = x.sin() + 1
        return boxes(y)
"""),
    ("print_in_a_block", [["f 4"], ["f 4"]], """def model(x):
    with torch.no_grad():
        y = x.sin() + 1
        print("a")
    return y
"""),
    ("decorated_and_inlined", [["f 4"], ["f 4"]], """def inner(y):
    y = y.cos()
    print("a")
    return y.tan()
@torch.no_grad()
def evaluate(x):
    y = x.sin() + 1
    z = inner(y)
    return z
def model(x):
    return evaluate(x) * 2
"""),
    ("the_same_tensor_later", [["f 4"], ["f 4"]], """def distance(x, y):
    return x.sin() + y.cos()
def model(x):
    a = x + 1
    print("s")
    found = []
    for i in range(2):
        print("b")
        found.append(distance(a, a if i else x))
    return found[0] + found[1]
"""),
    ("rows_by_mask_alone", [["f 4"], ["f 4"]], """def rows(x, mask):
    return x[mask]
def model(x):
    mask = x > 0
    print("s")
    r = rows(x, mask)
    print("t")
    return x, r
"""),
    ("recurrent_after_layers", [["f 5,2,4"], ["f 5,2,4"]], RECURRENT + """    def forward(self, x):
        x = self.seq(x)
        x = self.seq(x)
        y, h = self.rnn(x)
        return y.cos() + 1
net = Net()
def model(x):
    x = x.sin()
    y = net(x)
    return y.tan() + 1
"""),
    ("recurrent_first", [["f 5,2,4"], ["f 5,2,4"]], RECURRENT + """    def forward(self, x):
        y, h = self.rnn(x.sin().cos() + 1)
        return self.out(y)
net = Net()
def model(x):
    x = x.sin()
    y = net(x)
    return y.tan() + 1
"""),
    ("recurrent_in_a_loop", [["f 5,2,4"], ["f 5,2,4"]], RECURRENT + """    def forward(self, x):
        x = self.seq(x)
        for rnn in self.rnns:
            x, h = rnn(x)
        x = self.out(x)
        return torch.log_softmax(x, -1)
model = Net()
"""),
    ("recurrent_in_a_sequence", [["f 5,2,4"], ["f 5,2,4"]], RECURRENT + """        self.stack = nn.Sequential(nn.LSTM(4, 4))
    def forward(self, x):
        x = x.tan() + 1
        y, _ = self.stack(x)
        return self.out(y)
model = Net()
"""),
    ("recurrent_of_a_global", [["f 5,2,4"], ["f 5,2,4"]], """net = nn.LSTM(4, 4)
def model(x):
    x = x.sin() + 1
    y, (h, c) = net(x)
    return y.tan() + 1
"""),
    ("state_is_copied", [["f 2,4"], ["f 2,4"]], """m, n = nn.Linear(4, 4), nn.Linear(4, 4)
def model(x):
    y = m(x)
    n.load_state_dict(m.state_dict())
    return n(y)
"""),
    ("state_in_a_helper", [["f 2,4"], ["f 2,4"]], """m = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
def weights(m):
    state = m.state_dict()
    return {k: v for k, v in state.items() if 'weight' in k}
def model(x):
    y = m(x)
    kept = weights(m)
    return y + kept['0.weight'].sum()
"""),
    ("state_of_an_optimizer", [["f 2,4"], ["f 2,4"]], """m = nn.Linear(4, 4)
opt = torch.optim.SGD(m.parameters(), lr=0.1)
def model(x):
    y = m(x)
    opt.load_state_dict(opt.state_dict())
    return y.sin()
"""),
    ("sparse_given_and_read", [["f 5,4"], ["f 5,4"]], """A = (torch.rand(5, 5) > 0.5).float().to_sparse()
lin = nn.Linear(4, 4)
class Given(nn.Module):
    def forward(self, x, adj):
        x = lin(x)
        x = x.relu()
        y = torch.spmm(adj, x)
        return y + 1
class Kept(nn.Module):
    def __init__(self):
        super().__init__()
        self.adj = A
    def forward(self, x):
        x = x.sin().cos()
        x = torch.sparse.mm(self.adj, x)
        return x * 2
given, kept = Given(), Kept()
def model(x):
    x = x.sin()
    y = kept(x)
    y = y.cos() + 1
    z = given(y, A)
    return z.tan()
"""),
    ("gan_step", [["f 6,4"], ["f 6,4"], ["f 6,4"]], """G = nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(0.2), nn.Linear(8, 4))
D = nn.Sequential(nn.Linear(4, 8), nn.LeakyReLU(0.2), nn.Linear(8, 1), nn.Sigmoid())
to_g = torch.optim.Adam(G.parameters(), lr=2e-4, betas=(0.5, 0.999))
to_d = torch.optim.Adam(D.parameters(), lr=2e-4, betas=(0.5, 0.999))
bce = nn.BCELoss()
def model(real):
    n = real.size(0)
    ones, zeros = torch.ones(n, 1), torch.zeros(n, 1)
    fake = G(real.flip(0))
    d_loss = bce(D(real), ones) + bce(D(fake.detach()), zeros)
    to_d.zero_grad()
    d_loss.backward()
    to_d.step()
    g_loss = bce(D(fake), ones)
    to_g.zero_grad()
    g_loss.backward()
    to_g.step()
    return d_loss.detach(), g_loss.detach(), G[0].weight.detach().clone(), D[0].weight.detach().clone()
"""),
    ("results_apart", [["f 6,4"], ["f 6,4"]], """l, k = nn.Linear(4, 4), nn.Linear(4, 4)
def model(x):
    a = l(x).sin()
    b = k(x).cos().sum() * a.detach().sum()
    b.backward()
    with torch.no_grad():
        k.weight.mul_(0.5)
    c = a.pow(2).sum()
    c.backward()
    g = l.weight.grad.clone(), k.weight.grad.clone()
    l.zero_grad()
    k.zero_grad()
    return g, b.detach()
"""),
    ("result_of_a_path_that_is_gone", [["f 6,4"], ["f 6,4"]], """l = nn.Linear(4, 4)
def model(x):
    a = l(x).sin()
    b = a.sum()
    b.backward()
    try:
        a.sum().backward()
        return 1
    except RuntimeError as e:
        return str(e)[:40]
"""),
    ("tensor_of_a_deque", [["f 4"], ["f 4"]], """from collections import deque
torch.set_printoptions(precision=4)
class Row:
    def __len__(self):
        return 3
    def __getitem__(self, i):
        if i >= 3:
            raise IndexError(i)
        return i * 2
def model(x):
    returns = deque()
    r = 0
    for reward in [1.0, 0.5, 0.25]:
        r = reward + 0.9 * r
        returns.appendleft(r)
    returns = torch.tensor(returns)
    return x.sum() * (returns - returns.mean()), torch.tensor(Row())
"""),
    ("hook_of_a_copy", [["f 2,4"], ["f 2,4"]], """import copy
class Wrapper(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.hidden = {}
        self.net[0].register_forward_hook(self._hook)
    def _hook(self, _, input, output):
        self.hidden[input[0].device] = output.flatten(1)
    def forward(self, x):
        self.hidden.clear()
        y = self.net(x)
        hidden = self.hidden[x.device]
        self.hidden.clear()
        return y, hidden
first = Wrapper(nn.Sequential(nn.Linear(4, 4), nn.ReLU()))
second = copy.deepcopy(first)
with torch.no_grad():
    second.net[0].weight.mul_(2)
def model(x):
    return first(x), second(x)
"""),
    ("not_of_a_tensor", [["f 4"], ["f 4"]], """def model(x):
    y = x.sin()
    y = y.cos()
    z = not (y.sum() > 0)
    w = y.tan()
    return w if z else y
"""),
    ("iterator_that_prints", [["f 4"], ["f 4"]], """class Ones:
    def __iter__(self):
        print("begins")
        return iter([1, 2])
ones = Ones()
def model(x):
    y = x.sin()
    y = y.cos()
    for i in ones:
        y = y * i
    return y
"""),
    ("slice_by_a_tensor", [["f 4"], ["f 4"]], """def head(x, k):
    x = x * 2
    x = x.cos()
    return x[:k] + 1
def model(x):
    y = x.sin()
    y = y.cos()
    k = y.abs().argmax()
    z = head(y, k)
    return z.sum() + 1, -k
"""),
    ("loader_in_a_helper", [["f 3,4"], ["f 3,4"]], """from torch.utils.data import Dataset, DataLoader
class Rows(Dataset):
    def __init__(self, x):
        self.x = x
    def __len__(self):
        return len(self.x)
    def __getitem__(self, i):
        return self.x[i], i
net = nn.Linear(4, 4)
def evaluate(loader):
    net.eval()
    outs, n = [], 0
    with torch.no_grad():
        for x, i in loader:
            outs.append(net(x))
            n += x.size(0)
    return torch.cat(outs), n
def model(x):
    return evaluate(DataLoader(Rows(x), batch_size=2))
"""),
    ("loader_by_parts", [["f 4"], ["f 4"]], """from torch.utils.data import DataLoader, TensorDataset
rows = TensorDataset(torch.ones(4))
loader = DataLoader(rows, batch_size=2)
def first(loader):
    return next(iter(loader))[0]
def model(x):
    y = x.sin()
    y = y.cos()
    a = rows[0][0] + len(rows)
    n = len(loader)
    y = y * n + a
    a = first(loader)
    z = y[:2] + a
    return z.tan()
"""),
    ("super_in_a_classmethod", [["f 4"], ["f 4"]], """class Base:
    @classmethod
    def scale(cls, x):
        return x * cls.factor
    @staticmethod
    def shift(x):
        return x + 1
class Twice(Base):
    factor = 2
    @classmethod
    def scale(cls, x):
        return super().scale(x).cos()
def noting():
    log = []
    class Own:
        @staticmethod
        def note(y):
            log.append(1)
            return y + 1
        @property
        def notes(self):
            return len(log)
    return Own
Own = noting()
own = Own()
def model(x):
    return Own.note(Twice.shift(Twice.scale(x)).sin()), own.notes
"""),
    ("class_of_tensors", [["f 4"], ["f 4"]], """class Tagged(torch.Tensor):
    @staticmethod
    def __new__(cls, x, tag, *args, **kwargs):
        return super().__new__(cls, x, *args, **kwargs)
    def __init__(self, x, tag):
        self.tag = tag
class Logged(torch.Tensor):
    seen = []
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        Logged.seen.append(func.__name__)
        return super().__torch_function__(func, types, args, kwargs or {})
def model(x):
    Logged.seen.clear()
    t = Tagged(torch.tensor([1.0, 2.0, 3.0, 4.0]), "m")
    y = Logged([1.0, 2.0])
    z = torch.nn.functional.softmax(torch.relu(2 - y * 3) @ torch.stack([y, y]), 0)
    u = torch.tensor([1.0, 2.0]) - y
    u += 1
    names = [type(v).__name__ for v in (t + 1, z, u, z.sum(), y.view(2, 1).T)]
    return t.tag, names, list(Logged.seen), z, u, (t * 2).tolist(), str(t), [v.item() for v in y], bool(y[0] == 1)
"""),
    ("wrapper_of_tensors", [["f 4"], ["f 4"]], """from torch.utils._pytree import tree_map
class Wrapped(torch.Tensor):
    @staticmethod
    def __new__(cls, elem):
        return torch.Tensor._make_wrapper_subclass(cls, elem.shape, dtype=elem.dtype, device=elem.device)
    def __init__(self, elem):
        self.elem = elem
    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        inner = lambda t: t.elem if isinstance(t, Wrapped) else t
        out = func(*tree_map(inner, args), **tree_map(inner, kwargs or {}))
        return tree_map(lambda t: Wrapped(t) if isinstance(t, torch.Tensor) else t, out)
@torch._dynamo.disable
def wrapped(x):
    y = torch.relu(Wrapped(x) * 2 - 1)
    return type(y).__name__, y.shape, y.elem
def model(x):
    return wrapped(x.sin())
"""),
    ("functions_that_classes_override", [["f 4"], ["f 4"]], """from torch.overrides import TorchFunctionMode
handled = {}
def implements(function):
    def decorator(f):
        handled[function] = f
        return f
    return decorator
class Scalar:
    def __init__(self, n, value):
        self.n, self.value = n, value
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func not in handled or not all(issubclass(t, (torch.Tensor, Scalar)) for t in types):
            return NotImplemented
        return handled[func](*args, **(kwargs or {}))
@implements(torch.mean)
def mean(x):
    return float(x.value) / x.n
@implements(torch.add)
def add(a, b):
    return Scalar(a.n, a.value + b.value)
class Instead(TorchFunctionMode):
    def __init__(self):
        self.seen = []
    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.seen.append(func.__name__)
        if func is torch.add:
            return torch.sub(*args, **(kwargs or {}))
        return func(*args, **(kwargs or {}))
@torch._dynamo.disable
def model(x):
    try:
        torch.mul(Scalar(5, 2), 3)
        refused = False
    except TypeError:
        refused = True
    ones = torch.ones(2)
    mode = Instead()
    with mode:
        y = [torch.add(ones, ones), ones + ones, -ones, ones[0], 1 - ones, torch.nn.functional.linear(ones, ones[None])]
    return refused, torch.mean(Scalar(5, 2)), torch.add(Scalar(2, 1), Scalar(2, 3)).value, mode.seen, y, torch.add(ones, ones), torch.add is torch.Tensor.add
"""),
    ("layouts_that_are_asked", [["f 2,3,4,4"], ["f 2,3,4,4"]], """def model(x):
    y = x.permute(0, 3, 1, 2)
    z = x.is_contiguous(memory_format=torch.channels_last), y.is_contiguous(memory_format=torch.channels_last)
    return x.sin(), z, y.is_contiguous(memory_format=torch.contiguous_format), x[0].is_contiguous(memory_format=torch.channels_last)
"""),
]


def cases():
    """Every program with its source and its inputs."""
    for name, calls, body in PROGRAMS:
        rng = random.Random(name)
        yield {"name": name, "source": IMPORTS + body, "inputs": [[value(v, rng) for v in call] for call in calls]}
