# numpy's arrays, each around a tensor of the CPU, and the types of its numbers (value.h: scalar).
import _prelude
import torch
import math

__version__ = "2.2.0"
pi = math.pi
e = math.e
inf = math.inf
nan = math.nan
newaxis = None
_sum, _any, _max, _min = sum, any, max, min
# as_number(x, of): Python's as numpy's, of a type's name or of the type of another number.
as_number, python_number = _prelude.numpy_number, _prelude.numpy_python


def is_plain(x):
    """A number of Python's: it takes the type of what it meets."""
    return type(x) in (int, float, bool)


def is_number(x):
    return isinstance(x, (int, float, generic))


def is_whole(x):
    return isinstance(x, (int, integer))


class _Kind(type):
    """Of the types of numbers: called, one makes a number, or an array of what has many."""

    def __call__(cls, x=0):
        of = _types[cls]
        if isinstance(x, str):
            x = float(x) if of.kind == "f" else int(x)
        if not isinstance(x, (int, float, generic)):
            return wrap(tensor_of(x, of.torch))
        if of.kind in "iu" and type(x) is int:
            most = x if of.itemsize == 8 else 2 ** (of.itemsize * 8 - (of.kind == "i")) - 1
            least = 0 if of.kind == "u" else x if of.itemsize == 8 else -most - 1
            if not least <= x <= most:
                raise OverflowError(f"Python integer {x} out of bounds for {of.name}")
        return as_number(bool(x) if of.kind == "b" else float(x) if of.kind == "f" else int(x), of.name)

    def __repr__(cls):
        return f"<class 'numpy.{cls.__name__}'>"

    def __eq__(cls, other):
        return cls is other or (isinstance(other, dtype) and other == cls)

    def __hash__(cls):
        return hash(cls.__name__)


class generic(metaclass=_Kind):
    pass


class number(generic):
    pass


class integer(number):
    pass


class signedinteger(integer):
    pass


class unsignedinteger(integer):
    pass


class inexact(number):
    pass


class floating(inexact):
    pass


class bool_(generic):
    pass


bool_.__name__ = "bool"


class int8(signedinteger):
    pass


class int16(signedinteger):
    pass


class int32(signedinteger):
    pass


class int64(signedinteger):
    pass


class uint8(unsignedinteger):
    pass


class uint16(unsignedinteger):
    pass


class uint32(unsignedinteger):
    pass


class uint64(unsignedinteger):
    pass


class float16(floating):
    pass


class float32(floating):
    pass


class float64(floating):
    pass


class dtype:
    """A type of elements."""

    def __init__(self, of, held=None):
        if held is None:
            of, held = _found(of).type, _found(of).torch
        self.torch = held
        self.type = of
        self.name = of.__name__
        self.kind = "b" if of is bool_ else "f" if held.is_floating_point else self.name[0]
        self.itemsize = {"uint16": 2, "uint32": 4}.get(self.name, held.itemsize)

    def __eq__(self, other):
        if isinstance(other, dtype):
            return self.name == other.name
        return other is not None and self.name == _found(other).name

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash(self.name)

    def __str__(self):
        return self.name

    def __repr__(self):
        return f"dtype('{self.name}')"


# Those that torch lacks are held with more bits: of what fits no value differs.
_held = {float16: torch.float16, float32: torch.float32, float64: torch.float64, int8: torch.int8, int16: torch.int16, int32: torch.int32, int64: torch.int64, uint8: torch.uint8, bool_: torch.bool, uint16: torch.int32, uint32: torch.int64, uint64: torch.int64}
_types = {of: dtype(of, held) for of, held in _held.items()}
_of_torch = {each.torch: each for each in reversed(list(_types.values()))}
_of_python = {float: _types[float64], int: _types[int64], bool: _types[bool_]}
half = float16
single = float32
double = float64
float_ = float64
int_ = int64
intp = int64
intc = int32
long = int64
longlong = int64
short = int16
byte = int8
ubyte = uint8
_short = {"f": float32, "d": float64, "f2": float16, "f4": float32, "f8": float64, "i": int32, "l": int64, "i1": int8, "i2": int16, "i4": int32, "i8": int64, "u1": uint8, "u2": uint16, "u4": uint32, "u8": uint64, "H": uint16, "b": int8, "B": uint8, "?": bool_, "float": float64, "int": int64, "half": float16, "single": float32, "double": float64}
_named = {each.name: each for each in _types.values()}


