# Methods of tensors that torch has as functions, and their forms in place.
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


@torch._C._skip
def resize_(self, *sizes, memory_format=None):
    sizes = tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)) else sizes
    if sizes != tuple(self.shape):
        raise NotImplementedError(
            f"x.resize_() to other sizes is not in the language: write x = x.reshape({', '.join([str(n) for n in sizes])}), "
            "or x = x.new_empty(...) where the number of elements changes"
        )
    return self


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


def squeeze_(self, dim=None):
    raise NotImplementedError("x.squeeze_() is not in the language: write x = x.squeeze()")


def unsqueeze_(self, dim):
    raise NotImplementedError("x.unsqueeze_() is not in the language: write x = x.unsqueeze()")


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
