# tests/grad/check.py -- gradients against finite differences, in float64.
#
# It comes before cases.py, whose CASES name an op of ops.def, shapes of its float
# arguments and a function of them.  model() prints a line for each that fails.
import math
import _grads
import torch
import torch.nn.functional as F

EPS = 1e-6


def numbers(shape, salt):
    """Distinct numbers between 0.1 and 0.9, in no order."""
    n = 1
    for size in shape:
        n = n * size
    values = [0.1 + 0.8 * ((0.6180339887498949 * (k + 1) + 0.377 * salt) % 1.0) for k in range(n)]
    return torch.tensor(values, dtype=torch.float64).reshape(shape)


def weights(shape):
    return numbers(shape, 7.3) + 0.5


def total(f, xs):
    out = f(*xs)
    outs = out if isinstance(out, (tuple, list)) else (out,)
    return sum([(o * weights(o.shape)).sum() for o in outs if o.dtype.is_floating_point])


def numeric(f, xs, i):
    made = []
    n = xs[i].numel()
    for k in range(n):
        step = torch.zeros(n, dtype=torch.float64)
        step[k] = EPS
        step = step.reshape(xs[i].shape)
        up = list(xs)
        up[i] = xs[i] + step
        down = list(xs)
        down[i] = xs[i] - step
        with torch.no_grad():
            made.append(((total(f, up) - total(f, down)) / (2 * EPS)).item())
    return torch.tensor(made, dtype=torch.float64).reshape(xs[i].shape)


def differ(given, wanted):
    if given is None:
        return None if bool((wanted.abs() <= 1e-6).all()) else "no gradient"
    if given.shape != wanted.shape:
        return f"shape {tuple(given.shape)} for {tuple(wanted.shape)}"
    if given.numel() == 0:
        return None
    bad = (given - wanted).abs() > 2e-6 + 2e-5 * wanted.abs()
    if bool(bad.any()) or bool(torch.isnan(given).any()):
        return f"{given.detach().reshape(-1).tolist()[:8]} for {wanted.reshape(-1).tolist()[:8]}"
    return None


def gradients(f, xs, create):
    loss = total(f, xs)
    if not loss.requires_grad:
        return [None] * len(xs)
    return list(torch.autograd.grad(loss, xs, create_graph=create, allow_unused=True))


def first(f, shapes, turned):
    xs = [numbers(shape, i) for i, shape in enumerate(shapes)]
    if turned:  # the same numbers, not row by row in memory
        xs = [x.t().contiguous().t() if x.ndim == 2 else x for x in xs]
    xs = [x.requires_grad_() for x in xs]
    plain = [x.detach() for x in xs]
    for i, g in enumerate(gradients(f, xs, False)):
        found = differ(g, numeric(f, plain, i))
        if found:
            return f"argument {i}: {found}"
    return None


def second(f, shapes):
    def slopes(*xs):
        xs = [x if x.requires_grad else x.detach().requires_grad_() for x in xs]
        with torch.enable_grad():
            made = gradients(f, xs, True)
        return [g for g in made if g is not None and g.requires_grad]

    xs = [numbers(shape, i).requires_grad_() for i, shape in enumerate(shapes)]
    plain = [x.detach() for x in xs]
    with torch.enable_grad():
        made = slopes(*xs)
    if not made:
        return None
    for i, g in enumerate(gradients(slopes, xs, False)):
        found = differ(g, numeric(slopes, plain, i))
        if found:
            return f"second derivative, argument {i}: {found}"
    return None


def check(name, f, shapes, twice):
    try:
        found = first(f, shapes, False) or first(f, shapes, True)
        if not found and twice:
            found = second(f, shapes)
    except RuntimeError as e:
        found = f"RuntimeError: {e}"
    except TypeError as e:
        found = f"TypeError: {e}"
    except ValueError as e:
        found = f"ValueError: {e}"
    if found:
        print(f"{name} {[tuple(s) for s in shapes]}: {found}")
