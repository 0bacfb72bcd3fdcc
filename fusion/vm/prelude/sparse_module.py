# torch.sparse.
import torch


def mm(sparse, dense, reduce="sum"):
    """One call."""
    if reduce != "sum":
        raise NotImplementedError(f'torch.sparse.mm: reduce is "sum" here, not {reduce!r}')
    return torch.spmm(sparse, dense)


def addmm(mat, mat1, mat2, *, beta=1.0, alpha=1.0):
    """One call."""
    return mat * beta + torch.spmm(mat1, mat2) * alpha


def sum(input, dim=None, dtype=None):
    """One call."""
    if dim is None:
        return input._values().sum()
    made = input.to_dense().sum(dim)
    return made.to_sparse() if made.dim() > 0 else made


def softmax(input, dim, *, dtype=None):
    """One call.  Of the elements that are there."""
    input = input.coalesce()
    group = input._indices()[0 if dim % 2 == 1 else 1]
    n = input.size(0 if dim % 2 == 1 else 1)
    top = torch.full((n,), -float("inf"), dtype=input.dtype).scatter_reduce(0, group, input._values(), "amax")
    powers = torch.exp(input._values() - top.index_select(0, group))
    sums = torch.zeros(n, dtype=input.dtype).index_add(0, group, powers)
    return input._with(powers / sums.index_select(0, group))


def log_softmax(input, dim, *, dtype=None):
    """One call."""
    made = softmax(input, dim)
    return made._with(torch.log(made._values()))


def FloatTensor(indices, values, size=None):
    return torch.sparse_coo_tensor(indices, values, size)


def LongTensor(indices, values, size=None):
    return torch.sparse_coo_tensor(indices, values, size)


def DoubleTensor(indices, values, size=None):
    return torch.sparse_coo_tensor(indices, values, size)