def _found(of):
    if isinstance(of, dtype):
        return of
    if isinstance(of, str):
        if of in _named:
            return _named[of]
        short = _short.get(of.lstrip("<=|>"))
        if short is None:
            raise TypeError(f"data type '{of}' not understood")
        return _types[short]
    for known in (_types, _of_torch, _of_python):
        if of in known:
            return known[of]
    raise TypeError(f"Cannot interpret '{of}' as a data type")


def _to(of):
    return None if of is None else _found(of).torch


class _Info:
    def __init__(self, of, info):
        self.dtype = of
        self.min = info.min if of.kind in "iu" else as_number(info.min, of.name)
        self.max = info.max if of.kind in "iu" else as_number(info.max, of.name)
        self.bits = info.bits
        if of.kind == "f":
            self.eps = as_number(info.eps, of.name)
            self.tiny = as_number(info.tiny, of.name)
            self.smallest_normal = self.tiny


def finfo(of):
    of = _found(of)
    return _Info(of, torch.finfo(of.torch))


def iinfo(of):
    of = _found(of)
    return _Info(of, torch.iinfo(of.torch))


def wrap(tensor):
    """A tensor as an array, or its number where it has no dimension."""
    if tensor.dim() > 0:
        return ndarray(tensor)
    return _Scalar(tensor) if torch._C._follows_dynamo() else as_number(tensor.item(), tensor.dtype)


def attribute_of_number(x, name):
    """What numpy's number has of the attributes of arrays; None: nothing of that name."""
    if name == "item" or name == "tolist":
        return lambda: python_number(x)
    of = _types[type(x)]
    if name in ("dtype", "shape", "ndim", "size", "itemsize", "nbytes"):
        return {"dtype": of, "shape": (), "ndim": 0, "size": 1}.get(name, of.itemsize)
    if name in ("is_integer", "as_integer_ratio", "hex", "bit_length", "real"):
        return None
    found = getattr(ndarray(torch.tensor(x, dtype=of.torch)), name, None)
    if not callable(found):
        return wrap(found._tensor) if isinstance(found, ndarray) else found

    def method(*args, **keywords):
        made = found(*args, **keywords)
        return wrap(made._tensor) if isinstance(made, ndarray) else made

    return method


def _nested(data):
    """Whether an array or a tensor is in lists."""
    if isinstance(data, (list, tuple)):
        return _any([_nested(each) for each in data])
    return isinstance(data, (ndarray, torch.Tensor))


def tensor_of(data, dtype=None):
    """What numpy.asarray() makes an array of, as a tensor."""
    if isinstance(data, ndarray):
        data = data._tensor
    if isinstance(data, torch.Tensor):
        return data if dtype is None or data.dtype == dtype else data.to(dtype)
    if isinstance(data, (range, map, zip)):
        data = list(data)
    if isinstance(data, (list, tuple)) and _nested(data):
        parts = [tensor_of(each) for each in data]
        common = parts[0].dtype
        for part in parts[1:]:
            common = _common(common, part.dtype)
        made = torch.stack([part.to(common) for part in parts])
        return made if dtype is None else made.to(dtype)
    if isinstance(data, generic):
        return torch.tensor(data, dtype=_types[type(data)].torch if dtype is None else dtype)
    if not isinstance(data, (list, tuple, int, float, bool)):
        if hasattr(data, "__len__") and hasattr(data, "__getitem__") and not isinstance(data, (str, bytes, dict)):
            return tensor_of(list(data), dtype)
        raise TypeError(f"an array holds numbers here, not {type(data).__name__}")
    if dtype is not None:
        return torch.tensor(data, dtype=dtype)
    try:
        made = torch.tensor(data)
    except ValueError:
        raise ValueError(
            "setting an array element with a sequence. The requested array has an inhomogeneous shape."
        )
    return torch.tensor(data, dtype=torch.float64) if made.dtype == torch.float32 and not _narrow(data) else made


