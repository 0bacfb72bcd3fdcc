"""torch.autograd.functional: products with derivatives of a function, and whole derivatives."""
import torch


def _listed(v, name, what):
    """A tuple of tensors, and whether one tensor was given."""
    single = isinstance(v, torch.Tensor)
    items = (v,) if single else tuple(v)
    for item in items:
        if not isinstance(item, torch.Tensor):
            raise TypeError(f"The {what} of {name} must be either a Tensor or a tuple of Tensors but it has {type(item)}.")
    return items, single


def _leaves(inputs, create_graph):
    return tuple([a.view_as(a) if create_graph and a.requires_grad else a.detach().requires_grad_() for a in inputs])


def _run(func, inputs, name):
    return _listed(func(*inputs), name, "outputs")


def _asked(v, like, name):
    """What a product is taken with: ones where each of `like` has one element."""
    if v is None:
        for a in like:
            if a.numel() != 1:
                raise RuntimeError(f"The vector v can only be None if the user-provided function returns a single Tensor with a single element.")
        return tuple([torch.ones_like(a) for a in like])
    made = _listed(v, name, "v")[0]
    if len(made) != len(like):
        raise RuntimeError(f"v is a tuple of invalid length: should be {len(like)} but got {len(made)}.")
    for a, b in zip(made, like):
        if a.shape != b.shape:
            raise RuntimeError(f"v has invalid size: should be {b.shape} but got {a.shape}.")
    return made


def _grads(outputs, inputs, with_, create_graph):
    """Zeros where there is no way from an output to an input."""
    reached = [(o, w) for o, w in zip(outputs, with_) if o.requires_grad]
    if not reached:
        return tuple([torch.zeros_like(a) for a in inputs])
    made = torch.autograd.grad([o for o, _ in reached], inputs, [w for _, w in reached], create_graph=create_graph, retain_graph=True, allow_unused=True)
    return tuple([torch.zeros_like(a) if g is None else g for a, g in zip(inputs, made)])


def _given(made, single, create_graph):
    if not create_graph:
        made = tuple([m.detach() for m in made])
    return made[0] if single else tuple(made)


def _lenient(strict, name):
    if strict:
        raise NotImplementedError(f"{name}(): strict=True is not in the language so far")


def vjp(func, inputs, v=None, create_graph=False, strict=False):
    _lenient(strict, "vjp")
    with torch.enable_grad():
        given, single = _listed(inputs, "vjp", "inputs")
        leaves = _leaves(given, create_graph)
        outputs, one = _run(func, leaves, "vjp")
        made = _grads(outputs, leaves, _asked(v, outputs, "vjp"), create_graph)
        return _given(outputs, one, create_graph), _given(made, single, create_graph)


def jvp(func, inputs, v=None, create_graph=False, strict=False):
    """The derivative of v^T J by v: J as a function that is linear in v."""
    _lenient(strict, "jvp")
    with torch.enable_grad():
        given, _ = _listed(inputs, "jvp", "inputs")
        with_ = _asked(v, given, "jvp")
        leaves = _leaves(given, create_graph)
        outputs, one = _run(func, leaves, "jvp")
        around = tuple([torch.zeros_like(o, requires_grad=True) for o in outputs])
        first = _grads(outputs, leaves, around, True)
        made = _grads(first, around, with_, create_graph)
        return _given(outputs, one, create_graph), _given(made, one, create_graph)


def jacobian(func, inputs, create_graph=False, strict=False, vectorize=False, strategy="reverse-mode"):
    _lenient(strict, "jacobian")
    if strategy != "reverse-mode":
        raise NotImplementedError('jacobian(): strategy has to be "reverse-mode"')
    with torch.enable_grad():
        given, single = _listed(inputs, "jacobian", "inputs")
        leaves = _leaves(given, create_graph)
        outputs, one = _run(func, leaves, "jacobian")
        rows = []
        for out in outputs:
            flat = out.reshape(-1)
            parts = [_grads([flat[i]], leaves, [torch.ones_like(flat[i])], create_graph) for i in range(flat.numel())]
            made = [torch.stack([p[k] for p in parts], 0).reshape(out.shape + leaf.shape) if parts else torch.zeros(out.shape + leaf.shape, dtype=leaf.dtype) for k, leaf in enumerate(leaves)]
            rows.append(_given(made, single, create_graph))
        return rows[0] if one else tuple(rows)


def hessian(func, inputs, create_graph=False, strict=False, vectorize=False, outer_jacobian_strategy="reverse-mode"):
    _lenient(strict, "hessian")
    given, single = _listed(inputs, "hessian", "inputs")

    def first(*at):
        out = func(*at)
        if not isinstance(out, torch.Tensor) or out.numel() != 1:
            raise RuntimeError("The Tensor returned by the function given to hessian should contain a single element")
        made = _grads([out], at, [torch.ones_like(out)], True)
        return made[0] if single else made

    return jacobian(first, inputs, create_graph, False, vectorize, outer_jacobian_strategy)


def hvp(func, inputs, v=None, create_graph=False, strict=False):
    """H v, as the derivative of the gradient's product with v."""
    _lenient(strict, "hvp")
    with torch.enable_grad():
        given, single = _listed(inputs, "hvp", "inputs")
        with_ = _asked(v, given, "hvp")
        leaves = _leaves(given, create_graph)
        outputs, one = _run(func, leaves, "hvp")
        first = _grads(outputs, leaves, _asked(None, outputs, "hvp"), True)
        made = _grads(first, leaves, with_, create_graph)
        return _given(outputs, one, create_graph), _given(made, single, create_graph)


vhp = hvp  # the Hessian is symmetric
