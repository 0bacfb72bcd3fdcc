# What a torch.autograd.Function saves is as it was when its backward() reads it, or that is an error.
import torch
from torch.autograd import Function


class Exp(Function):
    @staticmethod
    def forward(ctx, x, keep):
        r = x.exp()
        ctx.save_for_backward(r, None, x)
        ctx.keep = keep
        return r

    @staticmethod
    def backward(ctx, g):
        r, nothing, x = ctx.saved_tensors
        return g * r + (0 if nothing is None else 1), None


class Marked(Function):
    @staticmethod
    def forward(ctx, x):
        i, k = x > 0, x.detach() * 2
        ctx.mark_non_differentiable(i, k)
        return x * 2, i, k, None, 5

    @staticmethod
    def backward(ctx, *grads):
        print([None if g is None else (g.dtype, tuple(g.shape)) for g in grads])
        return grads[0]


def refused(f):
    try:
        f()
    except RuntimeError as e:
        return str(e)[:88]


def run(change):
    x = torch.tensor([0.5, -1.0], requires_grad=True)
    h = x * 2
    y = Exp.apply(h, 3)
    z = y * 3
    change(h, y, z)
    z.sum().backward(retain_graph=True)
    z.sum().backward()
    return x.grad


def changed_result(h, y, z):
    y.mul_(2)


def changed_argument(h, y, z):
    with torch.no_grad():
        h[0] = 7.0


def changed_other(h, y, z):
    z.add_(1)


def model():
    print(run(changed_other))
    print(refused(lambda: run(changed_result)))
    print(refused(lambda: run(changed_argument)))
    y = Exp.apply(torch.ones(2, requires_grad=True), 1)
    y.sum().backward()
    print(refused(lambda: y.sum().backward()))
    x = torch.ones(3, requires_grad=True)
    made = Marked.apply(x)
    print([getattr(m, "requires_grad", None) for m in made])
    made[0].sum().backward()
    print(x.grad)
