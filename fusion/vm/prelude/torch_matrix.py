# torch: what it calls of torch.linalg by names of its own, and a few with other arguments.
import collections

import torch
from torch import linalg


def _named(name, fields, values):
    return collections.namedtuple(name, fields)(*values)


def inverse(input, *, out=None):
    """One call."""
    return linalg.inv(input)


def det(input):
    """One call."""
    return linalg.det(input)


def slogdet(input):
    """One call."""
    return linalg.slogdet(input)


def logdet(input):
    """One call."""
    sign, size = linalg.slogdet(input)
    return torch.where(sign < 0, float("nan"), size)


def cholesky(input, upper=False, *, out=None):
    """One call."""
    return linalg.cholesky(input, upper=upper)


def cholesky_solve(input, L, upper=False, *, out=None):
    """One call."""
    low = L.mT if upper else L
    return linalg.solve_triangular(low.mT, linalg.solve_triangular(low, input, upper=False), upper=True)


def cholesky_inverse(L, upper=False, *, out=None):
    """One call."""
    return cholesky_solve(torch.eye(L.shape[-1], dtype=L.dtype).expand(L.shape), L, upper)


def triangular_solve(b, A, upper=True, transpose=False, unitriangular=False, *, out=None):
    """One call."""
    if transpose:
        A, upper = A.mT, not upper
    made = linalg.solve_triangular(A, b, upper=upper, unitriangular=unitriangular)
    return _named("triangular_solve", ["solution", "cloned_coefficient"], (made, A.clone()))


def qr(input, some=True, *, out=None):
    """One call."""
    return linalg.qr(input, "reduced" if some else "complete")


def svd(input, some=True, compute_uv=True, *, out=None):
    """One call."""
    U, S, Vh = linalg.svd(input, not some)
    return _named("svd", ["U", "S", "V"], (U, S, Vh.mT))


def pinverse(input, rcond=1e-15):
    """One call."""
    return linalg.pinv(input, rtol=rcond if rcond > 1e-15 else None)


def matrix_exp(A):
    """One call."""
    return linalg.matrix_exp(A)


def matrix_power(input, n, *, out=None):
    """One call."""
    return linalg.matrix_power(input, n)


def lu_solve(b, LU_data, LU_pivots, *, out=None):
    """One call."""
    return linalg.lu_solve(LU_data, LU_pivots, b)


def lu(A, pivot=True, get_infos=False, *, out=None):
    LU, pivots = linalg.lu_factor(A, pivot=pivot)
    if get_infos:
        return LU, pivots, torch.zeros(A.shape[:-2], dtype=torch.int32)
    return LU, pivots


def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True, *, out=None):
    """One call."""
    eye = torch.eye(LU_data.shape[-2], dtype=LU_data.dtype).expand(LU_data.shape[:-2] + (LU_data.shape[-2],) * 2)
    P = linalg.lu_solve(eye, LU_pivots, eye).mT if unpack_pivots else LU_data.new_empty(0)
    empty = LU_data.new_empty(0)
    L = torch.tril(LU_data, -1) + eye if unpack_data else empty
    return _named("lu_unpack", ["P", "L", "U"], (P, L, torch.triu(LU_data) if unpack_data else empty))


# ---- of few ranks, by random products (Halko et al., 2009)


def _basis(A, q, niter):
    """Orthonormal columns of which A keeps nearly all."""
    Q = linalg.qr(A @ torch.randn(A.shape[-1], q, dtype=A.dtype)).Q
    for _ in range(niter):
        Q = linalg.qr(A.mT @ Q).Q
        Q = linalg.qr(A @ Q).Q
    return Q


def svd_lowrank(A, q=6, niter=2, M=None):
    A = A if M is None else A - M
    wide = A.shape[-2] < A.shape[-1]
    A = A.mT if wide else A
    q = 6 if q is None else q
    Q = _basis(A, q, niter)
    U, S, Vh = linalg.svd(Q.mT @ A, full_matrices=False)
    U, V = Q @ U, Vh.mT
    return (V, S, U) if wide else (U, S, V)


def pca_lowrank(A, q=None, center=True, niter=2):
    least = min(A.shape[-2:])
    q = min(6, least) if q is None else q
    if not 0 <= q <= least:
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={least}")
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean(dim=-2, keepdim=True) if center else A, q, niter)
