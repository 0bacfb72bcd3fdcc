# torch.autograd.graph.saved_tensors_hooks: what ops save goes through one function, and comes back through another.
import torch
from torch.autograd.graph import disable_saved_tensors_hooks, save_on_cpu, saved_tensors_hooks


def show(t):
    return [round(v, 3) + 0.0 for v in t.reshape(-1).tolist()]


def counted():
    packed, unpacked = [], []

    def pack(t):
        packed.append(tuple(t.shape))
        return len(packed), t.double() * 2

    def unpack(p):
        unpacked.append(p[0])
        return (p[1] / 2).float()

    x = torch.tensor([[0.5, -1.0], [2.0, 0.25]], requires_grad=True)
    w = torch.ones(2, 2, requires_grad=True)
    with saved_tensors_hooks(pack, unpack):
        y = x * w
        z = y.exp()
        s = z + 1
    print(len(packed), sorted(set(packed)), unpacked)
    s.sum().backward(retain_graph=True)
    print(show(x.grad), show(w.grad), len(unpacked))
    s.sum().backward()
    print(show(x.grad), len(packed), len(unpacked))
    q = (x * w).sum()
    print(len(packed))


def changed():
    """The gradient is made of what unpack gives."""
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with saved_tensors_hooks(lambda t: t * 10, lambda t: t):
        y = x * x
        with saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
            z = x.sin()
        v = x.cos()
    (y + z + v).sum().backward()
    print(show(x.grad))
    with torch.no_grad(), saved_tensors_hooks(lambda t: 1 / 0, lambda t: t):
        print(show(x * x))


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, k):
        ctx.save_for_backward(x, None)
        ctx.k = k
        return x * x * x * k

    @staticmethod
    def backward(ctx, g):
        x, none = ctx.saved_tensors
        return 3 * x * x * ctx.k * g, none


def functions():
    seen = []
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with saved_tensors_hooks(lambda t: (seen.append("pack"), t.tolist())[1], lambda p: (seen.append("unpack"), torch.tensor(p))[1]):
        y = Cube.apply(x, 2)
    y.sum().backward()
    print(seen, show(x.grad))
    with save_on_cpu(pin_memory=False):
        z = (x * x).sum()
    x.grad = None
    z.backward()
    print(show(x.grad))


def refused():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    try:
        with disable_saved_tensors_hooks("no hooks here"):
            with saved_tensors_hooks(lambda t: t, lambda t: t):
                x.exp()
    except RuntimeError as e:
        print(e)
    with saved_tensors_hooks(lambda t: t, lambda t: "text"):
        y = x.exp().sum()
    try:
        y.backward()
    except TypeError as e:
        print("Output of saved tensor unpack_hook expected to be a Tensor" in str(e))
    try:
        with saved_tensors_hooks(lambda t: 1 / 0, lambda t: t):
            x.exp()
    except ZeroDivisionError as e:
        print(e)
    print(show(x.exp()))


def model():
    counted()
    changed()
    functions()
    refused()
