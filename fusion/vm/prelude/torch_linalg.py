# torch.linalg: functions that are made of the ops of ops.def.  What begins with "One call"
# is one node to FX.
import collections
import math

import _dtypes
import torch


def multi_dot(tensors, *, out=None):
    """One call: linalg_multi_dot."""
    return torch.chain_matmul(*tensors)


def cross(input, other, *, dim=-1, out=None):
    """One call: linalg_cross."""
    return torch.cross(input, other, dim)


def vecdot(x, y, *, dim=-1, out=None):
    """One call: linalg_vecdot."""
    if x.dtype != y.dtype:
        raise RuntimeError(
            f"linalg.vecdot: Expected x and y to have the same dtype, but found x of type {_dtypes.name(x)} and y of type {_dtypes.name(y)} instead"
        )
    return (x * y).sum(dim)


def matmul(input, other, *, out=None):
    """One call: linalg_matmul."""
    return torch.matmul(input, other)


def _square(A, name):
    if A.dim() < 2:
        raise RuntimeError(f"{name}: The input tensor A must have at least 2 dimensions.")
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError(f"{name}: A must be batches of square matrices, but they are {A.shape[-2]} by {A.shape[-1]} matrices")
    return A.shape[-1]


def _part(row, at, rows, columns):
    return row.narrow(-1, at, rows * columns).reshape(list(row.shape[:-1]) + [rows, columns])


def _eye_like(A):
    return torch.eye(A.shape[-1], dtype=A.dtype).expand(A.shape)


def matrix_power(A, n, *, out=None):
    """One call: linalg_matrix_power."""
    _square(A, "linalg.matrix_power")
    if n < 0:
        A, n = inv(A), -n
    made = None
    while n > 0:
        if n % 2 == 1:
            made = A if made is None else made @ A
        A, n = A @ A if n > 1 else A, n // 2
    return _eye_like(A).clone() if made is None else made


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None, out=None):
    """One call: linalg_matrix_norm."""
    if ord == "fro":
        return torch.linalg.vector_norm(A, 2, dim, keepdim)
    rank = A.dim()
    rows, columns = dim[0] % rank, dim[1] % rank
    if ord in ("nuc", 2, -2):
        values = svdvals(A.movedim((rows, columns), (-2, -1)))
        made = values.sum(-1) if ord == "nuc" else values.amax(-1) if ord == 2 else values.amin(-1)
        for d in sorted([rows, columns]) if keepdim else ():
            made = made.unsqueeze(d)
        return made
    if ord not in (1, -1, float("inf"), float("-inf")):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    summed = rows if ord in (1, -1) else columns
    rest = columns if ord in (1, -1) else rows
    sums = torch.abs(A).sum(summed, True)
    made = sums.amax(rest, True) if ord > 0 else sums.amin(rest, True)
    return made if keepdim else made.squeeze((rows, columns))


def norm(A, ord=None, dim=None, keepdim=False, *, dtype=None, out=None):
    """One call: linalg_norm."""
    if dtype is not None:
        A = A.to(dtype)
    pair = isinstance(dim, (tuple, list)) and len(dim) == 2
    if ord is not None and (pair or (dim is None and A.dim() == 2)):
        return matrix_norm(A, ord, tuple(dim) if pair else (-2, -1), keepdim)
    if isinstance(ord, str):
        raise RuntimeError(f"linalg.norm: If ord is specified, the input must be 1D or 2D or dim must be given; got {A.dim()}D")
    return torch._C.linalg_norm(A, ord, dim, keepdim)


# ---- systems of equations


def solve(A, B, *, left=True, out=None):
    """One call: linalg_solve."""
    n = _square(A, "linalg.solve")
    vector = B.dim() == 1 or (A.dim() - 1 == B.dim() and list(B.shape) == list(A.shape[:-1]))
    if vector:
        B = B.unsqueeze(-1)
    if not left:
        return solve(A.mT, B.mT).mT
    if B.shape[-2] != n:
        raise RuntimeError(f"linalg.solve: Incompatible shapes of A and B for the equation AX = B ({n}x{n} and {B.shape[-2]}x{B.shape[-1]})")
    lead = list(torch.broadcast_shapes(A.shape[:-2], B.shape[:-2]))
    made = torch._C.solve(A.expand(lead + [n, n]), B.expand(lead + list(B.shape[-2:])))
    return made.squeeze(-1) if vector else made


def solve_triangular(A, B, *, upper, left=True, unitriangular=False, out=None):
    """One call: linalg_solve_triangular."""
    n = _square(A, "linalg.solve_triangular")
    if not left:
        return solve_triangular(A.mT, B.mT, upper=not upper, unitriangular=unitriangular).mT
    lead = list(torch.broadcast_shapes(A.shape[:-2], B.shape[:-2]))
    what = ("unit_" if unitriangular else "") + ("upper" if upper else "lower")
    return torch._C.solve(A.expand(lead + [n, n]), B.expand(lead + list(B.shape[-2:])), what)


def inv(A, *, out=None):
    """One call: linalg_inv."""
    _square(A, "linalg.inv")
    return torch._C.solve(A, _eye_like(A))


