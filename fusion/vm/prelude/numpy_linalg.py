# numpy.linalg, as far as torch.linalg has it.
import math
import numpy
import torch


class LinAlgError(ValueError):
    pass


def _real(a):
    t = numpy.tensor_of(a)
    return t if t.dtype.is_floating_point else t.double()


def norm(x, ord=None, axis=None, keepdims=False):
    t = _real(x)
    if ord is None or ord == "fro":
        axis = tuple(range(t.dim())) if axis is None else axis
        return numpy.wrap((t * t).sum(axis, keepdims).sqrt())
    if axis is None and t.dim() == 2:
        return numpy.wrap(torch.linalg.matrix_norm(t, ord))
    return numpy.wrap(torch.linalg.vector_norm(t, ord, axis, keepdims))


def _matrix(name):
    def call(a, *rest):
        made = getattr(torch.linalg, name)(_real(a), *[_real(b) if isinstance(b, (list, numpy.ndarray)) else b for b in rest])
        return tuple([numpy.wrap(t) for t in made]) if isinstance(made, tuple) else numpy.wrap(made)

    return call


inv = _matrix("inv")
det = _matrix("det")
solve = _matrix("solve")
svd = _matrix("svd")
qr = _matrix("qr")
eigh = _matrix("eigh")
cholesky = _matrix("cholesky")
pinv = _matrix("pinv")
matrix_rank = _matrix("matrix_rank")


def matrix_power(a, n):
    t = _real(a)
    made = torch.eye(t.shape[-1], dtype=t.dtype)
    for _ in range(n):
        made = made @ t
    return numpy.wrap(made)
