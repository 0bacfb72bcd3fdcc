# torch.sparse: matrices of few elements, as graph networks have them: the places of the elements
# (a column each) and their values.  CSR is kept the same way, in order.
import torch


class _Sparse:
    __builtin__ = torch.Tensor

    def __init__(self, indices, values, size, coalesced=False, layout="torch.sparse_coo"):
        self._at = indices
        self._elements = values
        self._size = tuple(size)
        self._coalesced = coalesced
        self.layout = layout
        self.grad = None

    is_sparse = True
    is_cuda = False
    is_leaf = True

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        name = func.__name__
        found = _functions.get(name)
        if found is None:
            raise NotImplementedError(f"sparse tensors have no {name} here: take x.to_dense()")
        return found(*args, **(kwargs or {}))

    @property
    def shape(self):
        return torch.Size(self._size)

    @property
    def ndim(self):
        return len(self._size)

    @property
    def dtype(self):
        return self._elements.dtype

    @property
    def device(self):
        return self._elements.device

    @property
    def requires_grad(self):
        return self._elements.requires_grad

    @property
    def is_sparse_csr(self):
        return self.layout == "torch.sparse_csr"

    @property
    def T(self):
        return self.t()

    def size(self, dim=None):
        return self.shape if dim is None else self._size[dim]

    def dim(self):
        return len(self._size)

    def sparse_dim(self):
        return self._at.shape[0]

    def dense_dim(self):
        return len(self._size) - self._at.shape[0]

    def numel(self):
        n = 1
        for d in self._size:
            n *= d
        return n

    def _nnz(self):
        return self._elements.shape[0]

    def is_coalesced(self):
        return self._coalesced

    def _indices(self):
        return self._at

    def _values(self):
        return self._elements

    def indices(self):
        if not self._coalesced:
            raise RuntimeError("Cannot get indices on an uncoalesced tensor, please call .coalesce() first")
        return self._at

    def values(self):
        if not self._coalesced:
            raise RuntimeError("Cannot get values on an uncoalesced tensor, please call .coalesce() first")
        return self._elements

    def crow_indices(self):
        counts = torch.bincount(self._at[0], minlength=self._size[0])
        return torch.cat((torch.zeros(1, dtype=torch.int64), counts.cumsum(0)))

    def col_indices(self):
        return self._at[1]

    def _flat(self):
        """The place of each element, row by row."""
        place = self._at[0]
        for d in range(1, self._at.shape[0]):
            place = place * self._size[d] + self._at[d]
        return place

    def coalesce(self):
        """In order, and one element for each place."""
        if self._coalesced:
            return self
        if self._nnz() == 0:
            return _Sparse(self._at, self._elements, self._size, True)
        places, group = torch.unique(self._flat(), return_inverse=True)
        sums = torch.zeros([places.shape[0]] + list(self._elements.shape[1:]), dtype=self.dtype)
        sums = sums.index_add(0, group, self._elements)
        rows = []
        for d in reversed(range(self._at.shape[0])):
            rows.insert(0, places % self._size[d])
            places = places // self._size[d]
        return _Sparse(torch.stack(rows), sums, self._size, True, self.layout)

    def to_dense(self, dtype=None, *, masked_grad=True):
        sparse = self._size[: self._at.shape[0]]
        n = 1
        for d in sparse:
            n *= d
        flat = torch.zeros([n] + list(self._elements.shape[1:]), dtype=self.dtype)
        made = flat.index_add(0, self._flat(), self._elements).reshape(self._size)
        return made if dtype is None else made.to(dtype)

    def to_sparse(self, *args, **keywords):
        return self

    def to_sparse_coo(self):
        return _Sparse(self._at, self._elements, self._size, self._coalesced)

    def to_sparse_csr(self):
        made = self.coalesce()
        return _Sparse(made._at, made._elements, self._size, True, "torch.sparse_csr")

    def _with(self, values):
        return _Sparse(self._at, values, self._size, self._coalesced, self.layout)

    def t(self):
        return self.transpose(0, 1)

    def transpose(self, dim0, dim1):
        order = list(range(len(self._size)))
        order[dim0], order[dim1] = order[dim1], order[dim0]
        size = [self._size[d] for d in order]
        return _Sparse(torch.stack([self._at[d] for d in order]), self._elements, size)

    def to(self, *args, **keywords):
        wanted = torch._C.conversion(*args, **keywords)
        return self if wanted is None else self._with(self._elements.to(wanted))

    def float(self):
        return self._with(self._elements.float())

    def double(self):
        return self._with(self._elements.double())

    def cpu(self):
        return self

    def cuda(self, *args, **keywords):
        torch.empty(0).cuda(*args, **keywords)
        return self

    def clone(self):
        return self._with(self._elements.clone())

    def detach(self):
        return self._with(self._elements.detach())

    def requires_grad_(self, requires_grad=True):
        self._elements.requires_grad_(requires_grad)
        return self

    def abs(self):
        return self._with(self._elements.abs())

    def sum(self, dim=None):
        return self._elements.sum() if dim is None else self.to_dense().sum(dim)

    def mm(self, other):
        return _mm(self, other)

    def matmul(self, other):
        return _mm(self, other)

    def mv(self, other):
        return _mm(self, other)

    def spmm(self, other):
        return _mm(self, other)

    def index_select(self, dim, index):
        return self.to_dense().index_select(dim, index).to_sparse()

    def __getitem__(self, index):
        made = self.to_dense()[index]
        return made.to_sparse() if made.dim() > 0 else made

    def __len__(self):
        return self._size[0]

    def __matmul__(self, other):
        """One call: matmul."""
        return _mm(self, other)

    def __rmatmul__(self, other):
        """One call: matmul."""
        return _mm(other, self)

    def __mul__(self, other):
        return _mul(self, other)

    def __rmul__(self, other):
        return _mul(self, other)

    def __truediv__(self, other):
        return self._with(self._elements / other)

    def __neg__(self):
        return self._with(-self._elements)

    def __add__(self, other):
        return _add(self, other)

    def __radd__(self, other):
        return _add(self, other)

    def __sub__(self, other):
        return _add(self, -other)

    def __repr__(self):
        return (
            f"tensor(indices={_inside(self._at)},\n       values={_inside(self._elements)},\n"
            f"       size={self._size}, nnz={self._nnz()}, layout={self.layout})"
        )