def inv_ex(A, *, check_errors=False, out=None):
    """One call: linalg_inv_ex."""
    return collections.namedtuple("linalg_inv_ex", ["inverse", "info"])(inv(A), torch.zeros(A.shape[:-2], dtype=torch.int32))


def tensorinv(A, ind=2, *, out=None):
    """One call: linalg_tensorinv."""
    rest, lead = list(A.shape[ind:]), list(A.shape[:ind])
    return inv(A.reshape(math.prod(lead), math.prod(rest))).reshape(rest + lead)


def tensorsolve(A, B, dims=None, *, out=None):
    """One call: linalg_tensorsolve."""
    if dims is not None:
        A = A.movedim(tuple(dims), tuple(range(A.dim() - len(dims), A.dim())))
    rest = list(A.shape[B.dim() :])
    return solve(A.reshape(B.numel(), -1), B.reshape(-1)).reshape(rest)


# ---- determinants


def det(A, *, out=None):
    """One call: linalg_det."""
    _square(A, "linalg.det")
    return torch._C.factor(A, "det").select(-1, 0)


def slogdet(A, *, out=None):
    """One call: linalg_slogdet."""
    _square(A, "linalg.slogdet")
    row = torch._C.factor(A, "det")
    return collections.namedtuple("linalg_slogdet", ["sign", "logabsdet"])(row.select(-1, 1).detach(), row.select(-1, 2))


# ---- factors


def cholesky(A, *, upper=False, out=None):
    """One call: linalg_cholesky."""
    n = _square(A, "linalg.cholesky")
    low = _part(torch._C.factor(A, "cholesky"), 0, n, n)
    return low.mT if upper else low


def cholesky_ex(A, *, upper=False, check_errors=False, out=None):
    """One call: linalg_cholesky_ex."""
    made = cholesky(A, upper=upper)
    return collections.namedtuple("linalg_cholesky_ex", ["L", "info"])(made, torch.zeros(A.shape[:-2], dtype=torch.int32))


def lu_factor(A, *, pivot=True, out=None):
    """One call: linalg_lu_factor."""
    n = _square(A, "linalg.lu_factor")
    row = torch._C.factor(A, "lu")
    pivots = row.narrow(-1, n * n, n).to(torch.int32)
    return collections.namedtuple("linalg_lu_factor", ["LU", "pivots"])(_part(row, 0, n, n), pivots)


def _permuted(B, pivots):
    """The rows of B in the order that the steps of a factorisation put them into."""
    n = pivots.shape[-1]
    places = torch.arange(n).expand(pivots.shape).clone()
    to = pivots.long() - 1
    for k in range(n):
        other = to.narrow(-1, k, 1)
        mine, theirs = places.narrow(-1, k, 1).clone(), places.gather(-1, other)
        places = places.scatter(-1, other, mine)
        places = torch.cat((places.narrow(-1, 0, k), theirs, places.narrow(-1, k + 1, n - k - 1)), -1)
    return B.gather(-2, places.unsqueeze(-1).expand(B.shape))


def lu_solve(LU, pivots, B, *, left=True, adjoint=False, out=None):
    """One call: linalg_lu_solve."""
    made = solve_triangular(LU, _permuted(B, pivots), upper=False, unitriangular=True)
    return solve_triangular(LU, made, upper=True)


def lu(A, *, pivot=True, out=None):
    """One call: linalg_lu."""
    n = _square(A, "linalg.lu")
    packed, pivots = lu_factor(A)
    eye = _eye_like(A)
    P = _permuted(eye, pivots).mT
    return collections.namedtuple("linalg_lu", ["P", "L", "U"])(P, torch.tril(packed, -1) + eye, torch.triu(packed))


def qr(A, mode="reduced", *, out=None):
    """One call: linalg_qr."""
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'")
    m, n = A.shape[-2], A.shape[-1]
    k = m if mode == "complete" else min(m, n)
    row = torch._C.factor(A, "qr_full" if mode == "complete" else "qr")
    Q, R = _part(row, 0, m, k), _part(row, m * k, k, n)
    return collections.namedtuple("linalg_qr", ["Q", "R"])(torch.empty(0, dtype=A.dtype) if mode == "r" else Q, R)


def svd(A, full_matrices=True, *, driver=None, out=None):
    """One call: linalg_svd."""
    m, n = A.shape[-2], A.shape[-1]
    k = min(m, n)
    rows, columns = (m, n) if full_matrices else (k, k)
    row = torch._C.factor(A, "svd_full" if full_matrices and m != n else "svd")
    U, S = _part(row, 0, m, rows), row.narrow(-1, m * rows, k)
    return collections.namedtuple("linalg_svd", ["U", "S", "Vh"])(U, S, _part(row, m * rows + k, columns, n))


def svdvals(A, *, driver=None, out=None):
    """One call: linalg_svdvals."""
    return svd(A, False)[1]


