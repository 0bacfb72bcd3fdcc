# numpy: items of arrays put in, taken out or found by index; grids and slices of indices.
import itertools
import numpy
import torch

_of, _wrap, _array, _slice = numpy.tensor_of, numpy.wrap, numpy.ndarray, slice


def append(arr, values, axis=None):
    if axis is None:
        return numpy.concatenate((numpy.ravel(arr), numpy.ravel(values)))
    return numpy.concatenate((arr, values), axis)


def _places(obj, n):
    """The indices that an int, a slice, a list or a mask names, none below zero."""
    if isinstance(obj, _slice):
        return torch.arange(n)[obj].tolist()
    t = _of(obj)
    if t.dtype == torch.bool:
        return t.nonzero().reshape(-1).tolist()
    places = t.reshape(-1).tolist()
    for i in places:
        if not -n <= i <= n:
            raise IndexError(f"index {i} is out of bounds for axis 0 with size {n}")
    return [i + n if i < 0 else i for i in places]


def delete(arr, obj, axis=None):
    t = _of(arr)
    if axis is None:
        t, axis = t.reshape(-1), 0
    gone = _places(obj, t.shape[axis])
    kept = [i for i in range(t.shape[axis]) if i not in gone]
    return _array(t.index_select(axis, torch.tensor(kept, dtype=torch.int64)))


def insert(arr, obj, values, axis=None):
    t = _of(arr)
    if axis is None:
        t, axis = t.reshape(-1), 0
    n = t.shape[axis]
    places = _places(obj, n)
    new = _of(values).to(t.dtype)
    one = list(t.shape)
    one[axis] = len(places)
    if numpy.is_whole(obj) and new.dim() > 0 and t.dim() == 1:
        one[axis] = new.numel()
        places = places * new.numel()
    elif new.dim() == 1 and t.dim() > 1 and numpy.is_whole(obj):
        new = new.unsqueeze(axis)
    both = torch.cat((t, new.expand(one)), axis)
    order = sorted([(p, 0, n + i) for i, p in enumerate(places)] + [(i, 1, i) for i in range(n)])
    return _array(both.index_select(axis, torch.tensor([at for _, _, at in order], dtype=torch.int64)))


def take_along_axis(arr, indices, axis=-1):
    t = _of(arr)
    if axis is None:
        t, axis = t.reshape(-1), 0
    return _array(torch.take_along_dim(t, _of(indices).long(), axis))


def put_along_axis(arr, indices, values, axis):
    t, at = arr._tensor, _of(indices).long()
    at = at % t.shape[axis]
    t.scatter_(axis, at, _of(values).to(t.dtype).expand(at.shape))


def put(a, ind, v):
    t, at = a._tensor, _of(ind).long().reshape(-1)
    new = _of(v).to(t.dtype).reshape(-1)
    t.reshape(-1)[at] = new[torch.arange(at.numel()) % new.numel()]


def putmask(a, mask, values):
    t = a._tensor
    new = _of(values).to(t.dtype).reshape(-1)
    spread = new[torch.arange(t.numel()) % new.numel()].reshape(t.shape)
    t.copy_(torch.where(_of(mask) != 0, spread, t))


def place(arr, mask, vals):
    at = (_of(mask) != 0).reshape(-1).nonzero().reshape(-1)
    put(arr, _array(at), vals)


def copyto(dst, src, where=True):
    t = dst._tensor
    new = _of(src).to(t.dtype).expand(t.shape)
    t.copy_(new if where is True else torch.where(_of(where), new, t))


def fill_diagonal(a, val):
    n = min(a.shape)
    at = torch.arange(n)
    a._tensor[(at,) * a.ndim] = _of(val).to(a._tensor.dtype)


def diag_indices(n, ndim=2):
    return (numpy.arange(n),) * ndim


def diag_indices_from(arr):
    return diag_indices(arr.shape[0], arr.ndim)


def triu_indices_from(arr, k=0):
    return tuple([_array(t) for t in torch.triu_indices(arr.shape[0], arr.shape[1], k)])


def tril_indices_from(arr, k=0):
    return tuple([_array(t) for t in torch.tril_indices(arr.shape[0], arr.shape[1], k)])


