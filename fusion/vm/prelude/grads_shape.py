# _grads: views, joins and indices.  See grads.py.
import torch
from _grads import wrap

# ---- views and copies of them: `zeros` with g where the view had looked


def alias_x(g):
    return g


def parts_x(g):
    return g


def kept_x(g, x):
    return g


def reshape_x(g, x_shape):
    return g.reshape(x_shape)


def view_x(g, x_shape):
    return g.reshape(x_shape)


def view_as_x(g, x_shape):
    return g.reshape(x_shape)


def flatten_x(g, x_shape):
    return g.reshape(x_shape)


def unflatten_x(g, x_shape):
    return g.reshape(x_shape)


def squeeze_x(g, x_shape):
    return g.reshape(x_shape)


def unsqueeze_x(g, x_shape):
    return g.reshape(x_shape)


def permute_x(g, dims):
    if isinstance(dims, int):
        return g
    back = [0] * len(dims)
    for i, d in enumerate(dims):
        back[wrap(d, len(dims))] = i
    return g.permute(back)


def transpose_x(g, dim0, dim1):
    return g.transpose(dim0, dim1)


def t_x(g):
    return g.t()


def movedim_x(g, source, destination):
    return g.movedim(destination, source)


def expand_x(g):
    return g


def expand_as_x(g):
    return g


def zeros_for(g, shape):
    return torch.zeros(shape, dtype=g.dtype)


def select_x(g, x_shape, dim, index):
    z = zeros_for(g, x_shape)
    z.select(dim, index).copy_(g)
    return z


def narrow_x(g, x_shape, dim, start, length):
    z = zeros_for(g, x_shape)
    z.narrow(dim, start, length).copy_(g)
    return z


def slice_x(g, x_shape, dim, start, end, step):
    z = zeros_for(g, x_shape)
    part = (slice(None),) * wrap(dim, len(x_shape)) + (slice(start, end, step),)
    z[part].copy_(g)
    return z


def reverse_x(g, dims):
    return torch.flip(g, dims)


def flip_x(g, dims):
    return torch.flip(g, dims)


def diagonal_x(g, x_shape, offset, dim1, dim2):
    z = zeros_for(g, x_shape)
    z.diagonal(offset, dim1, dim2).copy_(g)
    return z


def trace_x(g, x_shape):
    z = zeros_for(g, x_shape)
    z.diagonal().copy_(g)
    return z


def unfold_x(g, x_shape, dimension, size, step):
    z = zeros_for(g, x_shape)
    if len(x_shape) == 0:
        return g.reshape(x_shape)
    dim = wrap(dimension, len(x_shape))
    for i in range(size):
        end = i + (g.shape[dim] - 1) * step + 1
        part = z[(slice(None),) * dim + (slice(i, end, step),)]
        part.add_(g.select(-1, i))
    return z


def _overlaps(size, stride):
    """Whether two places of a strided view are one in memory."""
    reach = 0
    for step, n in sorted([(s, n) for s, n in zip(stride, size) if n != 1]):
        if step <= reach:
            return True
        reach += step * (n - 1)
    return False


def as_strided_x(g, x_shape, size, stride, offset):
    z = zeros_for(g, x_shape)
    if _overlaps(size, stride):
        places = torch._C.as_strided(torch.arange(z.numel()), size, stride, offset)
        return z.reshape(-1).index_add(0, places.reshape(-1), g.reshape(-1)).reshape(x_shape)
    torch._C.as_strided(z, size, stride, offset).copy_(g)
    return z


def put_view_x(g, size, stride, offset):
    z = g.clone()
    torch._C.as_strided(z, size, stride, offset).fill_(0)
    return z


def put_view_value(g, size, stride, offset):
    return torch._C.as_strided(g.contiguous(), size, stride, offset)


def cat_all(g, needs, dim, a_shape, b_shape, c_shape, d_shape, e_shape, f_shape, g_shape):
    at = 0
    given = []
    shapes = (a_shape, b_shape, c_shape, d_shape, e_shape, f_shape, g_shape)
    for shape, needed in zip(shapes, needs):
        if shape is None:
            given.append(None)
            continue
        if len(shape) != g.ndim:  # as torch: an empty vector joins anything
            given.append(torch.zeros(shape, dtype=g.dtype) if needed else None)
            continue
        given.append(g.narrow(dim, at, shape[dim]) if needed else None)
        at = at + shape[dim]
    return tuple(given)


def roll_x(g, shifts, dims):
    back = -shifts if isinstance(shifts, int) else [-s for s in shifts]
    return torch.roll(g, back, dims)


