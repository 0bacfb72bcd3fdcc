# Methods of tensors that torch has as functions, and their forms in place.
import math

import torch
import torch.nn.functional as F

addbmm = torch.addbmm
addr = torch.addr
corrcoef = torch.corrcoef
cov = torch.cov
cross = torch.cross
diag_embed = torch.diag_embed
diagflat = torch.diagflat
diagonal_scatter = torch.diagonal_scatter
diff = torch.diff
digamma = torch.digamma
dist = torch.dist
dsplit = torch.dsplit
erfinv = torch.erfinv
fliplr = torch.fliplr
flipud = torch.flipud
hardshrink = F.hardshrink
histc = torch.histc
hsplit = torch.hsplit
i0 = torch.i0
index_put = torch.index_put
index_reduce = torch.index_reduce
inner = torch.inner
is_nonzero = torch.is_nonzero
isneginf = torch.isneginf
isposinf = torch.isposinf
isreal = torch.isreal
kron = torch.kron
kthvalue = torch.kthvalue
lcm = torch.lcm
ldexp = torch.ldexp
logaddexp2 = torch.logaddexp2
masked_scatter = torch.masked_scatter
median = torch.median
mode = torch.mode
msort = torch.msort
mvlgamma = torch.mvlgamma
nanmean = torch.nanmean
nanmedian = torch.nanmedian
nanquantile = torch.nanquantile
narrow_copy = torch.narrow_copy
polygamma = torch.polygamma
positive = torch.positive
prelu = F.prelu
quantile = torch.quantile
renorm = torch.renorm
repeat_interleave = torch.repeat_interleave
scatter_reduce = torch.scatter_reduce
select_scatter = torch.select_scatter
signbit = torch.signbit
slice_scatter = torch.slice_scatter
take = torch.take
take_along_dim = torch.take_along_dim
vdot = torch.vdot
vsplit = torch.vsplit


as_strided = torch.as_strided


def _seen_as(self, made, name):
    """The tensor under the sizes of `made`, a view of it."""
    if self.requires_grad and torch.is_grad_enabled():
        if self.is_leaf:
            raise RuntimeError("a view of a leaf Variable that requires grad is being used in an in-place operation.")
        raise NotImplementedError(f"x.{name}_() of what has a gradient is not in the language: write x = x.{name}(...)")
    self.data = made
    return self


def unsqueeze_(self, dim):
    return _seen_as(self, self.data.unsqueeze(dim), "unsqueeze")


def squeeze_(self, dim=None):
    return _seen_as(self, self.data.squeeze() if dim is None else self.data.squeeze(dim), "squeeze")


def transpose_(self, dim0, dim1):
    return _seen_as(self, self.data.transpose(dim0, dim1), "transpose")


swapaxes_ = transpose_
swapdims_ = transpose_


def t_(self):
    return _seen_as(self, self.data.t(), "t")


def as_strided_(self, size, stride, storage_offset=None):
    return _seen_as(self, torch.as_strided(self.data, size, stride, storage_offset), "as_strided")


def set_(self, source=None):
    return _seen_as(self, self.new_empty(0) if source is None else source.data, "set")


def resize_(self, *sizes, memory_format=None):
    """New elements are 0."""
    torch._dynamo.graph_break()  # TorchDynamo ends its graph there
    sizes = tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
    if sizes == tuple(self.shape):
        return self
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    if math.prod([s for s in sizes if s > 1]) >= 2.0**63:
        raise RuntimeError(f"Stride calculation overflowed with size={list(sizes)}")
    flat, n = self.data.reshape(-1), math.prod(sizes)
    if n > flat.shape[0]:
        flat = torch.cat((flat, flat.new_zeros(n - flat.shape[0])))
    self.data = flat[:n].reshape(sizes)
    return self


