# torch: functions of tensors that are made of the ops of ops.def.  What begins with "One
# call" is one node to FX.
import math

import _autocast
import _dtypes
import torch
import torch.nn.functional as F


def _listed(tensors):
    return list(tensors[0]) if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)) else list(tensors)


def _wrap(dim, rank, name):
    most = max(rank, 1)
    if dim < -most or dim >= most:
        raise IndexError(f"{name}: Dimension out of range (expected to be in range of [{-most}, {most - 1}], but got {dim})")
    return dim % most


def _parts(tensors):
    """As many getitems."""
    return tuple([torch._C.getitem(t) for t in tensors])


# ---- shapes


def atleast_1d(*tensors):
    """One call."""
    made = [t.reshape(1) if t.dim() == 0 else t for t in _listed(tensors)]
    return made[0] if len(made) == 1 else tuple(made)


def atleast_2d(*tensors):
    """One call."""
    made = [t.reshape(1, -1) if t.dim() < 2 else t for t in _listed(tensors)]
    return made[0] if len(made) == 1 else tuple(made)


def _deep(t):
    return t if t.dim() > 2 else t.unsqueeze(2) if t.dim() == 2 else t.reshape(1, -1, 1)


def atleast_3d(*tensors):
    """One call."""
    made = [_deep(t) for t in _listed(tensors)]
    return made[0] if len(made) == 1 else tuple(made)


def dstack(tensors, *, out=None):
    """One call."""
    return torch.cat([_deep(t) for t in tensors], 2)


def column_stack(tensors, *, out=None):
    """One call."""
    tall = [t.reshape(-1, 1) if t.dim() < 2 else t for t in tensors]
    return torch.cat(tall, 1)


def hsplit(input, indices_or_sections):
    """One call."""
    if input.dim() < 1:
        raise RuntimeError("torch.hsplit requires a tensor with at least 1 dimension, but got a tensor with 0 dimensions!")
    return _parts(torch.tensor_split(input, indices_or_sections, 0 if input.dim() == 1 else 1))


def vsplit(input, indices_or_sections):
    """One call."""
    if input.dim() < 2:
        raise RuntimeError(f"torch.vsplit requires a tensor with at least 2 dimension, but got a tensor with {input.dim()} dimensions!")
    return _parts(torch.tensor_split(input, indices_or_sections, 0))


def dsplit(input, indices_or_sections):
    """One call."""
    if input.dim() < 3:
        raise RuntimeError(f"torch.dsplit requires a tensor with at least 3 dimension, but got a tensor with {input.dim()} dimensions!")
    return _parts(torch.tensor_split(input, indices_or_sections, 2))


def fliplr(input):
    """One call."""
    return torch.flip(input, (1,))


def flipud(input):
    """One call."""
    return torch.flip(input, (0,))


def diag_embed(input, offset=0, dim1=-2, dim2=-1):
    """One call."""
    rank = input.dim() + 1
    a, b = _wrap(dim1, rank, "diag_embed"), _wrap(dim2, rank, "diag_embed")
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    n = input.shape[-1] + abs(offset)
    lead = list(input.shape[:-1])
    made = torch.zeros(lead + [n, n], dtype=input.dtype)
    torch.diagonal(made, offset, -2, -1).copy_(input)
    order = list(range(rank - 2))
    for at, dim in sorted(((a, rank - 2), (b, rank - 1))):
        order.insert(at, dim)
    return made.permute(order)


def diagflat(input, offset=0):
    """One call."""
    return torch.diag(input.reshape(-1), offset)


def cartesian_prod(*tensors):
    """One call."""
    if len(tensors) == 1:
        return tensors[0]
    return torch.stack([g.reshape(-1) for g in torch.meshgrid(*tensors, indexing="ij")], 1)


@torch._C._reads  # torch.compile ends the graph: a mask chooses
def combinations(input, r=2, with_replacement=False):
    """One call."""
    n = input.shape[0]
    rows = [()]
    for _ in range(r):
        rows = [
            row + (i,)
            for row in rows
            for i in range((row[-1] + (0 if with_replacement else 1)) if row else 0, n)
        ]
    if not rows:
        return torch.zeros((0, r), dtype=input.dtype)
    return input[torch.tensor(rows, dtype=torch.int64)]


