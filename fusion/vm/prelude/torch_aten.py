# torch.ops.aten: the functions of torch under the names of their overloads.
import torch
import torch.nn.functional as F


def _sum(x, *args, **keywords):
    return x.sum(*args, **keywords)


def _list_as_cat(tensors, dim=0):
    return torch.cat(tensors, dim)


def _to_copy(x, *, dtype=None, **keywords):
    return x.clone() if dtype is None or dtype == x.dtype else x.to(dtype)


_others = {
    "_softmax": lambda x, dim, half_to_float=False: torch.softmax(x, dim),
    "_log_softmax": lambda x, dim, half_to_float=False: torch.log_softmax(x, dim),
    "_unsafe_view": lambda x, size: x.reshape(size),
    "_to_copy": _to_copy,
    "alias": lambda x: x.view_as(x),
    "slice": lambda x, dim=0, start=None, end=None, step=1: x[(slice(None),) * (dim % x.dim()) + (slice(start, end, step),)],
    "scalar_tensor": lambda v, **keywords: torch.tensor(v, **keywords),
    "native_layer_norm": lambda x, shape, weight, bias, eps: (
        F.layer_norm(x, shape, weight, bias, eps),
        x.mean([-1 - k for k in range(len(shape))], keepdim=True),
        torch.rsqrt(x.var([-1 - k for k in range(len(shape))], correction=0, keepdim=True) + eps),
    ),
    "sym_size": lambda x, dim: x.size(dim),
    "sym_numel": lambda x: x.numel(),
    "index": lambda x, indices: x[tuple([slice(None) if i is None else i for i in indices])],
    "div": lambda x, y, *, rounding_mode=None: torch.div(x, y, rounding_mode=rounding_mode),
}


class _Packet:
    """One function; an overload of it, as add.Tensor, is the same."""

    def __init__(self, name):
        self._name = name
        self.__name__ = name

    def __getattr__(self, overload):
        if overload[:1] == "_":
            raise AttributeError(f"The underlying op of 'aten.{self._name}' has no overload name '{overload}'")
        return self

    def __call__(self, *args, **keywords):
        name = self._name
        if name in _others:
            return _others[name](*args, **keywords)
        if name[-1:] != "_" and hasattr(torch, name):
            return getattr(torch, name)(*args, **keywords)
        if args and isinstance(args[0], torch.Tensor) and hasattr(args[0], name):
            return getattr(args[0], name)(*args[1:], **keywords)
        if hasattr(F, name):
            return getattr(F, name)(*args, **keywords)
        raise AttributeError(f"'_OpNamespace' 'aten' object has no attribute '{name}'")

    def __repr__(self):
        return f"<OpOverloadPacket(op='aten.{self._name}')>"


class _Aten:
    def __getattr__(self, name):
        if name[:2] == "__":
            raise AttributeError(f"'_OpNamespace' 'aten' object has no attribute '{name}'")
        return _Packet(name)


aten = _Aten()