def _narrow(data):
    """Whether lists hold numbers of numpy's: then their type counts."""
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return isinstance(data, generic)


def array(object, dtype=None, *, copy=True, ndmin=0):
    made = tensor_of(object, _to(dtype))
    if copy and isinstance(object, (ndarray, torch.Tensor)):
        made = made.clone()
    while made.dim() < ndmin:
        made = made.unsqueeze(0)
    return ndarray(made)


def asarray(a, dtype=None, *, copy=None):
    if isinstance(a, ndarray) and (dtype is None or a.dtype == dtype) and not copy:
        return a
    made = tensor_of(a, _to(dtype))
    return ndarray(made.clone() if copy else made)


def ascontiguousarray(a, dtype=None):
    return ndarray(tensor_of(a, _to(dtype)).contiguous())


def _common(a, b):
    """The type of two arrays together: float32 and a wide int are float64, beside torch's rules."""
    if a.is_floating_point == b.is_floating_point:
        return torch.promote_types(a, b)
    whole, real = (b, a) if a.is_floating_point else (a, b)
    if whole == torch.bool:
        return real
    bits = {torch.int8: 16, torch.uint8: 16, torch.int16: 32}.get(whole, 64)
    wanted = {16: torch.float16, 32: torch.float32, 64: torch.float64}[bits]
    return torch.promote_types(real, wanted)


def pair(a, b, real=False):
    """The operands of a function of two, of one type; a plain number takes the other's."""
    plain_a, plain_b = is_plain(a), is_plain(b)
    if plain_a and plain_b:
        a, b = tensor_of(a), tensor_of(b)
    elif plain_b:
        a = tensor_of(a)
        if not a.dtype.is_floating_point and (real or isinstance(b, float)):
            a = a.double()
        if a.dtype == torch.bool and not isinstance(b, bool):
            a = a.to(torch.int64)
        return a, b
    elif plain_a:
        b, a = pair(b, a, real)
        return a, b
    a, b = tensor_of(a), tensor_of(b)
    if a.dtype != b.dtype:
        common = _common(a.dtype, b.dtype)
        a, b = a.to(common), b.to(common)
    return (a.double(), b.double()) if real and not a.dtype.is_floating_point else (a, b)


def operate(f, a, b, real=False):
    if isinstance(a, torch.Tensor):
        return f(a, b if is_number(b) else tensor_of(b))
    if isinstance(b, torch.Tensor):
        return f(a if is_number(a) else tensor_of(a), b)
    a, b = pair(a, b, real)
    return wrap(f(a, b))


def _slice(tensor, key):
    """Of a key, the slices that go backwards done, and what is left of it."""
    whole = key if isinstance(key, tuple) else (key,)
    if not _any([isinstance(k, slice) and k.step is not None and k.step < 0 for k in whole]):
        return tensor, key
    left, dim = [], 0
    used = len([k for k in whole if k is not None and k is not ...])
    for k in whole:
        if k is ...:
            dim += tensor.dim() - used
        elif isinstance(k, slice) and k.step is not None and k.step < 0:
            picked = torch.tensor(list(range(tensor.shape[dim]))[k], dtype=torch.int64)
            tensor = tensor.index_select(dim, picked)
            k = slice(None)
        if k is not None and k is not ...:
            dim += 1
        left.append(k)
    return tensor, tuple(left)