def block_diag(*tensors):
    """One call."""
    blocks = [torch.atleast_2d(t) for t in tensors]
    width = sum([b.shape[1] for b in blocks])
    rows = []
    left = 0
    for b in blocks:
        rows.append(F.pad(b, (left, width - left - b.shape[1])))
        left += b.shape[1]
    return torch.cat(rows, 0)


def select_scatter(input, src, dim, index):
    """One call."""
    made = input.clone()
    made.select(dim, index).copy_(src)
    return made


def slice_scatter(input, src, dim=0, start=None, end=None, step=1):
    """One call."""
    made = input.clone()
    key = (slice(None),) * _wrap(dim, input.dim(), "slice_scatter") + (slice(start, end, step),)
    made[key] = src
    return made


def diagonal_scatter(input, src, offset=0, dim1=0, dim2=1):
    """One call."""
    made = input.clone()
    torch.diagonal(made, offset, dim1, dim2).copy_(src)
    return made


def as_strided(input, size, stride, storage_offset=None):
    """One call."""
    if not input.is_contiguous():
        raise NotImplementedError("as_strided of a tensor whose elements do not lie row by row is not in the language: take it of the tensor that this one is a view of")
    start = 0
    if storage_offset is not None:
        start = storage_offset - torch._C.storage_offset(input)
        if start < 0:
            raise NotImplementedError("as_strided: a view that begins before the tensor is not in the language: take it of the tensor that this one is a view of")
    return torch._C.as_strided(input, size, stride, start)


def as_strided_scatter(input, src, size, stride, storage_offset=0):
    """One call."""
    places = torch.arange(input.numel()).reshape(-1)
    at = torch._C.as_strided(places, size, stride, storage_offset).reshape(-1)
    made = input.reshape(-1).index_copy(0, at, src.reshape(-1).to(input.dtype))
    return made.reshape(input.shape)


def narrow_copy(input, dim, start, length):
    """One call."""
    return torch.narrow(input, dim, start, length).clone()


def diff(input, n=1, dim=-1, prepend=None, append=None):
    """One call."""
    if input.dim() == 0:
        raise RuntimeError("diff expects input to be at least one-dimensional")
    dim = _wrap(dim, input.dim(), "diff")
    parts = [t for t in (prepend, input, append) if t is not None]
    x = torch.cat(parts, dim) if len(parts) > 1 else input
    for _ in range(n):
        if x.shape[dim] == 0:
            break
        after, before = x.narrow(dim, 1, x.shape[dim] - 1), x.narrow(dim, 0, x.shape[dim] - 1)
        x = torch.logical_xor(after, before) if x.dtype == torch.bool else after - before
    return x.clone() if n == 0 else x


def repeat_interleave(input, repeats, dim=None, *, output_size=None):
    """One call."""
    x = input.reshape(-1) if dim is None else input
    dim = 0 if dim is None else _wrap(dim, x.dim(), "repeat_interleave")
    if isinstance(repeats, torch.Tensor) and repeats.numel() == 1:
        repeats = repeats.item()
    if isinstance(repeats, torch.Tensor):
        ends = torch.cumsum(repeats, 0)
        total = ends[-1].item() if output_size is None else output_size
        return torch.index_select(x, dim, torch.searchsorted(ends, torch.arange(total), right=True))
    if repeats < 0:
        raise RuntimeError("Repeats must be non-negative")
    shape = [-1] * (x.dim() + 1)
    shape[dim + 1] = repeats
    return x.unsqueeze(dim + 1).expand(shape).flatten(dim, dim + 1).clone()


def trapezoid(y, x=None, *, dx=None, dim=-1):
    """One call."""
    sides = _sides(y, x, dim)
    return sides.sum(dim) / 2.0 if x is not None else sides.sum(dim) * (0.5 if dx is None else dx / 2.0)


def cumulative_trapezoid(y, x=None, *, dx=None, dim=-1):
    """One call."""
    sides = _sides(y, x, dim)
    return sides.cumsum(dim) / 2.0 if x is not None else sides.cumsum(dim) * (0.5 if dx is None else dx / 2.0)


def _sides(y, x, dim):
    """Of each two neighbours the sum, times how far they lie apart where x says so."""
    n = y.shape[dim]
    sides = y.narrow(dim, 1, n - 1) + y.narrow(dim, 0, n - 1)
    if x is None:
        return sides
    steps = torch.diff(x)
    if x.dim() == 1:
        steps = steps.reshape([-1] + [1] * (y.dim() - 1 - _wrap(dim, y.dim(), "trapezoid")))
    return sides * steps


