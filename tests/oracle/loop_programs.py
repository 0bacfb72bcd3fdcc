"""tests/oracle/loop_programs.py -- breaks inside loops, of which TorchDynamo gives up some frames and resumes others, by where
CPython puts the jumps; and frames that it never compiles.

Rows: name, inputs of each call, source after the imports.  `record.py loop_cases.json loop_programs` writes what
replay.py replays.
"""
import random

from library_programs import IMPORTS
from own_programs import value

PROGRAMS = [
    ("break_pair", [["f 4,4"], ["f 4,4"], ["f 4,4"]], """def model(x):
    v = torch.ones(4)
    for i in range(6):
        v = (x @ v).tanh()
        if v.sum() > 100:
            break
    return v, i
"""),
    ("break_call", [["f 4,4"], ["f 4,4"], ["f 4,4"]], """def model(x):
    outs = []
    for i in range(4):
        x = x * 0.5
        outs.append(x)
        if x.abs().max() < 0.3:
            break
    return torch.stack(outs)
"""),
    ("return_inside", [["f 4,4"], ["f 4,4"], ["f 4,4"]], """def model(x):
    for i in range(4):
        x = x * 0.5
        if x.abs().max() < 0.3:
            return x
    return x + 1
"""),
    ("while_break", [["f 4,4"], ["f 4,4"], ["f 4,4"]], """def model(x):
    n = 0
    while True:
        x = x * 0.5
        n += 1
        if x.abs().sum() < 1:
            break
    return x
"""),
    ("while_break_method", [["f 4,4"], ["f 4,4"], ["f 4,4"]], """def model(x):
    n = 0
    while n < 5:
        x = x * 0.5
        n += 1
        if x.abs().sum() < 1:
            break
    return x.sum()
"""),
    ("continue_if", [["f 4,4"], ["f 4,4"], ["f 4,4"]], """def model(x):
    y = torch.zeros(4)
    for r in x:
        if r.sum() > 0:
            continue
        y = y + r
    return y
"""),
    ("break_expr", [["f 4,4"], ["f 4,4"], ["f 4,4"]], """def model(x):
    k = 0
    for r in x:
        if r.sum() > 3:
            break
        k += 1
    return x * k + 1
"""),
    ("break_nested", [["f 4,4"], ["f 4,4"], ["f 4,4"]], """def solve(x, tol):
    v = torch.ones(4)
    for i in range(5):
        w = x @ v
        w = w / w.norm()
        if (w - v).norm() < tol:
            break
        v = w
    return v
def model(x):
    return solve(x, 1e-3) * 2
"""),
    ("else_loop", [["f 4,4"], ["f 4,4"], ["f 4,4"]], """def model(x):
    for r in x:
        if r.sum() > 30:
            break
    else:
        x = x + 1
    return x
"""),
    ("print_in_loop", [["f 4,4"], ["f 4,4"], ["f 4,4"]], """def model(x):
    for i in range(2):
        x = x + 1
        print("step", i)
    return x
"""),
    ("while_tensor", [["f 4,4"], ["f 4,4"], ["f 4,4"]], """def model(x):
    x = x.abs()
    while x.sum() > 3:
        x = x * 0.5
    return x + 1
"""),
    ("while_return", [["f 4,4"], ["f 4,4"], ["f 4,4"]], """def model(x):
    n = 0
    while n < 4:
        n += 1
        x = x * 0.5
        if x.abs().max() < 0.3:
            return x
    return x + n
"""),
    ("while_if_else", [["f 4,4"], ["f 4,4"], ["f 4,4"]], """def model(x):
    n = 0
    while n < 3:
        n += 1
        if x.sum() > 0:
            x = x * 0.5
        else:
            x = x + 1
    return x
"""),
    ("for_try", [["f 4,4"], ["f 4,4"], ["f 4,4"]], """def model(x):
    for i in range(3):
        x = x * 0.5
        if i == 1 and x.sum() > 100:
            raise ValueError("too large")
    return x
"""),
    ("for_with_tail", [["f 4,4"], ["f 4,4"], ["f 4,4"]], """def model(x):
    hits = 0
    for i in range(3):
        if (x > i).any():
            hits += 1
            x = x - 1
        x = x * 2
    return x * hits
"""),
    ("nested_for_break", [["f 4,4"], ["f 4,4"], ["f 4,4"]], """def model(x):
    total = 0
    for i in range(2):
        for r in x:
            if r.max() > 1.5:
                break
            total = total + r
        x = x + 1
    return total
"""),
    ("search_return", [["f 4,4"], ["f 4,4"], ["f 4,4"]], """def find(rows, limit):
    for i, r in enumerate(rows):
        if r.norm() > limit:
            return i, r
    return -1, rows[0]
def model(x):
    i, r = find(x, 2.0)
    return r * (i + 1)
"""),
    ("item_list", [["f 4,4"], ["f 4,4"], ["f 4,4"]], """def model(x):
    out = []
    for r in x:
        out.append(r.sum().item())
    return x * max(out)
"""),
    ("text_of_objects", [["f 4"], ["f 4"], ["f 4"]], """class Meter:
    def __init__(self, name):
        self.name, self.total, self.count = name, 0.0, 0
    @property
    def average(self):
        return self.total / max(self.count, 1)
    def __str__(self):
        return f"{self.name} {self.average:.2f}"
meter = Meter("loss")
def model(x):
    y = x * 2
    meter.count += 1
    meter.total += 0.5 * meter.count
    print(meter)
    return y + 1
"""),
    ("text_of_tensors", [["f 3"], ["f 3"], ["f 3"]], """def text(v):
    return str(v * 2)
class Shown:
    def __init__(self, v):
        self.v = v
    def __str__(self):
        return text(self.v)
kept = [3, torch.ones(2), torch.ones(2)]
def model(x):
    y = x + 1
    print(Shown(kept.pop(0)))
    return y * 2
"""),
    ("schedule_of_rates", [["f 3,4"], ["f 3,4"], ["f 3,4"]], """net = nn.Linear(4, 2)
with torch.no_grad():
    net.weight.fill_(0.1)
    net.bias.fill_(0.2)
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
schedule = torch.optim.lr_scheduler.StepLR(opt, step_size=10)
def model(x):
    loss = net(x).square().mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    schedule.step()
    return loss.detach() * 2, torch.tensor(schedule.get_last_lr())
"""),
]


def cases():
    """Every program with its source and its inputs."""
    for name, calls, body in PROGRAMS:
        rng = random.Random(name)
        yield {"name": name, "source": IMPORTS + body, "inputs": [[value(v, rng) for v in call] for call in calls]}
