# torch: functions of functions.
import torch


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
    if isinstance(pred, torch.Tensor):
        if pred.numel() != 1:
            raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
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
