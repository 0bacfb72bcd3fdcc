# torch.linalg: functions that are made of the ops of ops.def.  What begins with "One call"
# is one node to FX.
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


def matrix_power(A, n):
    """One call: linalg_matrix_power."""
    if n < 0:
        raise NotImplementedError("linalg.matrix_power: inverses are not in the language; n must not be negative")
    made = torch.eye(A.shape[-1], dtype=A.dtype).expand(A.shape)
    for _ in range(n):
        made = made @ A
    return made


def matrix_norm(A, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):
    """One call: linalg_matrix_norm."""
    if ord == "fro":
        return torch.linalg.vector_norm(A, 2, dim, keepdim)
    if ord not in (1, -1, float("inf"), float("-inf")):
        raise NotImplementedError("linalg.matrix_norm: 'fro', 1, -1, inf and -inf are in the language")
    rank = A.dim()
    rows, columns = dim[0] % rank, dim[1] % rank
    summed = rows if ord in (1, -1) else columns
    rest = columns if ord in (1, -1) else rows
    sums = torch.abs(A).sum(summed, True)
    made = sums.amax(rest, True) if ord > 0 else sums.amin(rest, True)
    return made if keepdim else made.squeeze((rows, columns))