def _inside(t):
    text = repr(t)
    return text.replace("\n       ", "\n                       ")


def _is(v):
    return isinstance(v, _Sparse)


def _mm(a, b):
    """Rows of the dense operand, gathered by the columns of the elements and summed by their rows."""
    if not _is(a):
        return _mm(b.t(), a.transpose(-1, -2)).transpose(-1, -2)
    if a._size[1] != b.shape[0]:
        raise RuntimeError(f"mm: mat1 and mat2 shapes cannot be multiplied ({a._size[0]}x{a._size[1]} and {'x'.join([str(n) for n in b.shape])})")
    if _is(b):
        return (a @ b.to_dense()).to_sparse()
    values = a._elements if b.dim() == 1 else a._elements.unsqueeze(-1)
    parts = values * b.index_select(0, a._at[1])
    made = torch.zeros([a._size[0]] + list(b.shape[1:]), dtype=parts.dtype)
    return made.index_add(0, a._at[0], parts)


def _mul(a, b):
    if not _is(a):
        a, b = b, a
    if _is(b):
        return (a.to_dense() * b.to_dense()).to_sparse()
    if isinstance(b, torch.Tensor) and b.dim() > 0:
        wide = b.expand(a._size)
        return a._with(a._elements * wide[tuple([a._at[d] for d in range(a._at.shape[0])])])
    return a._with(a._elements * b)


def _add(a, b, *, alpha=1):
    if _is(a) and _is(b):
        values = torch.cat((a._elements, b._elements if alpha == 1 else b._elements * alpha))
        return _Sparse(torch.cat((a._at, b._at), 1), values, a._size).coalesce()
    return (a.to_dense() if _is(a) else a) + (b.to_dense() if _is(b) else b) * alpha


def _addmm(input, mat1, mat2, *, beta=1, alpha=1):
    return input * beta + _mm(mat1, mat2) * alpha


_functions = {
    "mm": _mm, "matmul": _mm, "mv": _mm, "spmm": _mm, "dsmm": _mm, "hspmm": _mm, "addmm": _addmm, "mul": _mul,
    "add": _add, "transpose": lambda a, *dims: a.transpose(*dims), "t": lambda a: a.t(), "abs": lambda a: a.abs(),
    "clone": lambda a: a.clone(), "detach": lambda a: a.detach(), "is_tensor": lambda a: _is(a),
    "is_floating_point": lambda a: a.dtype.is_floating_point, "is_complex": lambda a: False,
    "numel": lambda a: a.numel(), "sum": lambda a, dim=None: a.sum(dim), "to": lambda a, *args, **k: a.to(*args, **k),
    "stack": lambda all, dim=0: torch.stack([a.to_dense() for a in all], dim).to_sparse(),
    "cat": lambda all, dim=0: torch.cat([a.to_dense() for a in all], dim).to_sparse(),
}


# ---- torch


def sparse_coo_tensor(
    indices=None, values=None, size=None, *, dtype=None, device=None, pin_memory=False, requires_grad=False,
    check_invariants=None, is_coalesced=None,
):
    if values is None:  # of a size alone
        size = indices if size is None else size
        indices, values = torch.zeros(len(size), 0, dtype=torch.int64), torch.zeros(0)
    indices = torch.as_tensor(indices, dtype=torch.int64)
    values = torch.as_tensor(values)
    if dtype is not None:
        values = values.to(dtype)
    if indices.shape[1] != values.shape[0]:
        raise RuntimeError(f"number of dimensions must be the same: indices have {indices.shape[1]} columns, and there are {values.shape[0]} values")
    if size is None:
        size = (indices.amax(1) + 1).tolist() + list(values.shape[1:])
    made = _Sparse(indices, values, size, bool(is_coalesced))
    return made.requires_grad_() if requires_grad else made


def sparse_csr_tensor(crow_indices, col_indices, values, size=None, *, dtype=None, device=None, requires_grad=False):
    crow = torch.as_tensor(crow_indices, dtype=torch.int64)
    columns = torch.as_tensor(col_indices, dtype=torch.int64)
    rows = torch.repeat_interleave(torch.arange(crow.shape[0] - 1), crow[1:] - crow[:-1])
    values = torch.as_tensor(values)
    if size is None:
        size = (crow.shape[0] - 1, int(columns.max()) + 1)
    values = values if dtype is None else values.to(dtype)
    return _Sparse(torch.stack((rows, columns)), values, size, True, "torch.sparse_csr")


def spmm(input, mat2):
    """One call."""
    return _mm(input, mat2) if _is(input) or _is(mat2) else torch.mm(input, mat2)


def hspmm(input, mat2):
    return spmm(input, mat2)


sparse_coo = "torch.sparse_coo"
sparse_csr = "torch.sparse_csr"
