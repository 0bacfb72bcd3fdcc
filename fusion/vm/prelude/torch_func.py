# torch.func: a function of tensors as a function of its derivatives, of batches, or of a module's
# parameters.  A tree is a tensor, or a tuple, list or dict of trees.
import torch
from torch.utils._pytree import tree_leaves


def _leaves(tree):
    if isinstance(tree, torch.Tensor):
        return [tree]
    if isinstance(tree, dict):
        return [leaf for key in tree for leaf in _leaves(tree[key])]
    if isinstance(tree, (tuple, list)):
        return [leaf for part in tree for leaf in _leaves(part)]
    return []


def _like(tree, parts):
    """The parts of a tree in the kind of sequence that it is."""
    if hasattr(tree, "_fields"):
        return type(tree)(*parts)
    return tuple(parts) if isinstance(tree, tuple) else parts


def _map(function, tree):
    """The tree with function(leaf) in the place of each tensor."""
    if isinstance(tree, torch.Tensor):
        return function(tree)
    if isinstance(tree, dict):
        return {key: _map(function, tree[key]) for key in tree}
    if isinstance(tree, (tuple, list)):
        return _like(tree, [_map(function, part) for part in tree])
    return tree


def _rebuild(tree, leaves):
    """The tree with the leaves in the places of its tensors, in order."""
    rest = list(leaves)
    return _map(lambda leaf: rest.pop(0) if leaf is not None else leaf, tree)


def _without_record(tensor):
    """A graph hands out no tensor that lies in the memory of one with a record of its own."""
    made = tensor.detach()
    return made.clone() if tensor.requires_grad and torch._C._is_traced() else made


class _Level:
    """Inside it gradients are recorded; outside of the outermost they are not, unless an operand
    of the caller's requires one."""

    def __init__(self, operands):
        self.wanted = torch.is_grad_enabled() and any([leaf.requires_grad for leaf in _leaves(operands)])
        self.mode = torch.enable_grad()

    def __enter__(self):
        self.keeps = torch._C._derivative(True) > 0 or self.wanted
        self.mode.__enter__()
        return self

    def __exit__(self, kind, error, trace):
        torch._C._derivative(False)
        self.mode.__exit__(kind, error, trace)

    def begin(self, tree):
        return _map(lambda a: a.view_as(a) if a.requires_grad else a.detach().requires_grad_(), tree)

    def end(self, tree):
        return tree if self.keeps else _map(_without_record, tree)


def _grads(outputs, leaves, tangents):
    """Zeros where there is no way from an output to a leaf."""
    ways = [(o, t) for o, t in zip(outputs, tangents) if o.requires_grad]
    if not ways or not leaves:
        return [torch.zeros_like(leaf) for leaf in leaves]
    made = torch.autograd.grad(
        [o for o, _ in ways], leaves, [t for _, t in ways], create_graph=True, retain_graph=True, allow_unused=True
    )
    return [torch.zeros_like(leaf) if g is None else g for leaf, g in zip(leaves, made)]


def _chosen(args, argnums, name):
    several = isinstance(argnums, tuple)
    if not several and not isinstance(argnums, int):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    places = list(argnums) if several else [argnums]
    if not places:
        raise RuntimeError("argnums must be non-empty")
    for place in places:
        if not -len(args) <= place < len(args):
            raise RuntimeError(f"Got argnum={place}, but only {len(args)} positional inputs")
    for leaf in _leaves([args[place] for place in places]):
        if not leaf.dtype.is_floating_point:
            raise RuntimeError(f"{name}: expected a floating point input, got {leaf.dtype}")
    places = [place % len(args) for place in places]
    if len(set(places)) != len(places):
        raise RuntimeError(f"argnums elements must be unique, got {tuple(places)}")
    return places, several


def _placed(args, places, values):
    made = list(args)
    for place, value in zip(places, values):
        made[place] = value
    return made


def _split(made, has_aux, name):
    if not has_aux:
        return made, None
    if not isinstance(made, tuple) or len(made) != 2:
        raise RuntimeError(f"{name}(f): output of function f should be a tuple: (output, aux) if has_aux is True")
    for leaf in tree_leaves(made[1]):
        if not isinstance(leaf, torch.Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(leaf)}")
    return made


def _checked(output, name):
    """The tensors that a function gives, which has to give nothing else."""
    leaves = tree_leaves(output)
    if not leaves:
        raise RuntimeError(f"{name}: Expected f to be a function that has non-empty output (got output = {output})")
    for leaf in leaves:
        if not isinstance(leaf, torch.Tensor):
            raise RuntimeError(f"{name}: expected f(*primals) to return only tensors, got unsupported type {type(leaf)}")
    return leaves