def _observations(weights, x, name, floating):
    if weights.dim() > 1 or weights.numel() != x.shape[1]:
        raise RuntimeError(f"cov(): expected {name} to have one value for each of {x.shape[1]} observations, not size {list(weights.shape)}")
    if weights.dtype.is_floating_point != floating:
        raise RuntimeError(f"cov(): expected {name} to have {'floating point' if floating else 'integral'} dtype but got {weights.dtype}")
    if (weights < 0).any():
        raise RuntimeError(f"cov(): {name} cannot be negative")
    return weights.reshape(-1)


# torch.compile ends the graph at these two: they ask whether there are observations enough.
@torch._C._reads
def cov(input, *, correction=1, fweights=None, aweights=None):
    """One call."""
    if input.dim() > 2:
        raise RuntimeError(f"cov(): expected input to have two or fewer dimensions but got an input with {input.dim()} dimensions")
    x = torch.atleast_2d(input)
    counts = None if fweights is None else _observations(fweights, x, "fweights", False)
    worth = None if aweights is None else _observations(aweights, x, "aweights", True)
    w = counts if worth is None else worth if counts is None else counts * worth
    total = x.shape[1] if w is None else w.sum()
    x = x - ((x if w is None else x * w).sum(1) / total).unsqueeze(1)
    free = total - correction if worth is None or correction == 0 else total - correction * (w * worth).sum() / total
    free = free.clamp(min=0) if isinstance(free, torch.Tensor) else max(free, 0)
    return torch.true_divide(x @ (x if w is None else x * w).t(), free).squeeze()


@torch._C._reads
def corrcoef(input):
    """One call."""
    made = torch.cov(input)
    if made.dim() == 0:
        return made / made
    spread = torch.sqrt(torch.diagonal(made))
    return torch.clamp(made / spread.unsqueeze(1) / spread, -1, 1)


# ---- indices


def masked_scatter(input, mask, source):
    """One call."""
    if mask.dtype != torch.bool:
        raise RuntimeError(f"masked_scatter_ only supports boolean masks, but got mask with dtype {_dtypes.name(mask)}")
    mask, input = torch.broadcast_tensors(mask, input)
    place = (mask.reshape(-1).cumsum(0) - 1).clamp(min=0, max=max(source.numel() - 1, 0))
    taken = source.reshape(-1).index_select(0, place).reshape(input.shape)
    return torch.where(mask, taken.to(input.dtype), input)


def nonzero_static(input, *, size, fill_value=-1):
    """One call."""
    if size < 0:
        raise RuntimeError(f"nonzero_static: 'size' must be an non-negative integer, but got {size}")
    flags = (input != 0).reshape(-1)
    n = flags.shape[0]
    row = torch.where(flags, flags.cumsum(0) - 1, size).clamp(max=size)  # what has no place goes after the last
    found = torch.full((size + 1,), -1, dtype=torch.int64).scatter(0, row, torch.arange(n))[:size]
    made, left = [], found.clamp(min=0)
    for length in reversed(input.shape):
        length = max(length, 1)  # of none nothing was found
        made.append(left % length)
        left = left // length
    places = torch.stack(made[::-1], 1) if made else torch.zeros(size, 0, dtype=torch.int64)
    return torch.where((found < 0).unsqueeze(1), fill_value, places)


def take(input, index):
    """One call."""
    if index.dtype != torch.int64:
        raise RuntimeError(f"take(): Expected a long tensor for index, but got {index.dtype}")
    return torch._C.kept(input).reshape(-1)[index.reshape(-1)].reshape(index.shape)


def take_along_dim(input, indices, dim=None, *, out=None):
    """One call."""
    if dim is None:
        return torch.gather(input.reshape(-1), 0, indices.reshape(-1))
    dim = _wrap(dim, input.dim(), "take_along_dim")
    if indices.dim() != input.dim():
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, "
            f"but got {input.dim()} dimensions for input, and {indices.dim()} dimensions for indices"
        )
    a, b = list(input.shape), list(indices.shape)
    for d in range(input.dim()):
        if d != dim:
            a[d] = b[d] = max(a[d], b[d])
    return torch.gather(input.expand(a), dim, indices.expand(b))


