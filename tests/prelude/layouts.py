# How results lie in memory: strides, what is contiguous in which format, which views there are.
import torch
import torch.nn as nn
import torch.nn.functional as F


def say(name, t):
    print(name, tuple(t.stride()), t.is_contiguous(), t.is_contiguous(memory_format=torch.channels_last))


def views(name, make):
    try:
        print(name, tuple(make().shape))
    except RuntimeError:
        print(name, "no such view")


def matrices():
    x = torch.arange(24.0).reshape(4, 6) - 10
    a = x.t() + 1
    for name, t in {
        "sum": a,
        "part": x.t()[::2, ::2].clone(),
        "both": a * x.t() + torch.ones(6, 4),
        "rows first": torch.ones(6, 4) + a,
        "relu": a.relu(),
        "softmax": x.t().softmax(-1),
        "where": torch.where(x.t() > 0, x.t(), 0.0),
        "cast": x.t().double(),
        "narrow cast": x.t()[::2].double(),
        "like": torch.zeros_like(a),
        "repeated": x[:1].expand(4, 6).t() * 2,
        "silu": F.silu(a),
        "flipped": a.flip(0),
    }.items():
        say(name, t)
    z = a.clone()
    z.add_(1)
    r = a.reshape(-1)
    r.mul_(2)
    say("written", z)
    say("reshaped", r)
    print(float(a.sum()), float(z.sum()), float(r.sum()))
    views("flat", lambda: a.view(-1))
    views("flat after a write", lambda: z.view(-1))
    views("turned and flat", lambda: a.t().view(-1))
    a.t().view(-1).mul_(0)
    print(float(a.abs().sum()))


def pictures():
    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 4, 1))
    net = net.to(memory_format=torch.channels_last)
    p = torch.arange(216.0).reshape(2, 3, 6, 6) / 100
    x = p.to(memory_format=torch.channels_last)
    say("to", x)
    say("contiguous", p.contiguous(memory_format=torch.channels_last))
    say("clone", x.clone())
    say("clone in rows", x.clone(memory_format=torch.contiguous_format))
    y = net(x)
    say("net", y)
    say("of rows", net(p))
    say("after a break", y * 2)
    say("half", x.half())
    say("mixed", x + p)
    say("mixed, rows first", p + x)
    say("weight", net[0].weight)
    views("flat", lambda: y.view(2, -1))
    print(y.flatten(1).shape, round(float(y.detach().sum()), 3))
    (y * y).sum().backward()
    print([round(float(q.grad.abs().sum()), 2) for q in net.parameters()])
    try:
        torch.zeros(2, 3).to(memory_format=torch.channels_last)
    except RuntimeError as e:
        print(str(e).split(",")[0])


def gradients():
    x = torch.arange(6.0).reshape(2, 3).t().requires_grad_()
    y = torch.arange(2.0, requires_grad=True)
    z = x.clone()
    z[1] = y
    (z * torch.arange(6.0).reshape(3, 2)).sum().backward()
    print(x.grad.tolist(), y.grad.tolist())
    w = torch.ones(3, requires_grad=True)
    u = (torch.arange(6.0).reshape(2, 3) * w).t() * 1
    print("a break")
    (u * u).sum().backward()
    print(w.grad.tolist())
    conv = nn.Conv2d(1, 1, 1)
    print("a break")
    for q in conv.parameters():
        q.data = q.data.clone()
    conv(torch.ones(1, 1, 2, 2)).sum().backward()
    print([q.grad.tolist() for q in conv.parameters()])


def model():
    matrices()
    gradients()
    pictures()