def _repeat_one_by_one(g, x_shape, repeats, lead):
    """Where a tensor of all sizes and repeats would have too many dims."""
    g = g.sum(tuple(range(lead))) if lead else g
    for d in range(len(x_shape)):
        if repeats[lead + d] != 1:
            parts = g.reshape((-1, repeats[lead + d], x_shape[d] * g[(0,) * (d + 1)].numel()))
            g = parts.sum(1).reshape(tuple(x_shape[: d + 1]) + tuple(g.shape[d + 1 :]))
    return g


def repeat_x(g, x_shape, repeats):
    repeats = [repeats] if isinstance(repeats, int) else list(repeats)
    lead = len(repeats) - len(x_shape)
    if lead + 2 * len(x_shape) > 8:
        return _repeat_one_by_one(g, x_shape, repeats, lead)
    sizes = list(repeats[:lead])
    over = list(range(lead))
    for d in range(len(x_shape)):
        over.append(len(sizes))
        sizes.extend([repeats[lead + d], x_shape[d]])
    return g.reshape(sizes).sum(tuple(over)) if over else g


def tile_x(g, x_shape, dims):
    dims = [dims] if isinstance(dims, int) else list(dims)
    return repeat_x(g, x_shape, [1] * (len(x_shape) - len(dims)) + dims)


def fill_x(g):
    return torch.zeros_like(g)


def fill_value(g):
    return g


def masked_fill_x(g, mask):
    return torch.where(mask, 0.0, g)


def masked_fill_value(g, mask):
    return torch.where(mask, g, 0.0)


def tril_x(g, diagonal):
    return torch.tril(g, diagonal)


def triu_x(g, diagonal):
    return torch.triu(g, diagonal)


# ---- indices


def gather_x(g, x, x_shape, dim, index):
    if len(x_shape) == 0:
        return g.reshape(x_shape)
    return zeros_for(g, x_shape).scatter_add(dim, index, g)


def index_select_x(g, x_shape, dim, index):
    if len(x_shape) == 0:
        return g.reshape(x_shape)
    return zeros_for(g, x_shape).index_add(dim, index.reshape(-1), g)


def flat_index(x_shape, dim, indices):
    """Several indices of neighbouring dims as one of them all."""
    at = None
    n = 1
    for k, index in enumerate(indices):
        size = x_shape[dim + k]
        index = torch.where(index < 0, index + size, index)
        at = index if at is None else at * size + index
        n = n * size
    return at.reshape(-1), n


def runs(x_shape, dim, used):
    """How many elements stand before and after the dims that are indexed."""
    before = 1
    for size in x_shape[:dim]:
        before = before * size
    after = 1
    for size in x_shape[dim + used :]:
        after = after * size
    return before, after


def index_x(g, x_shape, dim, i, j, k):
    indices = [index for index in (i, j, k) if index is not None]
    flat, n = flat_index(x_shape, dim, indices)
    before, after = runs(x_shape, dim, len(indices))
    z = torch.zeros((before, n, after), dtype=g.dtype)
    return z.index_add(1, flat, g.reshape(before, flat.shape[0], after)).reshape(x_shape)


def at_indices(dim, i, j, k):
    return (slice(None),) * dim + tuple([index for index in (i, j, k) if index is not None])


def index_put_x(g, dim, i, j, k):
    z = g.clone()
    z[at_indices(dim, i, j, k)] = 0.0
    return z


def index_put_value(g, dim, i, j, k):
    return g[at_indices(dim, i, j, k)]


def inside(g, index_shape):
    """The part of g that an index of these sizes may name."""
    for d in range(len(index_shape)):
        g = g.narrow(d, 0, index_shape[d])
    return g


def scatter_x(g, dim, index):
    return g.scatter(dim, index, 0.0)


def scatter_src(g, dim, index, index_shape, src_shape):
    z = zeros_for(g, src_shape)
    inside(z, index_shape).copy_(g.gather(dim, index))
    return z


def scatter_add_x(g):
    return g


def scatter_add_src(g, dim, index, index_shape, src_shape):
    z = zeros_for(g, src_shape)
    inside(z, index_shape).copy_(g.gather(dim, index))
    return z


def embedding_weight(g, x, weight_shape, padding_idx):
    if padding_idx is not None:
        g = torch.where((x == wrap(padding_idx, weight_shape[0])).unsqueeze(-1), 0.0, g)
    rows = g.reshape(-1, weight_shape[1])
    return zeros_for(g, weight_shape).index_add(0, x.reshape(-1), rows)