def tril_indices(row, col, offset=0, *, dtype=None, device=None, layout=None):
    """One call."""
    hits = [(i, j) for i in range(row) for j in range(col) if j - i <= offset]
    return torch.tensor([[i for i, _ in hits], [j for _, j in hits]], dtype=torch.int64 if dtype is None else dtype)


def triu_indices(row, col, offset=0, *, dtype=None, device=None, layout=None):
    """One call."""
    hits = [(i, j) for i in range(row) for j in range(col) if j - i >= offset]
    return torch.tensor([[i for i, _ in hits], [j for _, j in hits]], dtype=torch.int64 if dtype is None else dtype)


def index_put(input, indices, values, accumulate=False):
    """One call."""
    return _put(input.clone(), indices, values, accumulate)


def _put(made, indices, values, accumulate):
    if not accumulate:
        made[tuple(indices)] = values
        return made
    indices = tuple(indices)
    named = len(indices)  # dims before whole rows that are added
    for index in indices:
        if not isinstance(index, torch.Tensor) or index.dtype == torch.bool or index.dtype == torch.uint8:
            named = made.dim()
    lead, inner = list(made.shape[:named]), list(made.shape[named:])
    places = torch.arange(math.prod(lead)).reshape(lead)[indices]
    values = values.to(made.dtype).expand(list(places.shape) + inner)
    rows = made.reshape([math.prod(lead), math.prod(inner)])
    rows = rows.index_add(0, places.reshape(-1), values.reshape([places.numel(), math.prod(inner)]))
    return made.copy_(rows.reshape(made.shape))


# How many values each place gets, and a number that a reduction leaves as it is.
def _reduce_into(made, dim, index, src, reduce, include_self):
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    _dtypes.alike(made, src)
    if made.dim() == 0:
        made, index, src = made.reshape(1), index.reshape(1), src.reshape(1)
        return _reduce_into(made, 0, index, src, reduce, include_self).reshape(())
    if index.numel() == 0:
        return made
    src = src[tuple([slice(0, n) for n in index.shape])]
    ones = torch.ones(index.shape, dtype=torch.int64)
    counts = torch.zeros(made.shape, dtype=torch.int64).scatter_add(dim, index, ones)
    if not include_self:
        neutral = 0 if reduce in ("sum", "mean") else 1
        if reduce in ("amax", "amin"):
            made = made.scatter(dim, index, src)
        else:
            made = torch.where(counts > 0, torch.full_like(made, neutral), made)
    if reduce in ("sum", "mean"):
        total = made.scatter_add(dim, index, src)
        if reduce == "sum":
            return total
        counts = (counts + (1 if include_self else 0)).clamp(min=1)
        if made.dtype.is_floating_point:
            return total / counts
        return torch.div(total, counts, rounding_mode="floor").to(made.dtype)
    return _by_rounds(made, dim, index, src, reduce)


def _by_rounds(made, dim, index, src, reduce):
    """One value of each place after the other: rows of src along dim are apart."""
    for k in range(index.shape[dim]):
        at = index.narrow(dim, k, 1)
        old, new = torch.gather(made, dim, at), src.narrow(dim, k, 1)
        if made.dim() > 1:
            old = torch.gather(made[tuple([slice(None) if d == dim else slice(0, n) for d, n in enumerate(at.shape)])], dim, at)
        if reduce == "prod":
            joined = old * new
        else:
            joined = torch.maximum(old, new) if reduce == "amax" else torch.minimum(old, new)
        made = made.scatter(dim, at, joined)
    return made


def scatter_reduce(input, dim, index, src, reduce, *, include_self=True):
    """One call."""
    return _reduce_into(input.clone(), _wrap(dim, input.dim(), "scatter_reduce"), index, src, reduce, include_self)


def index_reduce(input, dim, index, source, reduce, *, include_self=True):
    """One call."""
    dim = _wrap(dim, input.dim(), "index_reduce")
    at = index.reshape([-1 if d == dim else 1 for d in range(input.dim())]).expand(source.shape)
    return _reduce_into(input.clone(), dim, at, source, reduce, include_self)


# ---- products


def inner(input, other, *, out=None):
    """One call."""
    return torch.matmul(input, other.transpose(-1, -2) if other.dim() > 1 else other)