def grad_and_value(func, argnums=0, has_aux=False):
    def wrapper(*args, **kwargs):
        places, several = _chosen(args, argnums, "grad_and_value")
        with _Level((args, kwargs)) as level:
            given = [level.begin(args[place]) for place in places]
            output, aux = _split(torch._C._in_eager(func)(*_placed(args, places, given), **kwargs), has_aux, "grad_and_value")
            if not isinstance(output, torch.Tensor):
                raise RuntimeError(
                    f"Expected f(*args) to return a Tensor, got {type(output)} instead; grad() takes a scalar tensor"
                )
            if output.dim() != 0:
                raise RuntimeError(
                    f"grad_and_value(f)(*args): Expected f(*args) to return a scalar tensor, got tensor with {output.dim()} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
                )
            found = _rebuild(given, _grads([output], _leaves(given), [torch.ones_like(output)]))
            found = level.end(tuple(found) if several else found[0])
            output, aux = level.end(output), level.end(aux)
        return (found, (output, aux)) if has_aux else (found, output)

    return wrapper


def grad(func, argnums=0, has_aux=False):
    inner = grad_and_value(func, argnums, has_aux)

    def wrapper(*args, **kwargs):
        found, value = inner(*args, **kwargs)
        return (found, value[1]) if has_aux else found

    return wrapper


def vjp(func, *primals, has_aux=False):
    with _Level(primals) as level:
        given = level.begin(primals)
        output, aux = _split(torch._C._in_eager(func)(*given), has_aux, "vjp")
        _checked(output, "vjp(f, *primals)")

    def pull(cotangents, retain_graph=True, create_graph=None):
        with _Level((primals, cotangents)) as inner:
            found = _rebuild(given, _grads(_leaves(output), _leaves(given), _leaves(cotangents)))
            return inner.end(tuple(found))

    shown = level.end(output)
    return (shown, pull, level.end(aux)) if has_aux else (shown, pull)


def jvp(func, primals, tangents, *, strict=False, has_aux=False):
    """J v as the derivative of v^T J by v, which J is linear in."""
    if not _leaves(tuple(primals)):
        raise RuntimeError("jvp(f, primals, tangents): Expected primals to contain at least one Tensor.")
    with _Level((primals, tangents)) as level:
        given = level.begin(tuple(primals))
        output, aux = _split(torch._C._in_eager(func)(*given), has_aux, "jvp")
        outputs = _checked(output, "jvp(f, primals, tangents)")
        around = [torch.zeros_like(o, requires_grad=True) for o in outputs]
        first = _grads(outputs, _leaves(given), around)
        made = _rebuild(output, _grads(first, around, _leaves(tuple(tangents))))
        output, made, aux = level.end(output), level.end(made), level.end(aux)
    return (output, made, aux) if has_aux else (output, made)


def linearize(func, *primals):
    output = func(*primals)
    return output, lambda *tangents: jvp(func, primals, tangents)[1]


def _jacobian(output, given):
    """For a tensor of the output, a tree like `given` of output.shape + leaf.shape."""
    leaves = _leaves(given)
    flat = output.reshape(-1)
    rows = [_grads([flat[i]], leaves, [torch.ones_like(flat[i])]) for i in range(flat.numel())]
    made = [
        torch.stack([row[k] for row in rows], 0).reshape(output.shape + leaf.shape)
        if rows
        else torch.zeros(output.shape + leaf.shape, dtype=leaf.dtype)
        for k, leaf in enumerate(leaves)
    ]
    return _rebuild(given, made)


def jacrev(func, argnums=0, *, has_aux=False, chunk_size=None, _preallocate_and_copy=False):
    def wrapper(*args, **kwargs):
        places, several = _chosen(args, argnums, "jacrev")
        with _Level((args, kwargs)) as level:
            given = [level.begin(args[place]) for place in places]
            output, aux = _split(torch._C._in_eager(func)(*_placed(args, places, given), **kwargs), has_aux, "jacrev")
            for leaf in _checked(output, "jacrev"):
                if not leaf.dtype.is_floating_point:
                    raise RuntimeError(f"jacrev: Expected all outputs to be real but received tensor of {leaf.dtype}")
            found = _map(lambda o: _jacobian(o, tuple(given) if several else given[0]), output)
            found, aux = level.end(found), level.end(aux)
        return (found, aux) if has_aux else found

    return wrapper


