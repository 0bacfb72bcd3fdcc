"""tests/cuda/recurrent.py -- programs whose memory outlives a kernel: steps of a recurrence, state between calls, training.

Workloads for sanitize.py (--recurrent) and values.py: what is freed is taken again by the next step, what is kept is
written where it lies, and each is called several times, so that recordings are replayed.
"""

HEAD = """import torch
import torch.nn as nn
import torch.nn.functional as F

"""
CALLS = 4


def randn(*shape, seed=0, dtype="float32"):
    return {"random": {"shape": list(shape), "dtype": dtype, "kind": "randn", "seed": seed}}


def randint(*shape, high, seed=0):
    return {"random": {"shape": list(shape), "dtype": "int64", "kind": "randint", "low": 0, "high": high, "seed": seed}}


# Name to source and the arguments of a call.
PROGRAMS = {
    "lstm_written_out": ("""
def model(x, wx, wh, b):
    h = c = torch.zeros(x.shape[0], 24)
    out = []
    for t in range(x.shape[1]):
        i, f, g, o = (F.linear(x[:, t], wx, b) + F.linear(h, wh)).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        out.append(h)
    return torch.stack(out, 1), c
""", [randn(6, 5, 16), randn(96, 16, seed=1), randn(96, 24, seed=2), randn(96, seed=3)]),
    "gru_written_out": ("""
def model(x, wx, wh):
    h = torch.zeros(x.shape[0], 12)
    for t in range(x.shape[1]):
        a, b = x[:, t] @ wx, h @ wh
        r, z = torch.sigmoid(a[:, :12] + b[:, :12]), torch.sigmoid(a[:, 12:24] + b[:, 12:24])
        h = (1 - z) * torch.tanh(a[:, 24:] + r * b[:, 24:]) + z * h
    return h
""", [randn(5, 4, 8), randn(8, 36, seed=1), randn(12, 36, seed=2)]),
    "modules": ("""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(8, 12, 2, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(24, 7, batch_first=True)
        self.rnn = nn.RNN(7, 5, batch_first=True)

    def forward(self, x):
        y, (h, c) = self.lstm(x)
        return self.rnn(self.gru(y)[0])[0], h, c


torch.manual_seed(0)
net = Net()


def model(x):
    return net(x)
""", [randn(3, 4, 8)]),
    "state_between_calls": ("""
class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("h", torch.zeros(4, 9))
        self.register_buffer("seen", torch.zeros(6, 4, 9))
        self.at = 0

    def forward(self, x, w):
        h = torch.tanh(x + self.h @ w)
        self.seen[self.at % 6].copy_(h)
        self.h.mul_(0.5).add_(h)
        self.at += 1
        return h, self.seen.sum(0), self.h * 1


cell = Cell()


def model(x, w):
    return cell(x, w)
""", [randn(4, 9), randn(9, 9, seed=1)]),
    # Memory that a tensor gets from another one, and inputs that the program holds.
    "data_of_others": ("""
torch.manual_seed(3)
net = nn.Linear(9, 5)
averages = [torch.zeros_like(p) for p in net.parameters()]


def model(x, y):
    loss = (net(x) - y).square().mean()
    loss.backward()
    with torch.no_grad():
        for p, a in zip(net.parameters(), averages):
            p.data = p.data - 0.25 * p.grad
            a.data = a.data * 0.75 + p.data * 0.25
            p.grad = None
    return loss.detach(), [a * 1 for a in averages], net.weight.detach() * 1
""", [randn(7, 9), randn(7, 5, seed=1)]),
    "data_swapped": ("""
held = [torch.zeros(6, 8), torch.ones(6, 8)]


def model(x):
    a, b = held
    new = torch.tanh(x + a * 0.5 + b)
    a.data = b * 2 + 1
    b.data = new
    return a.sum(0), b + x, held[0] * 1
""", [randn(6, 8)]),
    "inputs_of_the_program": ("""
weight = torch.arange(24.0).view(4, 6) * 0.125
table = {"rows": [torch.ones(6), torch.arange(6.0)]}


def model(w, again, turned, rows, n):
    w.add_(rows[1] * 0.5)
    again.mul_(0.75)
    return w @ turned * n, again + rows[0], turned.sum(0)
""", [{"python": "weight"}, {"python": "weight"}, {"python": "weight.t()"}, {"python": "table['rows']"}, {"python": "3 + 1"}]),
    "cache_of_keys": ("""
keys, values = torch.zeros(2, 8, 16), torch.zeros(2, 8, 16)
step = [0]


def model(q, k, v):
    t = step[0] % 8
    keys[:, t] = k
    values[:, t] = v
    step[0] += 1
    scores = torch.einsum("bd,btd->bt", q, keys) / 4
    scores = scores.masked_fill(torch.arange(8) > t, -1e9)
    return torch.einsum("bt,btd->bd", torch.softmax(scores, -1), values)
""", [randn(2, 16), randn(2, 16, seed=1), randn(2, 16, seed=2)]),
    # Large enough to be written where it lies: one place, several, the same one twice.
    "cache_by_index": ("""
keys, values, sums = torch.zeros(2, 3, 40, 16), torch.zeros(2, 3, 40, 16), torch.zeros(40, 48)


def model(q, k, v, place, places):
    at = place + places[:1]
    keys.index_copy_(2, at, k)
    values.index_copy_(2, at, v)
    seen = torch.arange(40) <= at
    y = F.scaled_dot_product_attention(q, keys, values, attn_mask=seen[None, None, None])
    keys.index_copy_(2, places, torch.cat([k, v, q], 2))
    sums[places] = q[0].reshape(1, 48).expand(3, 48) + places[:, None]
    sums.index_add_(0, places[:2], v.reshape(2, 48))
    place.add_(1)
    return y, keys * 1, values.sum(2), sums * 1
""", [randn(2, 3, 1, 16), randn(2, 3, 1, 16, seed=1), randn(2, 3, 1, 16, seed=2), randint(1, high=9), randint(3, high=2)]),
    "written_in_a_loop": ("""
def model(x, index):
    y = x.clone()
    for t in range(1, x.shape[1]):
        y[:, t] += 0.5 * y[:, t - 1]
        y[:, t].clamp_(-1, 1)
    total = torch.zeros(5)
    for _ in range(3):
        total.scatter_add_(0, index, y.sum(1))
        y = torch.cumsum(y.flip(1), 1) * 0.1
    return y, total, torch.sort(y, 1)[0], y.index_add(0, index, x[:5])
""", [randn(5, 7), randint(5, high=5, seed=1)]),
    "until_it_is_small": ("""
def model(x):
    n = 0
    while x.abs().sum() > 1:
        x = torch.relu(x * 0.5) - 0.01
        n += 1
    return x, n
""", [randn(3, 11)]),
    "batch_norm_in_training": ("""
torch.manual_seed(0)
norm = nn.BatchNorm2d(3)
norm.train()


def model(x):
    return torch.relu(norm(x)), norm.running_mean * 1, norm.running_var * 1
""", [randn(4, 3, 5, 6)]),
    "training": ("""
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(6, 10), nn.Tanh(), nn.Linear(10, 2))
opt = torch.optim.Adam(net.parameters(), lr=0.05)


def model(x, y):
    opt.zero_grad()
    loss = F.mse_loss(net(x), y)
    loss.backward()
    opt.step()
    return loss, [p.grad * 1 for p in net.parameters()], [p * 1 for p in net.parameters()]
""", [randn(8, 6), randn(8, 2, seed=1)]),
    "training_a_recurrence": ("""
torch.manual_seed(0)
cell, head = nn.LSTMCell(4, 6), nn.Linear(6, 1)
opt = torch.optim.SGD([*cell.parameters(), *head.parameters()], lr=0.1, momentum=0.9)


def model(x):
    h = c = torch.zeros(x.shape[0], 6)
    opt.zero_grad()
    for t in range(x.shape[1]):
        h, c = cell(x[:, t], (h, c))
    loss = head(h).pow(2).mean()
    loss.backward()
    opt.step()
    return loss, cell.weight_hh * 1
""", [randn(5, 3, 4)]),
    # Blocks share a row, and count each other between two launches.
    "long_rows": ("""
def model(x):
    a = x.sum(1)
    b = torch.softmax(x, 1)
    return a, b.amax(1), x.sum(), (x * x).mean(0).sum(), torch.cumsum(x, 1)[:, -1], torch.logsumexp(b, 1)
""", [randn(2, 70000)]),
    "graph_breaks": ("""
def model(x):
    y = (x * 2).view(-1)
    torch._dynamo.graph_break()
    z = y.reshape(x.shape).softmax(0) @ x.t()
    torch._dynamo.graph_break()
    return z.sum(0), y[::2] + 1
""", [randn(6, 8)]),
}


def workloads(modes, device="cuda", calls=CALLS):
    return [{"name": name, "source": HEAD + source.lstrip("\n"), "calls": [arguments] * calls, "modes": modes, "device": device, "entry": "model"} for name, (source, arguments) in PROGRAMS.items()]