def _into(x, made, beta, alpha):
    made = made if alpha == 1 else made * alpha
    if beta == 0:
        return made
    return made + (x if beta == 1 else x * beta)


def addr(input, vec1, vec2, *, beta=1, alpha=1, out=None):
    """One call."""
    if vec1.dim() != 1 or vec2.dim() != 1:
        raise RuntimeError(f"addr: Expected 1-D argument {'vec1' if vec1.dim() != 1 else 'vec2'}, but got {(vec1 if vec1.dim() != 1 else vec2).dim()}-D")
    return _into(input, vec1.unsqueeze(1) * vec2.unsqueeze(0), beta, alpha)


def addbmm(input, batch1, batch2, *, beta=1, alpha=1, out=None):
    """One call."""
    input, batch1, batch2 = _autocast.lower(input, batch1, batch2)
    _dtypes.alike(input, batch1)
    return _into(input, torch.bmm(batch1, batch2).sum(0, dtype=input.dtype), beta, alpha)


def chain_matmul(*matrices, out=None):
    """One call."""
    made = matrices[0]
    for m in matrices[1:]:
        made = made @ m
    return made


def tensordot(a, b, dims=2, out=None):
    """One call."""
    if isinstance(dims, int):
        if dims < 0:
            raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
        left, right = list(range(a.dim() - dims, a.dim())), list(range(dims))
    else:
        left, right = [[d] if isinstance(d, int) else list(d) for d in dims]
    left = [_wrap(d, a.dim(), "tensordot") for d in left]
    right = [_wrap(d, b.dim(), "tensordot") for d in right]
    free_a = [d for d in range(a.dim()) if d not in left]
    free_b = [d for d in range(b.dim()) if d not in right]
    n = 1
    for p, q in zip(left, right):
        if a.shape[p] != b.shape[q]:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {a.shape[p]} in dim {p} "
                f"and second has size {b.shape[q]} in dim {q}"
            )
        n = n * a.shape[p]
    rows, columns = 1, 1
    for d in free_a:
        rows = rows * a.shape[d]
    for d in free_b:
        columns = columns * b.shape[d]
    made = a.permute(free_a + left).reshape(rows, n) @ b.permute(right + free_b).reshape(n, columns)
    return made.reshape([a.shape[d] for d in free_a] + [b.shape[d] for d in free_b])


def kron(input, other, *, out=None):
    """One call."""
    rank = max(input.dim(), other.dim())
    a, b = input, other
    while a.dim() < rank:
        a = a.unsqueeze(0)
    while b.dim() < rank:
        b = b.unsqueeze(0)
    sizes = [p * q for p, q in zip(a.shape, b.shape)]
    for d in range(rank):
        a, b = a.unsqueeze(2 * d + 1), b.unsqueeze(2 * d)
    return (a * b).reshape(sizes)


def vdot(input, other, *, out=None):
    """One call."""
    return torch.dot(input, other)


