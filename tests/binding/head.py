# What every program of tests/binding/check.py begins with.
import math
import torch
import torch.nn as nn
import torch.nn.functional as F

def show(v):
    if isinstance(v, torch.Tensor):
        text = f"{v.dtype} {list(v.shape)} {v.requires_grad} {v.detach().tolist()}"
        return text if v.grad is None else text + " grad " + show(v.grad)
    if isinstance(v, (tuple, list)):
        return "(" + ", ".join([show(one) for one in v]) + ")"
    if isinstance(v, dict):
        return "{" + ", ".join([f"{k}: {show(one)}" for k, one in v.items()]) + "}"
    return repr(v)

def seen(v, *inputs):
    text = show(v)
    if isinstance(v, torch.Tensor) and v.requires_grad and v.grad_fn is not None:
        v.sum().backward()
    return text + " | " + show(inputs)


def used(module, *args):
    """A layer in training and out of it, its gradients and its state."""
    first = module(*args)
    for out in first if isinstance(first, tuple) else (first,):
        if isinstance(out, torch.Tensor) and out.requires_grad:
            out.sum().backward(retain_graph=True)
    grads = [p.grad for p in module.parameters()]
    state = {name: v.detach().clone() for name, v in module.state_dict().items()}
    module.eval()
    return first, grads, state, module(*args)


def set_and_used(module, args, **attributes):
    for name, value in attributes.items():
        setattr(module, name, value)
    return used(module, *args)


def ran(module, *args, **named):
    return module(*args, **named)


def stepped(make, key=None, value=None):
    """Parameters after each of three steps; a key of the first group set before them."""
    p = torch.tensor([1.0, -2.0, 3.0], requires_grad=True)
    q = torch.tensor([[0.5, 2.0]], requires_grad=True)
    optimizer = make([p, q])
    if key is not None:
        optimizer.param_groups[0][key] = value
    seen = []
    for scale in (1.0, -3.0, 0.5):
        optimizer.zero_grad()
        loss = ((p * scale) ** 2).sum() + (q * scale).sum()
        loss.backward()
        optimizer.step()
        seen += [p.detach().clone(), q.detach().clone()]
    return seen


def stepped_with(make, **keys):
    for key, value in keys.items():
        return stepped(make, key, value)
    return stepped(make)


def scheduled(make):
    """The learning rates of six epochs."""
    p = torch.tensor([1.0], requires_grad=True)
    optimizer = torch.optim.SGD([p], lr=0.5)
    optimizer.param_groups[0]["initial_lr"] = 0.5  # which last_epoch needs
    scheduler = make(optimizer)
    rates = []
    for _ in range(6):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    return rates


def with_grads():
    p = torch.tensor([3.0, -4.0], requires_grad=True)
    q = torch.tensor([1.0], requires_grad=True)
    p.grad, q.grad = torch.tensor([3.0, -4.0]), torch.tensor([12.0])
    return [p, q]