def diagflat(v, k=0):
    return numpy.diag(numpy.ravel(v), k)


def tri(N, M=None, k=0, dtype=float):
    return numpy.tril(numpy.ones((N, N if M is None else M), dtype), k)


def extract(condition, arr):
    return _array(_of(arr).reshape(-1)[_of(condition).reshape(-1) != 0])


def compress(condition, a, axis=None):
    t = _of(a)
    if axis is None:
        t, axis = t.reshape(-1), 0
    return _array(t.index_select(axis, (_of(condition) != 0).nonzero().reshape(-1)))


def choose(a, choices):
    rows = numpy.broadcast_arrays(a, *choices)
    return _array(numpy.stack(rows[1:])._tensor.gather(0, rows[0]._tensor.long().unsqueeze(0)).squeeze(0))


def select(condlist, choicelist, default=0):
    made = default
    for condition, choice in reversed(list(zip(condlist, choicelist))):
        made = numpy.where(condition, choice, made)
    return made


def piecewise(x, condlist, funclist):
    made = numpy.zeros_like(x)
    if len(funclist) == len(condlist) + 1:
        rest = numpy.ones_like(x, dtype=bool)
        for condition in condlist:
            rest = rest & ~condition
        condlist = list(condlist) + [rest]
    for condition, f in zip(condlist, funclist):
        made = numpy.where(condition, f(x) if callable(f) else f, made)
    return made


def partition(a, kth, axis=-1):
    """All of it in order, which any kth allows."""
    _places(kth, numpy.shape(a)[axis])
    return numpy.sort(a, axis)


def argpartition(a, kth, axis=-1):
    _places(kth, numpy.shape(a)[axis])
    return numpy.argsort(a, axis)


def lexsort(keys):
    order = torch.arange(len(keys[0]))
    for key in keys:
        order = order[_of(key)[order].argsort(stable=True)]
    return _array(order)


def ravel_multi_index(multi_index, dims):
    at = 0
    for index, n in zip(multi_index, dims):
        at = at * n + index
    return at


def ix_(*args):
    made = []
    for i, values in enumerate(args):
        t = _of(values)
        if t.dtype == torch.bool:
            t = t.nonzero().reshape(-1)
        made.append(_array(t.reshape([t.numel() if k == i else 1 for k in range(len(args))])))
    return tuple(made)


def _steps(s):
    """The numbers of a slice; an imaginary step counts them and takes the last one too."""
    start, step = 0 if s.start is None else s.start, 1 if s.step is None else s.step
    if isinstance(step, complex):
        return numpy.linspace(start, s.stop, int(abs(step)))
    return numpy.arange(start, s.stop, step)


class _Grid:
    def __init__(self, whole):
        self._whole = whole

    def __getitem__(self, key):
        if isinstance(key, _slice):
            return _steps(key)
        grids = numpy.meshgrid(*[_steps(s) for s in key], indexing="ij")
        if self._whole:
            return numpy.stack(grids)
        return ix_(*[_steps(s) for s in key])


mgrid = _Grid(True)
ogrid = _Grid(False)


class _Joined:
    def __init__(self, columns):
        self._columns = columns

    def __getitem__(self, key):
        parts = []
        for item in key if isinstance(key, tuple) else (key,):
            if isinstance(item, str):
                raise NotImplementedError("np.r_ and np.c_ take arrays and slices here, no text")
            part = _of(_steps(item) if isinstance(item, _slice) else item)
            part = part.reshape(1) if part.dim() == 0 else part
            parts.append(_array(part.unsqueeze(1) if self._columns and part.dim() == 1 else part))
        return numpy.concatenate(parts, -1 if self._columns else 0)


r_ = _Joined(False)
c_ = _Joined(True)


class _Key:
    def __init__(self, always):
        self._always = always

    def __getitem__(self, key):
        return key if isinstance(key, tuple) or not self._always else (key,)


s_ = _Key(False)
index_exp = _Key(True)


def ndindex(*shape):
    if len(shape) == 1 and isinstance(shape[0], (tuple, list)):
        shape = shape[0]
    return itertools.product(*[range(n) for n in shape])


def ndenumerate(arr):
    return zip(ndindex(*numpy.shape(arr)), _of(arr).reshape(-1).tolist())