def eigh(A, UPLO="L", *, out=None):
    """One call: linalg_eigh."""
    n = _square(A, "linalg.eigh")
    row = torch._C.factor(A if UPLO in ("L", "l") else A.mT, "eigh")
    return collections.namedtuple("linalg_eigh", ["eigenvalues", "eigenvectors"])(row.narrow(-1, 0, n), _part(row, n, n, n))


def _eig(A):
    if torch.is_complex(A):
        raise NotImplementedError("linalg.eig of complex matrices is not there; torch.linalg.eigh has those that are Hermitian")
    n = _square(A, "linalg.eig")
    row = torch._C.factor(A, "eig")
    vectors = torch.complex(_part(row, 2 * n, n, n), _part(row, 2 * n + n * n, n, n))
    return torch.complex(row.narrow(-1, 0, n), row.narrow(-1, n, n)), vectors


def eig(A, *, out=None):
    """One call: linalg_eig."""
    return collections.namedtuple("linalg_eig", ["eigenvalues", "eigenvectors"])(*_eig(A))


def eigvals(A, *, out=None):
    """One call: linalg_eigvals."""
    return _eig(A)[0]


def eigvalsh(A, UPLO="L", *, out=None):
    """One call: linalg_eigvalsh."""
    return eigh(A, UPLO)[0]


def matrix_exp(A):
    """One call: linalg_matrix_exp."""
    n = _square(A, "linalg.matrix_exp")
    return _part(torch._C.factor(A, "exp"), 0, n, n)


# ---- what singular values tell


def _bound(values, atol, rtol, shape):
    if rtol is None:
        rtol = 0.0 if atol is not None else max(shape[-2], shape[-1]) * torch.finfo(values.dtype).eps
    bound = values.amax(-1, True) * (rtol.unsqueeze(-1) if isinstance(rtol, torch.Tensor) else rtol)
    return bound if atol is None else torch.maximum(bound, torch.as_tensor(atol, dtype=values.dtype).unsqueeze(-1))


def pinv(A, rcond=None, hermitian=False, *, atol=None, rtol=None, out=None):
    """One call: linalg_pinv."""
    U, S, Vh = svd(A, False)
    keep = S > _bound(S, atol, rcond if rtol is None else rtol, A.shape)
    inverse = torch.where(keep, 1.0 / torch.where(keep, S, 1.0), 0.0)
    return (Vh.mT * inverse.unsqueeze(-2)) @ U.mT


def matrix_rank(A, tol=None, hermitian=False, *, atol=None, rtol=None, out=None):
    """One call: linalg_matrix_rank."""
    S = svdvals(A)
    return (S > _bound(S, tol if atol is None else atol, rtol, A.shape)).sum(-1)


def cond(A, p=None, *, out=None):
    """One call: linalg_cond."""
    if p is None or p in (2, -2):
        S = svdvals(A)
        return S.select(-1, -1) / S.select(-1, 0) if p == -2 else S.select(-1, 0) / S.select(-1, -1)
    return matrix_norm(A, p) * matrix_norm(inv(A), p)


@torch._C._reads  # torch.compile ends the graph: how many results there are depends on the rank
def lstsq(A, B, rcond=None, *, driver=None):
    """One call: linalg_lstsq."""
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError("torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    vector = B.dim() == 1 or (A.dim() - 1 == B.dim() and list(B.shape) == list(A.shape[:-1]))
    columns = B.unsqueeze(-1) if vector else B
    m, n = A.shape[-2], A.shape[-1]
    if m >= n:
        Q, R = qr(A)
        made = solve_triangular(R, Q.mT @ columns, upper=True)
    else:
        made = pinv(A, rcond) @ columns
    rest = ((A @ made - columns) ** 2).sum(-2) if m > n else torch.empty(0, dtype=A.dtype)
    result = collections.namedtuple("linalg_lstsq", ["solution", "residuals", "rank", "singular_values"])
    return result(made.squeeze(-1) if vector else made, rest, torch.tensor(min(m, n)), torch.empty(0, dtype=A.dtype))


# ---- other matrices


def vander(x, N=None, *, out=None):
    """One call: linalg_vander."""
    N = x.shape[-1] if N is None else N
    return torch.stack([x**k for k in range(N)], -1)


def diagonal(A, *, offset=0, dim1=-2, dim2=-1):
    """One call: linalg_diagonal."""
    return torch.diagonal(A, offset, dim1, dim2)


def householder_product(A, tau, *, out=None):
    """One call: linalg_householder_product."""
    m, n = A.shape[-2], A.shape[-1]
    made = torch.eye(m, dtype=A.dtype).expand(list(A.shape[:-2]) + [m, m])
    for k in range(tau.shape[-1]):
        v = A.select(-1, k)
        v = torch.cat((torch.zeros_like(v.narrow(-1, 0, k)), torch.ones_like(v.narrow(-1, 0, 1)), v.narrow(-1, k + 1, m - k - 1)), -1)
        turned = (made @ v.unsqueeze(-1)) @ v.unsqueeze(-2)
        made = made - tau.select(-1, k).unsqueeze(-1).unsqueeze(-1) * turned
    return made.narrow(-1, 0, n)
