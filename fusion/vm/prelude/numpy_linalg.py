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


eigvalsh = _matrix("eigvalsh")
slogdet = _matrix("slogdet")
cond = _matrix("cond")
svdvals = _matrix("svdvals")
outer, cross, trace, matmul, tensordot = numpy.outer, numpy.cross, numpy.trace, numpy.matmul, numpy.tensordot


def multi_dot(arrays):
    made = arrays[0]
    for a in arrays[1:]:
        made = made @ a
    return made


def vector_norm(x, *, axis=None, keepdims=False, ord=2):
    return numpy.wrap(torch.linalg.vector_norm(_real(x), ord, axis, keepdims))


def matrix_norm(x, *, keepdims=False, ord="fro"):
    return numpy.wrap(torch.linalg.matrix_norm(_real(x), ord, keepdim=keepdims))


def lstsq(a, b, rcond=None):
    a, b = _real(a), _real(b)
    rows = b.unsqueeze(-1) if b.dim() == 1 else b
    x = torch.linalg.lstsq(a, rows).solution
    s = torch.linalg.svdvals(a)
    left = ((a @ x - rows) ** 2).sum(0) if a.shape[0] > a.shape[1] else torch.zeros(0, dtype=a.dtype)
    x = x.squeeze(-1) if b.dim() == 1 else x
    return numpy.wrap(x), numpy.wrap(left), int(torch.linalg.matrix_rank(a)), numpy.wrap(s)