def _equation_of(given):
    """einsum(x, [0, 1], y, [1, ...], [0]) as one with letters."""
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

    def written(subscripts):
        for s in subscripts:
            if s is not Ellipsis and not 0 <= s < len(letters):
                raise ValueError(f"einsum(): subscripts in subscript list are not within the valid range [0, {len(letters)})")
        return "".join(["..." if s is Ellipsis else letters[s] for s in subscripts])

    equation = ",".join([written(s) for s in given[1 : len(given) // 2 * 2 : 2]])
    if len(given) % 2 == 1:
        equation += "->" + written(given[-1])
    return equation, given[: len(given) // 2 * 2 : 2]


def einsum(equation, *operands):
    """One call."""
    if isinstance(equation, torch.Tensor):
        equation, operands = _equation_of((equation, *operands))
    tensors = _listed(operands)
    if not isinstance(equation, str):
        raise TypeError("einsum(): the first argument must be an equation such as 'ij,jk->ik'")
    if len(tensors) < 3:
        return torch._C.einsum(equation, *tensors)
    equation = equation.replace(" ", "")
    left = equation.split("->")[0]
    names = left.split(",")
    if len(names) != len(tensors):
        raise RuntimeError(f"einsum(): the equation names {len(names)} operands, and {len(tensors)} are given")
    if "->" in equation:
        right = equation.split("->")[1]
    else:
        letters = left.replace(",", "").replace(".", "")
        right = "".join([c for c in sorted(set(letters)) if letters.count(c) == 1])
        right = ("..." if "..." in left else "") + right
    name, made = names[0], tensors[0]
    for k in range(1, len(tensors)):
        last = k == len(tensors) - 1
        rest = right + "".join(names[k + 1 :])
        kept = right
        if not last:
            both = name.replace(".", "") + "".join([c for c in names[k].replace(".", "") if c not in name])
            kept = ("..." if "." in name + names[k] else "") + "".join([c for c in both if c in rest])
        made = torch._C.einsum(name + "," + names[k] + "->" + kept, made, tensors[k])
        name = kept
    return made


def broadcast_shapes(*shapes):
    shapes = [(s,) if isinstance(s, int) else tuple(s) for s in shapes]
    rank = max([len(s) for s in shapes] + [0])
    made = [1] * rank
    for s in shapes:
        for k in range(len(s)):
            if s[k] < 0:
                raise RuntimeError(f"Trying to create tensor with negative dimension ({s[k]}): ({s[k]})")
            at = rank - len(s) + k
            if made[at] == 1:
                made[at] = s[k]
            elif s[k] != 1 and s[k] != made[at]:
                raise RuntimeError(
                    "Shape mismatch: objects cannot be broadcast to a single shape"
                )
    return torch.Size(made)

conv1d = F.conv1d
conv2d = F.conv2d
conv3d = F.conv3d
max_pool1d = F.max_pool1d
max_pool2d = F.max_pool2d
max_pool3d = F.max_pool3d
conv_transpose1d = F.conv_transpose1d
conv_transpose2d = F.conv_transpose2d
conv_transpose3d = F.conv_transpose3d
bilinear = F.bilinear
pdist = F.pdist
pairwise_distance = F.pairwise_distance
prelu = F.prelu
hardshrink = F.hardshrink
channel_shuffle = F.channel_shuffle
ctc_loss = F.ctc_loss
adaptive_avg_pool1d = F.adaptive_avg_pool1d


# ---- as torch has them: a reduction is 0 (none), 1 (mean) or 2 (sum)


def _word(name, reduction):
    if not isinstance(reduction, int) or isinstance(reduction, bool):
        raise TypeError(f"{name}(): argument 'reduction' must be int, not {type(reduction).__name__}")
    return {1: "mean", 2: "sum"}.get(reduction, "none")


def triplet_margin_loss(
    anchor, positive, negative, margin=1.0, p=2.0, eps=1e-6, swap=False, reduction=1
):
    """One call."""
    how = _word("triplet_margin_loss", reduction)
    return F.triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, reduction=how)


def cosine_embedding_loss(input1, input2, target, margin=0.0, reduction=1):
    """One call."""
    how = _word("cosine_embedding_loss", reduction)
    return F.cosine_embedding_loss(input1, input2, target, margin, reduction=how)


def hinge_embedding_loss(input, target, margin=1.0, reduction=1):
    """One call."""
    return F.hinge_embedding_loss(input, target, margin, reduction=_word("hinge_embedding_loss", reduction))


def margin_ranking_loss(input1, input2, target, margin=0.0, reduction=1):
    """One call."""
    how = _word("margin_ranking_loss", reduction)
    return F.margin_ranking_loss(input1, input2, target, margin, reduction=how)


def adaptive_max_pool1d(input, output_size):
    """One call."""
    return F.adaptive_max_pool1d(input, output_size, True)


# ---- functions in place: methods, as FX calls them by the same name


def relu_(input):
    return input.relu_()


def clamp_(input, min=None, max=None):
    return input.clamp_(min, max)


def nan_to_num_(input, nan=None, posinf=None, neginf=None):
    return input.nan_to_num_(nan, posinf, neginf)


def sigmoid_(input):
    return input.sigmoid_()


def tanh_(input):
    return input.tanh_()


def exp_(input):
    return input.exp_()


def sqrt_(input):
    return input.sqrt_()


def trapz(y, x=None, *, dx=None, dim=-1):
    """One call."""
    return torch.trapezoid(y, x, dx=dx, dim=dim)


def _check(cond, message=None):
    if not cond:
        raise RuntimeError("Expected cond to be True, but got False" if message is None else message())


def _check_is_size(i, message=None, *, max=None):
    _check(i >= 0, message)