def jacfwd(func, argnums=0, has_aux=False, *, randomness="error"):
    return jacrev(func, argnums, has_aux=has_aux)


def hessian(func, argnums=0):
    return jacfwd(jacrev(func, argnums), argnums)


# ---- batches


def _spread(dims, tree):
    """One dim, or None, for each tensor of the tree."""
    if dims is None or isinstance(dims, int):
        return [dims for leaf in _leaves(tree)]
    if isinstance(tree, dict):
        return [d for key in tree for d in _spread(dims[key], tree[key])]
    if not isinstance(tree, (tuple, list)) or len(dims) != len(tree):
        raise ValueError(f"vmap: in_dims {dims} is not compatible with the structure of inputs")
    return [d for k, part in enumerate(tree) for d in _spread(dims[k], part)]


def _batch_size(leaves, dims):
    sizes = [leaf.shape[d] for leaf, d in zip(leaves, dims) if d is not None]
    if not sizes:
        raise ValueError("vmap(in_dims=None): at least one input has to have a dim to map over")
    if any([n != sizes[0] for n in sizes]):
        raise ValueError(f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped dimension")
    return sizes[0]


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    """The function of each item of a batch, and the results as one tensor again."""
    if randomness not in ("error", "different"):
        raise NotImplementedError(f'vmap: randomness is "error" or "different" here, not {randomness!r}')

    def wrapper(*args, **kwargs):
        dims = list(in_dims) if isinstance(in_dims, (tuple, list)) else in_dims
        dims = _spread(dims, args) + _spread(None, kwargs)  # each item gets the same keywords
        leaves = _leaves((args, kwargs))
        n = _batch_size(leaves, dims)
        results, call = [], torch._C._in_eager(func)
        for i in range(n):
            items = [leaf if d is None else leaf.select(d, i) for leaf, d in zip(leaves, dims)]
            given, named = _rebuild((args, kwargs), items)
            results.append(call(*given, **named))
        if n == 0:
            raise RuntimeError("vmap: a batch without items has no results here")
        if isinstance(results[0], (int, float, bool)) or results[0] is None:
            raise ValueError(f"vmap({func}): `{func}` must only return Tensors, got type {type(results[0])}.")
        columns = [_leaves(result) for result in results]
        outs = _spread(list(out_dims) if isinstance(out_dims, (tuple, list)) else out_dims, results[0])
        joined = []
        for k, d in enumerate(outs):
            column = [row[k] for row in columns]
            joined.append(column[0] if d is None else torch.stack(column, d))
        return _rebuild(results[0], joined)

    return wrapper


# ---- modules


def _owner(module, name):
    *path, last = name.split(".")
    for part in path:
        module = getattr(module, part)
    return module, last


def functional_call(module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False):
    """A call of the module with these tensors in the places of its own."""
    given = parameter_and_buffer_dicts
    if not isinstance(given, dict):
        given = {name: tensor for part in given for name, tensor in part.items()}
    if args is None:
        args = ()
    elif not isinstance(args, tuple):
        args = (args,)
    named = dict(list(module.named_parameters(remove_duplicate=False)) + list(module.named_buffers(remove_duplicate=False)))
    if strict and set(given) != set(named):
        raise RuntimeError(f"Missing or unexpected key(s): {sorted(set(given) ^ set(named))}")
    places = {}
    for name, tensor in given.items():
        places[name] = tensor
        for other in named if tie_weights and name in named else ():
            if other not in given and named[other] is named[name]:
                places[other] = tensor
    kept = []
    try:
        for name, tensor in places.items():
            owner, last = _owner(module, name)
            kept.append((owner, last, owner.__dict__[last]))
            owner.__dict__[last] = tensor
        return module(*args, **({} if kwargs is None else kwargs))
    finally:
        for owner, last, tensor in kept:
            owner.__dict__[last] = tensor


def stack_module_state(models):
    if len(models) == 0:
        raise RuntimeError("stack_module_state: Expected at least one model, got 0.")
    for name, p in models[0].named_parameters():
        if any([m.get_parameter(name).requires_grad != p.requires_grad for m in models]):
            raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    params = {
        name: torch.stack([dict(m.named_parameters())[name].detach() for m in models]).requires_grad_(p.requires_grad)
        for name, p in models[0].named_parameters()
    }
    buffers = {
        name: torch.stack([dict(m.named_buffers())[name] for m in models]) for name, _ in models[0].named_buffers()
    }
    return params, buffers