def _key(key):
    if isinstance(key, tuple):
        return tuple([_key(k) for k in key])
    if isinstance(key, ndarray):
        return key._tensor
    return tensor_of(key) if isinstance(key, list) else key


def axes_of(axis):
    return tuple(axis) if isinstance(axis, (list, tuple)) else axis


def summed(f, a, axis=None, keepdims=False):
    """f over the axes, of all elements where there are none given."""
    t = tensor_of(a)
    if axis is None:
        axis = tuple(range(t.dim()))
        if not axis:
            return wrap(t)
    made = f(t, axes_of(axis), keepdims)
    return made if isinstance(a, torch.Tensor) else wrap(made)


def _real(t):
    return t if t.dtype.is_floating_point else t.double()


def _one_by_one(f):
    """A reduction of torch that takes one axis."""

    def reduce(t, axes, keepdims):
        for axis in sorted([a % t.dim() for a in (axes if isinstance(axes, tuple) else (axes,))], reverse=True):
            t = f(t, axis, keepdims)
        return t

    return reduce


_prod = _one_by_one(lambda t, axis, keep: t.prod(axis, keep))
_any_of = _one_by_one(lambda t, axis, keep: t.bool().any(axis, keep))
_all_of = _one_by_one(lambda t, axis, keep: t.bool().all(axis, keep))


class _Flags:
    """How an array lies in memory."""

    writeable = True
    owndata = True
    aligned = True

    def __init__(self, tensor):
        self.c_contiguous = tensor.is_contiguous()
        self.f_contiguous = tensor.permute(*reversed(range(tensor.dim()))).is_contiguous()

    def __getitem__(self, name):
        return getattr(self, name.lower())


