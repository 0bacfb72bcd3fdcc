"""tests/oracle/everyday_programs.py -- what working programs do: caches that grow, layers as wide as the batch, hooks,
calls that compute nothing, the same program called many times.

Rows: name, inputs of each call, source after the imports.  `record.py everyday_cases.json everyday_programs` writes what
replay.py replays, mode auto with the others.
"""
import random

from library_programs import IMPORTS
from own_programs import value

AUTO = True  # what torch.compile() does without dynamic= is recorded, too
# Where releases differ in which floats are symbols (2.6: those that changed, in every mode; 2.11: of dynamic=True at once).
# Where 2.6 cannot make a graph of symbols, or breaks there alone.
AUTO_ALONE = {"statistics_that_ask", "statistics_of_one_graph", "percent_of_a_loss", "rate_as_alpha", "rate_as_value", "rate_as_weight", "rate_of_a_schedule", "rate_that_grows", "time_that_is_kept", "time_of_no_use"}

PROGRAMS = [
    ("nothing_at_first", [["f 4", 0], ["f 4", 1], ["f 4", 2], ["f 4", 0]], """def model(x, n):
    for _ in range(n):
        x = x.sin()
    return x
"""),
    ("nothing_later", [["f 4", 1], ["f 4", 0], ["f 4", 2], ["f 4", 3]], """def model(x, n):
    for _ in range(n):
        x = x.sin()
    return x
"""),
    ("nothing_but_an_effect", [["f 4", 0], ["f 4", 1], ["f 4", 2], ["f 4", 0]], """log = []
def model(x, n):
    log.append(n)
    for _ in range(n):
        x = x.sin()
    return x
"""),
    ("nothing_in_a_helper", [["f 4", 0], ["f 4", 1], ["f 4", 2], ["f 4", 0]], """def inner(x, n):
    if n == 0:
        return x
    x = x.sin()
    print("a")
    return x.cos()
def model(x, n):
    y = inner(x, n)
    return y
"""),
    ("nothing_after_a_break", [["f 4", 0], ["f 4", 1], ["f 4", 2], ["f 4", 0]], """def model(x, n):
    x = x + 1
    print("a")
    for _ in range(n):
        x = x.sin()
    return x
"""),
    ("cache_of_two", [["f 1,1,8", "f 1,2,8", "f 1,2,8"], ["f 1,1,8", "f 1,3,8", "f 1,3,8"], ["f 1,1,8", "f 1,4,8", "f 1,4,8"]], """def model(x, c, d):
    k = torch.cat([c, x], dim=1)
    v = torch.cat([d, x], dim=1)
    return (x @ k.transpose(1, 2)).softmax(-1) @ v
"""),
    ("cache_and_attention", [["f 2,1,8", "f 2,2,8", "f 2,2,8"], ["f 2,1,8", "f 2,3,8", "f 2,3,8"], ["f 2,1,8", "f 2,4,8", "f 2,4,8"]], """def model(x, c, d):
    k = torch.cat([c, x], dim=1)
    v = torch.cat([d, x], dim=1)
    return F.scaled_dot_product_attention(x, k, v)
"""),
    ("cache_of_heads", [["f 2,2,1,8", "f 2,2,2,8", "f 2,2,2,8"], ["f 2,2,1,8", "f 2,2,3,8", "f 2,2,3,8"], ["f 2,2,1,8", "f 2,2,4,8", "f 2,2,4,8"]], """def model(x, c, d):
    k = torch.cat([c, x], dim=2)
    v = torch.cat([d, x], dim=2)
    att = (x @ k.transpose(-2, -1)) * 8 ** -0.5
    return att.softmax(-1) @ v
"""),
    ("layer_as_wide_as_the_batch", [["f 4,8"], ["f 4,8"], ["f 6,8"]], """net = nn.Linear(8, 4)
def model(x):
    return net(x)
"""),
    ("results_kept", [["f 4,8"], ["f 4,8"], ["f 6,8"]], """net = nn.Linear(8, 4)
feats = {}
def model(x):
    y = net(x)
    feats["a"] = y.detach()
    return y
"""),
    ("parameter_as_long_as_the_batch", [["f 4,8"], ["f 4,8"], ["f 6,8"]], """w = nn.Parameter(torch.ones(4, 4))
def model(x):
    return x.sum(1) + w.sum(), x.sum(0)
"""),
    ("one_row_at_first", [["f 1,8", 0], ["f 1,8", 1], ["f 1,8", 2], ["f 1,8", 3]], """cache = torch.zeros(6, 8)
def model(x, pos):
    keys = cache[:pos + 1]
    return (x @ keys.t()).softmax(-1) @ keys
"""),
    ("buffer_that_changes", [["f 4,8"], ["f 4,8"], ["f 6,8"]], """class M(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("b", torch.ones(4))
    def forward(self, x):
        y = x.sum(1)
        self.b = y.detach().mean() + self.b
        return y, self.b.sum()
model = M()
"""),
    ("layers_as_wide_as_the_batch", [["f 4,8"], ["f 4,8"], ["f 6,8"]], """model = nn.Sequential(nn.Linear(8, 4), nn.BatchNorm1d(4), nn.Linear(4, 6))
"""),
    ("one_group_at_first", [["f 4,8"], ["f 4,8"], ["f 8,8"]], """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)
        self.emb = nn.Parameter(torch.zeros(1, 4, 8))
    def forward(self, x):
        return self.fc(x).view(-1, 4, 8) + self.emb
model = Net()
"""),
    ("rate_as_alpha", [["f 4", "f 4", 0.1], ["f 4", "f 4", 0.2], ["f 4", "f 4", 0.30000000000000004], ["f 4", "f 4", 0.4]], """def model(x, g, lr):
    return x.add(g, alpha=-lr)
"""),
    ("rate_as_value", [["f 4", "f 4", 0.1], ["f 4", "f 4", 0.2], ["f 4", "f 4", 0.30000000000000004], ["f 4", "f 4", 0.4]], """def model(x, g, lr):
    return torch.addcdiv(x, g, g.abs() + 1, value=-lr)
"""),
    ("rate_as_weight", [["f 4", "f 4", 0.1], ["f 4", "f 4", 0.2], ["f 4", "f 4", 0.30000000000000004], ["f 4", "f 4", 0.4]], """def model(x, g, lr):
    return x.lerp(g, 1 - lr) + x.addcmul(g, g, value=1 - lr)
"""),
    ("rate_of_a_schedule", [["f 5,4", "f 5,1"], ["f 5,4", "f 5,1"], ["f 5,4", "f 5,1"], ["f 5,4", "f 5,1"]], """net = nn.Linear(4, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 4))
def model(x, y):
    loss = F.mse_loss(net(x), y)
    loss.backward()
    opt.step()
    sched.step()
    opt.zero_grad()
    return loss.detach(), sched.get_last_lr()[0]
"""),
    ("time_that_is_kept", [["f 4"], ["f 4"], ["f 4"]], """import time
def model(x):
    start = time.time()
    y = x.sin()
    print("a")
    return y + 1
"""),
    ("time_of_no_use", [["f 4"], ["f 4"], ["f 4"]], """import time
def model(x):
    start = time.time()
    y = x.sin()
    return y + 1
"""),
    ("as_large_as_it_was", [["f 1,3,8,8"], ["f 1,3,10,10"], ["f 1,3,12,12"]], """def model(x):
    return F.interpolate(x, size=x.shape[-2:], mode="nearest")
"""),
    ("as_large_again", [["f 1,3,8,8"], ["f 1,3,10,10"], ["f 1,3,12,12"]], """def model(x):
    return F.interpolate(F.avg_pool2d(x, 2), size=x.shape[-2:], mode="bilinear", align_corners=False)
"""),
    ("planes_by_factors", [["f 1,3,8,6"], ["f 1,3,10,8"], ["f 1,3,12,10"]], """def model(x):
    y = F.interpolate(x, scale_factor=2, mode="bilinear", align_corners=True)
    z = F.interpolate(x, size=(x.shape[2] // 2, x.shape[3] * 3), mode="bilinear")
    return y.mean(), z, F.interpolate(x, scale_factor=0.5, mode="bilinear", recompute_scale_factor=True)
"""),
    ("volumes_by_factors", [["f 1,2,4,4,4"], ["f 1,2,6,4,4"], ["f 1,2,8,4,4"]], """def model(x):
    return F.interpolate(x, scale_factor=(2, 1, 1), mode="trilinear"), F.interpolate(x, size=(5, 3, 6), mode="nearest")
"""),
    ("layer_that_enlarges", [["f 1,2,4,4"], ["f 1,2,6,4"], ["f 1,2,8,4"]], """up = nn.Upsample(scale_factor=2, mode="bilinear", align_corners=True)
def model(x):
    return up(x).sin().sum() + F.interpolate(x, scale_factor=2).cos().sum()
"""),
    ("last_of_each", [["f 2,6,8"], ["f 2,8,8"], ["f 2,10,8"]], """def model(x):
    return x[:, x.size(1) - 1] * 2
"""),
    ("place_of_each", [["f 2,6,8", 2], ["f 2,6,8", 3], ["f 2,6,8", 4]], """def model(x, i):
    return x[:, i] * 2
"""),
    ("padding_with_a_number", [["f 2,6,8"], ["f 2,8,8"], ["f 2,10,8"]], """m = nn.ConstantPad1d(2, 0.5)
def model(x):
    return m(x)
"""),
    ("groups_of_channels", [["f 3,6,8"], ["f 3,8,8"], ["f 3,10,8"]], """def model(x):
    return F.group_norm(x.transpose(1, 2), 2)
"""),
    ("layer_of_groups", [["f 3,8,6"], ["f 3,8,8"], ["f 3,8,10"]], """m = nn.GroupNorm(2, 8)
def model(x):
    return m(x)
"""),
    ("pool_of_a_line", [["f 2,6,8"], ["f 2,8,8"], ["f 2,10,8"]], """def model(x):
    return F.max_pool1d(x.transpose(1, 2), 3, stride=2, padding=1)
"""),
    ("places_of_a_line", [["f 2,6,8"], ["f 2,8,8"], ["f 2,10,8"]], """def model(x):
    return torch.linspace(0, 1, x.size(1))
"""),
    ("pool_in_a_chain", [["f 2,6,8"], ["f 2,8,8"], ["f 2,10,8"]], """m = nn.Sequential(nn.Conv1d(8, 4, 3, padding=1), nn.BatchNorm1d(4), nn.ReLU(), nn.MaxPool1d(2))
def model(x):
    return m(x.transpose(1, 2))
"""),
    ("gradient_read_after", [["f 4"], ["f 4"]], """w = nn.Parameter(torch.ones(4))
def model(x):
    w.grad = None
    y = x * w
    y.sum().backward()
    return w.grad + 0
"""),
    ("hook_of_a_layer", [["f 4,4"], ["f 4,4"]], """net = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))
gs = []
def bh(m, gi, go):
    gs.append(go[0].norm())
net[0].register_full_backward_hook(bh)
def model(x):
    net.zero_grad()
    net(x).sum().backward()
    return net[0].weight.grad + 0, gs[-1]
"""),
    ("function_and_print", [["f 4,4"], ["f 4,4"]], """class F2(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.exp()
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * x.exp()
w = nn.Parameter(torch.ones(4))
def model(x):
    w.grad = None
    y = F2.apply(x * w)
    print("mid")
    y.sum().backward()
    return w.grad + 0
"""),
    ("hook_after_accumulation", [["f 4,4"], ["f 4,4"]], """w = nn.Parameter(torch.ones(4))
opt = torch.optim.SGD([w], lr=0.1)
log = []
w.register_post_accumulate_grad_hook(lambda p: log.append(p.grad.sum()))
def model(x):
    loss = (x * w).sum()
    loss.backward()
    opt.step()
    opt.zero_grad()
    return w.detach() + 0, log[-1]
"""),
    ("hooks_that_keep", [["f 4,8"], ["f 4,8"], ["f 6,8"]], """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(8, 16)
        self.fc2 = nn.Linear(16, 4)
    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))
net = Net()
features = {}
def save(name):
    def hook(module, inputs, output):
        features[name] = output.detach()
    return hook
net.fc1.register_forward_hook(save("fc1"))
net.fc2.register_forward_hook(save("fc2"))
def model(x):
    y = net(x)
    return y, features["fc1"].mean(), features["fc2"].shape
"""),
    ("hook_within", [["f 3,4"], ["f 3,4"]], """w = nn.Parameter(torch.ones(4) * 0.3)
grads = []
def model(x):
    y = x * w
    y.register_hook(lambda g: g * 2)
    z = y.sin()
    loss = z.sum()
    loss.backward()
    g = w.grad.clone()
    w.grad = None
    return loss.detach(), g
"""),
    ("cache_in_an_object", [["f 1,1,8"], ["f 1,1,8"], ["f 1,1,8"], ["f 1,1,8"], ["f 1,1,8"], ["f 1,1,8"]], """class Cache:
    def __init__(self):
        self.k = None
        self.v = None
    def update(self, k, v):
        if self.k is None:
            self.k, self.v = k, v
        else:
            self.k = torch.cat([self.k, k], dim=1)
            self.v = torch.cat([self.v, v], dim=1)
        return self.k, self.v
class Attn(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.qkv = nn.Linear(d, 3 * d)
        self.cache = Cache()
    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, dim=-1)
        k, v = self.cache.update(k.detach(), v.detach())
        return F.scaled_dot_product_attention(q, k, v)
model = Attn(8).eval()
"""),
    ("twenty_calls", [["f 4", 0, False], ["f 4", 1, True], ["f 4", 2, False], ["f 4", 3, True], ["f 4", 0, False], ["f 4", 1, True], ["f 4", 2, False], ["f 4", 3, True], ["f 4", 0, False], ["f 4", 1, True], ["f 4", 2, False], ["f 4", 3, True], ["f 4", 0, False], ["f 4", 1, True], ["f 4", 2, False], ["f 4", 3, True], ["f 4", 0, False], ["f 4", 1, True], ["f 4", 2, False], ["f 4", 3, True]], """def model(x, n, flag):
    for _ in range(n):
        x = x.sin()
    return x * 2 if flag else x
"""),
    ("grad_mode_of_a_number", [["f 4", 0], ["f 4", 1], ["f 4", 2], ["f 4", 0]], """w = nn.Parameter(torch.ones(4))
def model(x, k):
    with torch.set_grad_enabled(k != 0):
        y = (x * w).sin()
    return y.requires_grad, y * k
"""),
    ("rate_that_grows", [["f 4", 0], ["f 4", 1], ["f 4", 2], ["f 4", 3], ["f 4", 4], ["f 4", 5], ["f 4", 2]], """def model(x, step):
    return x * min(1.0, (step + 1) / 4) + max((step - 4) / 2, 0.0)
"""),
    ("member_of_a_number", [["f 4", 0], ["f 4", 1], ["f 4", 0]], """from enum import Enum
class Mode(Enum):
    TRAIN = 0
    TEST = 1
def model(x, i):
    mode = Mode(i)
    return x.sin() if mode is Mode.TRAIN else x.cos()
"""),
    ("gradients_are_clipped", [["f 8,4", "f 8,3"], ["f 8,4", "f 8,3"], ["f 8,4", "f 8,3"]], """net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
def model(x, y):
    loss = F.cross_entropy(net(x), y.argmax(1))
    opt.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    nn.utils.clip_grad_value_(net.parameters(), 0.2)
    opt.step()
    return loss.item(), norm
"""),
    ("percent_of_a_loss", [["f 6,4"], ["f 6,4"], ["f 6,4"]], """net = nn.Linear(4, 1)
def model(x):
    loss = net(x).pow(2).sum()
    print('loss %.3f' % (loss.item() / len(x)))
    return loss.detach() * 2
"""),
    ("row_by_a_number", [["f 5,4"], ["f 5,4"]], """def model(x):
    i = x.sum(1).argmax()
    y = x.clone()
    y[i] = 0
    return x[i] * 2, y, x[torch.tensor(2)], x[i.view(1)]
"""),
    ("rows_in_a_loop", [["f 5,4"], ["f 5,4"]], """def model(x):
    order = x.sum(1).argsort()
    found = []
    for k in range(2):
        found.append(x[order[k], 1:3])
    return torch.stack(found)
"""),
    ("row_that_is_given", [["f 5,4"], ["f 5,4"]], """at = torch.tensor(3)
def model(x):
    return x[at] * 2, x[:, at]
"""),
    ("data_of_a_parameter", [["f 8,4", "f 8,1"], ["f 8,4", "f 8,1"], ["f 8,4", "f 8,1"]], """w = nn.Parameter(torch.zeros(4, 1))
def model(x, y):
    loss = F.mse_loss(x @ w, y)
    w.grad = None
    loss.backward()
    w.data -= 0.1 * w.grad
    return loss.detach(), w.detach() + 0
"""),
    ("statistics_of_an_array", [["f 6"], ["f 6"], ["f 6"]], """import numpy as np
def model(x):
    a = x.numpy()
    m, s = a.mean(), a.std()
    b = (a - m) / (s + 1e-6)
    return torch.from_numpy(b) * a.max(), x[a.argmax()], torch.tensor(a @ a) + x * a[0]
"""),
    ("number_of_an_array", [["f 6"], ["f 6"], ["f 6"]], """import numpy as np
seen = []
def model(x):
    m = np.abs(x.numpy()).mean()
    seen.append(m)
    if m.clip(0, 9) > 100:
        return x
    return x * m
"""),
    ("manager_that_times", [["f 6"], ["f 6"]], """import time
class Timer:
    total = 0.0
    def __enter__(self):
        self.t = time.time()
        return self
    def __exit__(self, *a):
        self.total += time.time() - self.t
timer = Timer()
def model(x):
    with timer:
        y = x.sin()
    return y * 2
"""),
    ("rounds_by_a_remainder", [["f 4", k] for k in (1, 2, 3, 4, 5, 7, 9, 2)], """def model(x, k):
    for _ in range(k % 3):
        x = x.sin()
    return x * k
"""),
    ("children_in_both_modes", [["f 2,4"], ["f 2,4"], ["f 2,4"]], """class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.h = nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])
        self.s = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
    def forward(self, x):
        for layer in self.h:
            x = layer(x)
        return self.s(x)
net = Net()
@torch.compiler.disable
def toggle():
    net.train(not net.training)
def model(x):
    toggle()
    return net(x)
"""),
    ("module_that_eager_makes", [["f 2,4"], ["f 2,4"]], """class Net(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.a = nn.Linear(4, n)
        self.b = nn.Sequential(nn.Linear(n, n), nn.ReLU())
        self.scale(0.5)
    def scale(self, by):
        with torch.no_grad():
            self.a.weight.mul_(by)
    def forward(self, x):
        return self.b(self.a(x))
def model(x):
    net = Net(3)
    return net(x).shape
"""),
    ("bounds_of_a_draw", [["f 2,4"], ["f 2,4"]], """layer = nn.Linear(4, 3)
def model(x):
    with torch.no_grad():
        layer.weight.uniform_(-1 / layer.in_features, 1 / layer.in_features)
    return layer(x).shape, (layer.weight.abs() <= 0.25).all()
"""),
    ("variable_of_old", [["f 4"], ["f 4"]], """from torch.autograd import Variable
def model(x):
    y = Variable(x + 1)
    return y * 2, isinstance(y, Variable)
"""),
    ("rate_of_an_array", [["f 2,4"], ["f 2,4"], ["f 2,4"]], """import numpy as np
net = nn.Linear(4, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
rates = np.linspace(0.1, 0.3, 6)
done = []
def model(x):
    for _ in range(2):
        for group in opt.param_groups:
            group["lr"] = rates[len(done)]
        loss = net(x).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        done.append(1)
    return loss.detach(), net.weight.detach() + 0
"""),
    ("steps_that_count", [["f 2,4", "NAdam"], ["f 2,4", "RAdam"], ["f 2,4", "Adamax"]], """net = nn.Linear(4, 2)
def model(x, kind):
    opt = getattr(torch.optim, kind)(net.parameters(), lr=0.1)
    for k in range(7):
        loss = net(x * (1 + k)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.detach(), net.weight.detach() + 0
"""),
    ("parameters_of_one_tensor", [["f 3"], ["f 3"]], """given = torch.ones(3)
a, b = nn.Parameter(given), nn.Parameter(given)
w = torch.full((3,), 2.0, requires_grad=True)
c, d = nn.Parameter(w * 2), nn.Parameter(w * 3, requires_grad=False)
def model(x):
    (a * x + b * 3 + c * 4).sum().backward()
    found = a is b, given.requires_grad, isinstance(given, nn.Parameter), c.is_leaf, d.requires_grad, w.grad is None
    return found, a.grad + 0, b.grad + 0, c.grad + 0
"""),
    ("optimizers_of_a_kind", [["f 2,4"], ["f 2,4"]], """pairs = []
for _ in range(2):
    net = nn.Linear(4, 4)
    pairs.append((net, torch.optim.SGD(net.parameters(), lr=0.1)))
def model(x):
    for net, opt in pairs:
        opt.zero_grad()
        net(x).sum().backward()
        opt.step()
    return pairs[0][0].weight.detach() + pairs[1][0].weight.detach()
"""),
    ("pruned_layers", [["f 2,4"], ["f 2,4"]], """import torch.nn.utils.prune as prune
a, b = nn.Linear(4, 6), nn.Linear(6, 2)
prune.l1_unstructured(a, name="weight", amount=0.5)
prune.ln_structured(a, name="weight", amount=1, n=2, dim=0)
prune.global_unstructured([(b, "weight"), (b, "bias")], pruning_method=prune.L1Unstructured, amount=5)
prune.remove(b, "weight")
names = sorted(dict(a.named_parameters())), sorted(dict(b.named_buffers())), prune.is_pruned(a), prune.is_pruned(b)
def model(x):
    return b(a(x)), names, a.weight + 0, b.weight + 0
"""),
    ("layers_that_are_folded", [["f 2,1,4,4"], ["f 2,1,4,4"]], """from torch.nn.utils.fusion import fuse_conv_bn_eval
from torch.nn.utils.parametrizations import orthogonal
conv, norm = nn.Conv2d(1, 3, 3).eval(), nn.BatchNorm2d(3).eval()
norm.running_mean.copy_(torch.tensor([0.1, 0.2, 0.3]))
folded = fuse_conv_bn_eval(conv, norm)
turned, wide = orthogonal(nn.Linear(4, 4)), orthogonal(nn.Linear(2, 4))
def model(x):
    return folded(x), wide.weight.mT @ wide.weight, turned(x)
"""),
    ("numbers_of_few_bits", [["f 3,4"], ["f 3,4"]], """scales = torch.tensor([0.1, 0.2, 0.3, 0.4])
zeros = torch.tensor([0, 1, 2, 3], dtype=torch.int32)
def model(x):
    x = x + 0.001
    a = torch.fake_quantize_per_tensor_affine(x, 0.1, 3, -5, 6)
    b = torch.fake_quantize_per_channel_affine(x, scales, zeros, 1, -128, 127)
    return a, b
"""),
    ("made_in_a_graph", [["f 2,4"], ["f 2,4"]], """net = nn.Linear(4, 2)
def model(x):
    criterion = nn.MSELoss()
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    opt.zero_grad()
    loss = criterion(net(x), nn.Identity()(x)[:, :2])
    loss.backward()
    opt.step()
    return loss.detach()
"""),
    ("layers_in_a_list", [["f 2,4"], ["f 2,4"]], """def model(x):
    net = nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2), nn.Tanh())
    return net(x).shape
"""),
    ("around_an_optimizer", [["f 2,4"], ["f 2,4"]], """from collections import defaultdict
class Around(torch.optim.Optimizer):
    def __init__(self, inner):
        self.inner = inner
        self.param_groups = inner.param_groups
        self.state = defaultdict(dict)
    def step(self):
        self.inner.step()
        for group in self.param_groups:
            for p in group["params"]:
                state = self.state[p]
                state["n"] = state.get("n", 0) + 1
net = nn.Linear(4, 2)
opt = Around(torch.optim.SGD(net.parameters(), lr=0.1))
def model(x):
    net(x).sum().backward()
    opt.step()
    opt.inner.zero_grad()
    return net.weight.detach() + 0, opt.state[net.weight]["n"]
"""),
    ("statistics_that_ask", [["f 3,4"], ["f 3,4"]], """def model(x):
    y = x * 2
    a = torch.cov(y) + 1
    b = torch.corrcoef(y) + 1
    c = torch.quantile(y, 0.5, dim=1) + 1
    d = torch.nanquantile(y, torch.tensor([0.25, 0.5])) + 1
    e = torch.combinations(y[0]) + 1
    return a, b, c, d, e
"""),
    ("solutions_that_ask", [["f 4,3"], ["f 4,3"]], """def model(x):
    y = torch.linalg.lstsq(x * 2 + torch.eye(4, 3), x[:, :2]).solution + 1
    z = F.ctc_loss(x[:, None].log_softmax(-1) * 1, torch.tensor([[1]]), torch.tensor([4]), torch.tensor([1])) + 1
    return y, z
"""),
    ("quantiles_of_arrays", [["f 3,4"], ["f 3,4"]], """import numpy as np
def model(x):
    y = (x * 2).numpy()
    return torch.as_tensor(np.quantile(y, 0.25)) + 1, torch.as_tensor(np.percentile(y, 30, axis=0)) + 1, torch.as_tensor(np.median(y)) + 1
"""),
    ("statistics_of_one_graph", [["f 3,4"], ["f 3,4"]], """def model(x):
    y = x * 2
    u = torch.distributions.Uniform(y[0] - 9, y[0] + 9)
    counts, edges = torch.histogram(y, 3)
    return torch.histc(y, 3) + 1, counts + 1, edges, u.log_prob(x), torch.tensor_split(y, indices=(1, 3), dim=1)[1]
"""),
]


def cases():
    """Every program with its source and its inputs."""
    for name, calls, body in PROGRAMS:
        rng = random.Random(name)
        yield {"name": name, "source": IMPORTS + body, "inputs": [[value(v, rng) for v in call] for call in calls]}
