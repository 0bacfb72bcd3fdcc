# torch: functions of functions.
import torch
from torch.utils._pytree import tree_leaves


def vmap(func, in_dims=0, out_dims=0, randomness="error", *, chunk_size=None):
    return torch.func.vmap(func, in_dims, out_dims, randomness, chunk_size=chunk_size)


def _where(pred, yes, no):
    if isinstance(yes, torch.Tensor):
        return torch.where(pred.reshape(()), yes, no)
    if isinstance(yes, dict):
        return {key: _where(pred, yes[key], no[key]) for key in yes}
    made = [_where(pred, a, b) for a, b in zip(yes, no)]
    return tuple(made) if isinstance(yes, tuple) else made


def cond(pred, true_fn, false_fn, operands=()):
    """In a graph both sides are computed, and one of them chosen."""
    if not isinstance(operands, (tuple, list)):
        raise RuntimeError(f"Expect operands to be a tuple of possibly nested dict/list/tuple that only consists of tensor leaves, but got {operands}.")
    for leaf in tree_leaves(operands):
        if not isinstance(leaf, (torch.Tensor, int)):
            raise RuntimeError(f"Expect operands to be a tuple of possibly nested dict/list/tuple that only consists of tensor leaves, but got {operands}.")
    if isinstance(pred, torch.Tensor):
        if pred.numel() != 1:
            raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
        if pred.dtype != torch.bool:
            pred = pred != 0
        if torch.compiler.is_compiling():
            return _where(pred, true_fn(*operands), false_fn(*operands))
    elif not isinstance(pred, (bool, int)):
        raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred}.")
    return true_fn(*operands) if pred else false_fn(*operands)


def while_loop(cond_fn, body_fn, carried_inputs):
    """The loop is Python's: a graph ends where its condition is read."""
    carried = tuple(carried_inputs)
    while cond_fn(*carried):
        carried = body_fn(*carried)
        if not isinstance(carried, (tuple, list)):
            raise RuntimeError(f"body_fn should return a tuple or list but got {type(carried)}")
        carried = tuple(carried)
    return carried


def cond_op(pred, true_fn, false_fn, operands=()):
    return cond(pred, true_fn, false_fn, operands)


def wrap(func, *args, **kwargs):
    """A call that FX keeps as one node with a graph inside; where a graph ends in it, eager runs all
    of it."""
    if torch.compiler.is_compiling():
        return torch._C._body(func, *args, **kwargs)
    return torch._C._in_eager(func)(*args, **kwargs)


def _unstacked(tree, i):
    if isinstance(tree, torch.Tensor):
        return tree[i]
    if isinstance(tree, dict):
        return {key: _unstacked(part, i) for key, part in tree.items()}
    if isinstance(tree, (tuple, list)):
        parts = [_unstacked(part, i) for part in tree]
        return tuple(parts) if isinstance(tree, tuple) else parts
    raise RuntimeError(f"map() operands must be a list of tensors and modules, got {type(tree)}.")


def _stacked(trees):
    first = trees[0]
    if isinstance(first, torch.Tensor):
        return torch.stack(trees)
    if isinstance(first, dict):
        return {key: _stacked([tree[key] for tree in trees]) for key in first}
    if isinstance(first, (tuple, list)):
        parts = [_stacked([tree[k] for tree in trees]) for k in range(len(first))]
        return tuple(parts) if isinstance(first, tuple) else parts
    return first


def _lengths(tree):
    if isinstance(tree, torch.Tensor):
        if tree.dim() == 0:
            raise RuntimeError("Leading dimensions of mapped xs cannot be 0.")
        return [tree.shape[0]]
    parts = tree.values() if isinstance(tree, dict) else tree
    return [n for part in parts for n in _lengths(part)]


def map(f, xs, *args):
    """f of each slice of the trees of tensors `xs` along dim 0, and the results stacked."""
    lengths = _lengths(xs)
    if not lengths:
        raise RuntimeError("map() operands must be a list of tensors and modules, got none.")
    if any([n != lengths[0] for n in lengths]):
        raise RuntimeError(f"Leading dimensions of mapped xs must be consistent. Got shapes {lengths}.")
    if lengths[0] == 0:
        raise RuntimeError("Leading dimensions of mapped xs cannot be 0.")
    if torch.compiler.is_compiling():
        return _stacked([torch._C._pure_body(f, _unstacked(xs, i), *args) for i in range(lengths[0])])
    f = torch._C._in_eager(f)
    return _stacked([f(_unstacked(xs, i), *args) for i in range(lengths[0])])