def to_sparse(self, *args, **keywords):
    """The elements that are not 0, in order."""
    places = torch.nonzero(self.detach()).t()
    values = self[tuple([places[d] for d in range(places.shape[0])])]
    return torch.sparse_coo_tensor(places, values, self.shape, is_coalesced=True)


def to_sparse_coo(self):
    return to_sparse(self)


def to_sparse_csr(self):
    return to_sparse(self).to_sparse_csr()


def to_dense(self, dtype=None, *, masked_grad=True):
    return self if dtype is None else self.to(dtype)


def spmm(self, mat2):
    return torch.spmm(self, mat2)


def resize_as_(self, the_template, *, memory_format=None):
    return self.resize_(the_template.shape)


def as_strided_scatter(self, src, size, stride, storage_offset=0):
    return torch.as_strided_scatter(self, src, size, stride, storage_offset)


def new_tensor(self, data, *, dtype=None, device=None, requires_grad=False):
    """One call."""
    return torch.tensor(data, dtype=self.dtype if dtype is None else dtype, requires_grad=requires_grad)


def ravel(self):
    """One call."""
    return self.reshape(-1)


def sum_to_size(self, *size):
    """One call."""
    size = size[0] if len(size) == 1 and isinstance(size[0], (tuple, list)) else size
    lead = self.dim() - len(size)
    dims = list(range(lead)) + [lead + k for k, n in enumerate(size) if n == 1 and self.shape[lead + k] != 1]
    made = self.sum(dims, keepdim=True) if dims else self
    return made.reshape(size)


def polygamma(self, n):
    """One call."""
    return torch.polygamma(n, self)


def index_put_(self, indices, values, accumulate=False):
    """One call."""
    if not accumulate:
        self[tuple(indices)] = values
        return self
    return self.copy_(torch.index_put(self, indices, values, True))


def masked_scatter_(self, mask, source):
    """One call."""
    return self.copy_(torch.masked_scatter(self, mask, source))


def scatter_reduce_(self, dim, index, src, reduce, *, include_self=True):
    """One call."""
    return self.copy_(torch.scatter_reduce(self, dim, index, src, reduce, include_self=include_self))


def index_reduce_(self, dim, index, source, reduce, *, include_self=True):
    """One call."""
    return self.copy_(torch.index_reduce(self, dim, index, source, reduce, include_self=include_self))


def addbmm_(self, batch1, batch2, *, beta=1, alpha=1):
    """One call."""
    return self.copy_(torch.addbmm(self, batch1, batch2, beta=beta, alpha=alpha))


def addr_(self, vec1, vec2, *, beta=1, alpha=1):
    """One call."""
    return self.copy_(torch.addr(self, vec1, vec2, beta=beta, alpha=alpha))


def digamma_(self):
    """One call."""
    return self.copy_(torch.digamma(self))


def erfinv_(self):
    """One call."""
    return self.copy_(torch.erfinv(self))


def lcm_(self, other):
    """One call."""
    return self.copy_(torch.lcm(self, other))


def renorm_(self, p, dim, maxnorm):
    """One call."""
    return self.copy_(torch.renorm(self, p, dim, maxnorm))


def fill_diagonal_(self, fill_value, wrap=False):
    """One call."""
    if self.dim() != 2 or wrap:
        raise NotImplementedError("fill_diagonal_ takes a matrix here, and wrap=False")
    self.diagonal().fill_(fill_value)
    return self


def new(self, *sizes_or_data):
    if len(sizes_or_data) == 1 and isinstance(sizes_or_data[0], (list, tuple)) and not isinstance(sizes_or_data[0], torch.Size):
        return torch.tensor(sizes_or_data[0], dtype=self.dtype, device=self.device)
    if len(sizes_or_data) == 1 and isinstance(sizes_or_data[0], torch.Tensor):
        return sizes_or_data[0].detach()
    if len(sizes_or_data) == 0:
        return self.new_empty(0)
    return self.new_empty(*sizes_or_data)


def is_inference(self):
    """No tensor here is one that only inference mode has."""
    return False