class ndarray:
    __array_priority__ = 0

    def __init__(self, tensor):
        self._tensor = tensor

    def _as_argument(self):
        return self._tensor

    def _of_list(self, items):
        return tensor_of(items)

    def _from_tensor(self, tensor):
        return wrap(tensor)

    @property
    def shape(self):
        return tuple(self._tensor.shape)

    @shape.setter
    def shape(self, sizes):
        self._tensor = self._tensor.reshape(sizes)

    @property
    def dtype(self):
        return _found(self._tensor.dtype)

    @property
    def ndim(self):
        return self._tensor.dim()

    @property
    def size(self):
        return self._tensor.numel()

    @property
    def itemsize(self):
        return self._tensor.element_size()

    @property
    def real(self):
        return wrap(self._tensor.real if self._tensor.is_complex() else self._tensor)

    @property
    def imag(self):
        return wrap(self._tensor.imag if self._tensor.is_complex() else torch.zeros_like(self._tensor))

    @property
    def strides(self):
        size = self._tensor.element_size()
        return tuple([size * step for step in self._tensor.stride()])

    @property
    def nbytes(self):
        return self._tensor.numel() * self._tensor.element_size()

    @property
    def flags(self):
        return _Flags(self._tensor)

    def tobytes(self, order="C"):
        return bytes(self._tensor.contiguous().view(torch.uint8).reshape(-1).tolist())

    def diagonal(self, offset=0, axis1=0, axis2=1):
        return wrap(self._tensor.diagonal(offset, axis1, axis2))

    def trace(self):
        return wrap(self._tensor.diagonal().sum())

    def conj(self):
        return wrap(self._tensor.conj())

    def argpartition(self, kth, axis=-1):
        return self.argsort(axis)

    def partition(self, kth, axis=-1):
        self.sort(axis)

    def searchsorted(self, v, side="left"):
        return wrap(torch.searchsorted(self._tensor, tensor_of(v), side=side))

    def put(self, indices, values):
        import numpy

        numpy.put(self, indices, values)

    @property
    def T(self):
        return self.transpose()

    @property
    def flat(self):
        return iter(ndarray(self._tensor.reshape(-1)))

    def __len__(self):
        if self._tensor.dim() == 0:
            raise TypeError("len() of unsized object")
        return self._tensor.shape[0]

    def __iter__(self):
        if self._tensor.dim() == 0:
            raise TypeError("iteration over a 0-d array")
        return iter([wrap(self._tensor[i]) for i in range(self._tensor.shape[0])])

    def __getitem__(self, key):
        tensor, key = _slice(self._tensor, _key(key))
        if is_whole(key) and not -tensor.shape[0] <= key < tensor.shape[0]:
            raise IndexError(
                f"index {key} is out of bounds for axis 0 with size {tensor.shape[0]}"
            )
        return wrap(tensor[key])

    def __setitem__(self, key, value):
        if not is_number(value):
            value = tensor_of(value).to(self._tensor.dtype)
        self._tensor[_key(key)] = value

    def __contains__(self, x):
        return bool((self._tensor == x).any())

    def __bool__(self):
        if self._tensor.numel() > 1:
            raise ValueError(
                "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
            )
        return bool(self._tensor)

    def __int__(self):
        return int(self._tensor.item())

    def __float__(self):
        return float(self._tensor.item())

    def __index__(self):
        if self._tensor.dim() != 0:
            raise TypeError("only integer scalar arrays can be converted to a scalar index")
        return self._tensor.item()

    def __format__(self, spec):
        return format(self.item(), spec) if spec else str(self)

    def __hash__(self):
        raise TypeError("unhashable type: 'numpy.ndarray'")

    # Arithmetic.
    def __add__(self, other):
        return operate(lambda a, b: a + b, self, other)

    def __radd__(self, other):
        return operate(lambda a, b: a + b, other, self)

    def __sub__(self, other):
        return operate(lambda a, b: a - b, self, other)

    def __rsub__(self, other):
        return operate(lambda a, b: a - b, other, self)

    def __mul__(self, other):
        return operate(lambda a, b: a * b, self, other)

    def __rmul__(self, other):
        return operate(lambda a, b: a * b, other, self)

    def __truediv__(self, other):
        return operate(lambda a, b: a / b, self, other, True)

    def __rtruediv__(self, other):
        return operate(lambda a, b: a / b, other, self, True)

    def __floordiv__(self, other):
        return operate(lambda a, b: a // b, self, other)

    def __rfloordiv__(self, other):
        return operate(lambda a, b: a // b, other, self)

    def __mod__(self, other):
        return operate(lambda a, b: a % b, self, other)

    def __rmod__(self, other):
        return operate(lambda a, b: a % b, other, self)

    def __pow__(self, other):
        return operate(lambda a, b: a**b, self, other)

    def __rpow__(self, other):
        return operate(lambda a, b: a**b, other, self)

    def __matmul__(self, other):
        return operate(lambda a, b: a @ b, self, other)

    def __rmatmul__(self, other):
        return operate(lambda a, b: a @ b, other, self)

    def __and__(self, other):
        return operate(lambda a, b: a & b, self, other)

    def __or__(self, other):
        return operate(lambda a, b: a | b, self, other)

    def __xor__(self, other):
        return operate(lambda a, b: a ^ b, self, other)

    def __invert__(self):
        return wrap(~self._tensor)

    def __neg__(self):
        return wrap(-self._tensor)

    def __pos__(self):
        return wrap(self._tensor.clone())

    def __abs__(self):
        return wrap(self._tensor.abs())

    def __eq__(self, other):
        return False if other is None else operate(lambda a, b: a == b, self, other)

    def __ne__(self, other):
        return True if other is None else operate(lambda a, b: a != b, self, other)

    def __lt__(self, other):
        return operate(lambda a, b: a < b, self, other)

    def __le__(self, other):
        return operate(lambda a, b: a <= b, self, other)

    def __gt__(self, other):
        return operate(lambda a, b: a > b, self, other)

    def __ge__(self, other):
        return operate(lambda a, b: a >= b, self, other)

    def _write(self, made):
        made = tensor_of(made)
        if made.dtype.is_floating_point and not self._tensor.dtype.is_floating_point:
            raise TypeError(
                f"Cannot cast ufunc output from {_found(made.dtype)!r} to {self.dtype!r} with casting rule 'same_kind'"
            )
        self._tensor.copy_(made)
        return self

    def __iadd__(self, other):
        return self._write(self + other)

    def __isub__(self, other):
        return self._write(self - other)

    def __imul__(self, other):
        return self._write(self * other)

    def __itruediv__(self, other):
        return self._write(self / other)

    def __ifloordiv__(self, other):
        return self._write(self // other)

    def __ipow__(self, other):
        return self._write(self**other)

    # Methods.
    def astype(self, dtype, copy=True):
        made = self._tensor.to(_to(dtype))
        return ndarray(made.clone() if copy and made is self._tensor else made)

    def copy(self, order="C"):
        return ndarray(self._tensor.clone())

    def item(self, *index):
        picked = self._tensor
        if len(index) == 1 and is_whole(index[0]):
            picked = picked.reshape(-1)[index[0]]
        elif index:
            picked = picked[index[0] if isinstance(index[0], tuple) else index]
        if picked.numel() != 1:
            raise ValueError("can only convert an array of size 1 to a Python scalar")
        return picked.item()

    def tolist(self):
        return self._tensor.tolist()

    def fill(self, value):
        self._tensor.fill_(value)

    def view(self, dtype):
        return ndarray(self._tensor.view(_to(dtype)))

    def reshape(self, *shape):
        shape = shape[0] if len(shape) == 1 and isinstance(shape[0], (list, tuple)) else shape
        known = math.prod([n for n in shape if n != -1])
        if -1 not in shape and known != self.size:
            text = f"({shape[0]},)" if len(shape) == 1 else str(tuple(shape)).replace(" ", "")
            raise ValueError(f"cannot reshape array of size {self.size} into shape {text}")
        return ndarray(self._tensor.reshape(shape))

    def ravel(self):
        return ndarray(self._tensor.reshape(-1))

    def flatten(self):
        return ndarray(self._tensor.reshape(-1).clone())

    def squeeze(self, axis=None):
        return wrap(self._tensor.squeeze() if axis is None else self._tensor.squeeze(axis))

    def transpose(self, *axes):
        axes = axes[0] if len(axes) == 1 and isinstance(axes[0], (list, tuple)) else axes
        if not axes or axes[0] is None:
            axes = list(range(self._tensor.dim()))[::-1]
        return ndarray(self._tensor.permute(list(axes)))

    def swapaxes(self, axis1, axis2):
        return ndarray(self._tensor.transpose(axis1, axis2))

    def repeat(self, repeats, axis=None):
        t = self._tensor.reshape(-1) if axis is None else self._tensor
        repeats = repeats if is_whole(repeats) else tensor_of(repeats)
        return ndarray(t.repeat_interleave(repeats, dim=0 if axis is None else axis))

    def sum(self, axis=None, dtype=None, keepdims=False):
        t = self if dtype is None else self.astype(dtype)
        return summed(lambda t, axis, keep: t.sum(axis, keep, dtype=None if t.dtype.is_floating_point else torch.int64), t, axis, keepdims)

    def mean(self, axis=None, dtype=None, keepdims=False):
        t = self if dtype is None else self.astype(dtype)
        return summed(lambda t, axis, keep: _real(t).mean(axis, keep), t, axis, keepdims)

    def var(self, axis=None, ddof=0, keepdims=False):
        return summed(lambda t, axis, keep: _real(t).var(axis, correction=ddof, keepdim=keep), self, axis, keepdims)

    def std(self, axis=None, ddof=0, keepdims=False):
        return summed(lambda t, axis, keep: _real(t).std(axis, correction=ddof, keepdim=keep), self, axis, keepdims)

    def prod(self, axis=None, keepdims=False):
        return summed(_prod, self, axis, keepdims)

    def min(self, axis=None, keepdims=False):
        return summed(lambda t, axis, keep: t.amin(axis, keep), self, axis, keepdims)

    def max(self, axis=None, keepdims=False):
        return summed(lambda t, axis, keep: t.amax(axis, keep), self, axis, keepdims)

    def any(self, axis=None, keepdims=False):
        return summed(_any_of, self, axis, keepdims)

    def all(self, axis=None, keepdims=False):
        return summed(_all_of, self, axis, keepdims)

    def argmax(self, axis=None):
        return wrap(self._tensor.argmax() if axis is None else self._tensor.argmax(axis))

    def argmin(self, axis=None):
        return wrap(self._tensor.argmin() if axis is None else self._tensor.argmin(axis))

    def argsort(self, axis=-1, kind=None):
        return ndarray(torch.sort(self._tensor, dim=axis, stable=True).indices)

    def sort(self, axis=-1, kind=None):
        self._tensor.copy_(torch.sort(self._tensor, dim=axis).values)

    def cumsum(self, axis=None):
        return ndarray(self._tensor.reshape(-1).cumsum(0) if axis is None else self._tensor.cumsum(axis))

    def cumprod(self, axis=None):
        return ndarray(self._tensor.reshape(-1).cumprod(0) if axis is None else self._tensor.cumprod(axis))

    def clip(self, min=None, max=None):
        t = self._tensor
        if min is not None:
            t = operate(torch.maximum, ndarray(t), asarray(min))._tensor if not is_plain(min) else pair(t, min)[0].clamp(min=min)
        if max is not None:
            t = operate(torch.minimum, ndarray(t), asarray(max))._tensor if not is_plain(max) else pair(t, max)[0].clamp(max=max)
        return ndarray(t)

    def round(self, decimals=0):
        t = self._tensor
        return ndarray(t.round(decimals=decimals) if t.dtype.is_floating_point else t)

    def nonzero(self):
        return tuple([ndarray(index) for index in torch.nonzero(self._tensor, as_tuple=True)])

    def dot(self, other):
        return operate(torch.matmul, self, other) if not is_number(other) else self * other

    def take(self, indices, axis=None):
        t = self._tensor.reshape(-1) if axis is None else self._tensor
        index = tensor_of(indices)
        made = t.index_select(0 if axis is None else axis, index.reshape(-1))
        return wrap(made.reshape(index.shape) if axis is None else made)

    def __str__(self):
        return _lines(self._tensor, "", " ")

    def __repr__(self):
        text = _lines(self._tensor, " " * 6, ", ")
        if self.dtype.name in ("float64", "int64", "bool"):
            return f"array({text})"
        return f"array({text}, dtype={self.dtype.name})"


# How an array is printed.
print_options = {"precision": 8, "linewidth": 75, "suppress": False}


def _digits(x):
    """The shortest text of x with at most 8 digits after the point: its whole part, and the rest."""
    whole, _, rest = f"{x:.{print_options['precision']}f}".partition(".")
    return whole, rest.rstrip("0")


def _floats(values, shortest):
    finite = [abs(v) for v in values if math.isfinite(v) and v != 0]
    if finite and (_max(finite) >= 1e8 or _min(finite) < 1e-4 or _max(finite) / _min(finite) > 1e3):
        if not print_options["suppress"]:
            return _powers(values, shortest)
    parts = [_digits(float(shortest(v))) if math.isfinite(v) else None for v in values]
    right = _max([len(p[1]) for p in parts if p is not None] + [0])
    left = _max([len(p[0]) for p in parts if p is not None] + [0])
    texts = []
    for v, p in zip(values, parts):
        if p is None:
            texts.append("nan" if v != v else "inf" if v > 0 else "-inf")
        else:
            texts.append(p[0] + "." + p[1] + " " * (right - len(p[1])))
    width = _max([len(t) for t in texts] + [left + 1 + right])
    return [t.rjust(width) for t in texts]


def _powers(values, shortest):
    parts = []
    for v in values:
        if not math.isfinite(v):
            parts.append(None)
            continue
        text = shortest(v)
        digits = "0" if v == 0 else text.replace("-", "").split("e")[0].replace(".", "").strip("0")
        count = _min(_max(len(digits) - 1, 0), print_options["precision"])
        parts.append(f"{v:.{count}e}")
    right = _max([len(p.split("e")[0].split(".")[1]) if "." in p else 0 for p in parts if p is not None] + [0])
    texts = []
    for v, p in zip(values, parts):
        if p is None:
            texts.append("nan" if v != v else "inf" if v > 0 else "-inf")
        else:
            text = f"{v:.{right}e}"
            texts.append(text if right else text.replace("e", ".e"))
    width = _max([len(t) for t in texts])
    return [t.rjust(width) for t in texts]


def _texts(tensor):
    values = tensor.reshape(-1).tolist()
    if tensor.dtype.is_floating_point:
        digits = 8 if tensor.dtype == torch.float32 else 17
        return _floats(values, lambda v: _shortest(v, digits) if digits == 8 else repr(v))
    texts = [str(v) for v in values]
    width = _max([len(t) for t in texts] + [0])
    return [t.rjust(width) for t in texts]


def _shortest(v, digits):
    """The shortest text that float32 reads as v."""
    for n in range(6, digits + 1):
        text = f"{v:.{n}g}"
        if torch.tensor(float(text)).item() == v:
            return text
    return f"{v:.9g}"


def _lines(tensor, indent, between):
    if tensor.dim() == 0:
        return _texts(tensor)[0].strip()
    if tensor.numel() == 0:
        return "[]"
    texts = _texts(tensor)
    return _rows(texts, list(tensor.shape), indent + " ", between, print_options["linewidth"] - 1)


def _rows(texts, shape, indent, between, width):
    if len(shape) == 1:
        lines, line = [], indent
        for i, text in enumerate(texts):
            end = "" if i == len(texts) - 1 else between.rstrip()
            if len(line) + len(text) > width and line != indent:
                lines.append(line.rstrip())
                line = indent
            line += text + end + ("" if i == len(texts) - 1 else " ")
        lines.append(line)
        return "[" + "\n".join(lines)[len(indent) :] + "]"
    step = len(texts) // shape[0]
    parts = [_rows(texts[i * step : (i + 1) * step], shape[1:], indent + " ", between, width - 1) for i in range(shape[0])]
    return "[" + (between.rstrip() + "\n" * (len(shape) - 1) + indent).join(parts) + "]"


class _Scalar(ndarray):
    """A number that a graph computes and keeps, as torch's own numpy does where Dynamo captures it;
    outside of the graph it does what the number does."""

    __builtin__ = ndarray  # as a key it is its number

    def _number(self):
        return as_number(self._tensor.item(), self._tensor.dtype)

    def _as_argument(self):
        return self._tensor if torch._C._is_traced() else self._number()

    def __hash__(self):
        return hash(self._number())

    def __repr__(self):
        return repr(self._number())

    def __str__(self):
        return str(self._number())

    def __round__(self, ndigits=None):
        return round(self._number(), ndigits)

    def astype(self, dtype, copy=True):
        return wrap(self._tensor.to(_to(dtype)))

    def round(self, decimals=0):
        return wrap(super().round(decimals)._tensor)

    def clip(self, min=None, max=None):
        return wrap(super().clip(min, max)._tensor)

    def copy(self, order="C"):
        return wrap(self._tensor)

    def squeeze(self, axis=None):
        return self

    def transpose(self, *axes):
        return self

    @property
    def T(self):
        return self
