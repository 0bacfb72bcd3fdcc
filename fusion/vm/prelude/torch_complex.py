# torch: complex tensors, each two real ones of one shape.  Functions of torch meet them in
# __torch_function__ (_complex_call); a gradient of one is that of its parts, which is PyTorch's.
import math

import _complex
import torch
import torch.nn.functional as F


class _Dtype:
    """torch.complex64: a dtype of two floats."""

    is_floating_point = False
    is_complex = True
    is_signed = True

    def __init__(self, name, of):
        self.name = name
        self.of = of
        self.itemsize = 2 * of.itemsize

    def to_real(self):
        return self.of

    def to_complex(self):
        return self

    def __repr__(self):
        return "torch." + self.name

    def __eq__(self, other):
        return self is other

    def __hash__(self):
        return hash(self.name)

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return _complex_call(func, args, kwargs or {})


complex64 = _Dtype("complex64", torch.float32)
complex128 = _Dtype("complex128", torch.float64)
cfloat = complex64
cdouble = complex128


def _is(v):
    return isinstance(v, _Complex)


def _of(v):
    """A tensor or number as two parts, the second None where there is none."""
    if isinstance(v, (_Complex, _complex.number)):
        return v.real, v.imag
    return v, None


def _as_complex(v, like=None):
    if _is(v):
        return v
    if not isinstance(v, torch.Tensor):
        re, im = _of(v)
        return _Complex(torch.tensor(re, dtype=like.real.dtype), torch.tensor(0.0 if im is None else im, dtype=like.real.dtype))
    if not v.dtype.is_floating_point:
        v = v.to(torch.float32 if like is None else like.real.dtype)
    return _Complex(v, torch.zeros_like(v))


class _Complex:
    __builtin__ = torch.Tensor

    def __init__(self, real, imag):
        self.real = real
        self.imag = imag

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return _complex_call(func, args, kwargs or {})

    def __mul__(self, other):
        """One call: mul."""
        return _mul(self, other)

    def __rmul__(self, other):
        """One call: mul."""
        return _mul(self, other)

    def __add__(self, other):
        """One call: add."""
        return _add(self, other)

    def __radd__(self, other):
        """One call: add."""
        return _add(self, other)

    def __sub__(self, other):
        """One call: sub."""
        return _sub(self, other)

    def __rsub__(self, other):
        """One call: rsub."""
        return _sub(other, self)

    def __truediv__(self, other):
        """One call: truediv."""
        return _div(self, other)

    def __rtruediv__(self, other):
        """One call: truediv."""
        return _div(other, self)

    def __matmul__(self, other):
        """One call: matmul."""
        return _matmul(self, other)

    def __rmatmul__(self, other):
        """One call: matmul."""
        return _matmul(other, self)

    def __pow__(self, other):
        """One call: pow."""
        return _pow(self, other)

    def __rpow__(self, other):
        return _exp(_mul(self, _log(_as_complex(other, self))))

    def __imul__(self, other):
        return self.copy_(_mul(self, other))

    def __iadd__(self, other):
        return self.copy_(_add(self, other))

    def __isub__(self, other):
        return self.copy_(_sub(self, other))

    def __itruediv__(self, other):
        return self.copy_(_div(self, other))

    def __neg__(self):
        """One call: neg."""
        return _Complex(-self.real, -self.imag)

    def __abs__(self):
        return _abs(self)

    def __eq__(self, other):
        """One call: eq."""
        return _eq(self, other)

    def __ne__(self, other):
        """One call: ne."""
        return torch.logical_not(_eq(self, other))

    def __hash__(self):
        return id(self)

    def __getitem__(self, index):
        """One call: getitem."""
        return _Complex(self.real[index], self.imag[index])

    def __setitem__(self, index, value):
        re, im = _of(value)
        self.real[index] = re
        self.imag[index] = 0.0 if im is None else im

    def __len__(self):
        return len(self.real)

    def __iter__(self):
        return iter([self[i] for i in range(len(self))])

    def __bool__(self):
        return bool(self.item())

    def __complex__(self):
        return self.item()

    def __repr__(self):
        return _shown(self)

    def __format__(self, spec):
        return repr(self)

    @property
    def shape(self):
        return self.real.shape

    @property
    def ndim(self):
        return self.real.ndim

    @property
    def device(self):
        return self.real.device

    @property
    def dtype(self):
        return complex128 if self.real.dtype == torch.float64 else complex64

    @property
    def requires_grad(self):
        return self.real.requires_grad or self.imag.requires_grad

    @requires_grad.setter
    def requires_grad(self, value):
        self.requires_grad_(value)

    @property
    def is_leaf(self):
        return self.real.is_leaf and self.imag.is_leaf

    @property
    def grad(self):
        re, im = self.real.grad, self.imag.grad
        if re is None and im is None:
            return None
        return _Complex(torch.zeros_like(im) if re is None else re, torch.zeros_like(re) if im is None else im)

    @grad.setter
    def grad(self, value):
        self.real.grad = None if value is None else value.real
        self.imag.grad = None if value is None else value.imag

    @property
    def data(self):
        return _Complex(self.real.data, self.imag.data)

    @property
    def T(self):
        return _Complex(self.real.T, self.imag.T)

    @property
    def mT(self):
        return _Complex(self.real.mT, self.imag.mT)

    @property
    def mH(self):
        return _Complex(self.real.mT, -self.imag.mT)

    @property
    def H(self):
        return self.mH

    def size(self, dim=None):
        return self.real.size() if dim is None else self.real.size(dim)

    def dim(self):
        return self.real.dim()

    def numel(self):
        return self.real.numel()

    def stride(self, *args):
        return self.real.stride(*args)

    def is_contiguous(self):
        return True

    def is_complex(self):
        return True

    def is_floating_point(self):
        return False

    def element_size(self):
        return self.dtype.itemsize

    def is_conj(self):
        return False

    def item(self):
        return _complex.number(self.real.item(), self.imag.item())

    def tolist(self):
        return _listed(self.real.tolist(), self.imag.tolist())

    def contiguous(self, memory_format=None):
        return self

    def resolve_conj(self):
        return self

    def to(self, *args, **keywords):
        made = _to(self, args, keywords)
        return self if made is None else made

    def type(self, dtype=None):
        return str(self.dtype) if dtype is None else self.to(dtype)

    def cpu(self):
        return self

    def cuda(self, *args, **keywords):
        torch.empty(0).cuda(*args, **keywords)
        return self

    def requires_grad_(self, requires_grad=True):
        self.real.requires_grad_(requires_grad)
        self.imag.requires_grad_(requires_grad)
        return self

    def retain_grad(self):
        self.real.retain_grad()
        self.imag.retain_grad()

    def backward(self, gradient=None, retain_graph=None, create_graph=False):
        if gradient is None:
            raise RuntimeError("grad can be implicitly created only for real scalar outputs but got " + str(self.dtype))
        re, im = _of(gradient)
        parts = [(p, g) for p, g in ((self.real, re), (self.imag, im)) if p.requires_grad]
        torch.autograd.backward([p for p, _ in parts], [g for _, g in parts], retain_graph, create_graph)

    def copy_(self, other, non_blocking=False):
        re, im = _of(other)
        self.real.copy_(re)
        if im is None:
            self.imag.zero_()
        else:
            self.imag.copy_(im)
        return self

    def zero_(self):
        self.real.zero_()
        self.imag.zero_()
        return self

    def fill_(self, value):
        re, im = _of(value)
        self.real.fill_(re)
        self.imag.fill_(0.0 if im is None else im)
        return self

    def _as_parameter(self, requires_grad=True):
        return ComplexParameter(view_as_real(self).detach(), requires_grad)

    def __getattr__(self, name):
        if name in _EACH:
            return lambda *args, **keywords: _of_each(name, (self,) + args, keywords)
        if name[:1] == "_":
            raise AttributeError(f"'Tensor' object has no attribute '{name}'")
        if name[-1:] == "_" and name[:-1] in _functions:
            return lambda *args, **keywords: self.copy_(_complex_named(name[:-1], (self,) + args, keywords))
        if name not in _functions and name not in _PRODUCTS:
            raise NotImplementedError(f"complex tensors have no {name} here: take torch.view_as_real and compute with the two parts")
        return lambda *args, **keywords: _complex_named(name, (self,) + args, keywords)


class ComplexParameter(_Complex):
    """A parameter of a module: its two parts lie side by side in one real parameter, which is
    what optimizers see."""

    def __init__(self, base, requires_grad):
        self._real_parameter = torch.nn.Parameter(base, requires_grad)

    @property
    def real(self):
        return self._real_parameter.select(-1, 0)

    @property
    def imag(self):
        return self._real_parameter.select(-1, 1)

    @property
    def is_leaf(self):
        return True

    @property
    def data(self):
        return view_as_complex(self._real_parameter.data)

    @property
    def grad(self):
        made = self._real_parameter.grad
        return None if made is None else view_as_complex(made)

    @grad.setter
    def grad(self, value):
        self._real_parameter.grad = None if value is None else view_as_real(value)

    def requires_grad_(self, requires_grad=True):
        self._real_parameter.requires_grad_(requires_grad)
        return self


# ---- arithmetic


def _mul(a, b):
    ar, ai = _of(a)
    br, bi = _of(b)
    if ai is None:
        return _Complex(ar * br, ar * bi)
    if bi is None:
        return _Complex(ar * br, ai * br)
    return _Complex(ar * br - ai * bi, ar * bi + ai * br)


def _product(a, b, product):
    """Of two, by `product` of real tensors."""
    ar, ai = _of(a)
    br, bi = _of(b)
    if ai is None:
        return _Complex(product(ar, br), product(ar, bi))
    if bi is None:
        return _Complex(product(ar, br), product(ai, br))
    return _Complex(product(ar, br) - product(ai, bi), product(ar, bi) + product(ai, br))


def _add(a, b, *, alpha=1):
    ar, ai = _of(a)
    br, bi = _of(b)
    if alpha != 1:
        br, bi = br * alpha, None if bi is None else bi * alpha
    if ai is None:
        return _Complex(ar + br, bi + torch.zeros_like(ar) if isinstance(ar, torch.Tensor) else bi)
    if bi is None:
        real = ar + br
        return _Complex(real, ai if ai.shape == real.shape else ai.expand(real.shape))
    return _Complex(ar + br, ai + bi)


def _neg(a):
    return _Complex(-a.real, -a.imag)


def _sub(a, b, *, alpha=1):
    br, bi = _of(b)
    b = -b if bi is None else _Complex(-bi * 0 - br, -bi) if isinstance(bi, float) else _neg(b)
    return _add(a, b, alpha=alpha)


def _div(a, b, *, rounding_mode=None):
    ar, ai = _of(a)
    br, bi = _of(b)
    if bi is None:
        return _Complex(ar / br, ai / br)
    size = br * br + bi * bi
    if ai is None:
        return _Complex(ar * br / size, -(ar * bi) / size)
    return _Complex((ar * br + ai * bi) / size, (ai * br - ar * bi) / size)


def _reciprocal(a):
    return _div(1.0, a)


def _matmul(a, b):
    return _product(a, b, torch.matmul)


def _solve(a, b, what="general"):
    """As one real system of twice the size."""
    if what != "general":
        raise NotImplementedError("complex triangular systems are not there; torch.linalg.solve takes them as any other")
    a, b = _as_complex(a, b), _as_complex(b, a)
    left = torch.cat((torch.cat((a.real, -a.imag), -1), torch.cat((a.imag, a.real), -1)), -2)
    made = torch._C.solve(left, torch.cat((b.real, b.imag), -2))
    n = a.real.shape[-1]
    return _Complex(made.narrow(-2, 0, n), made.narrow(-2, n, n))


def _pow(a, b):
    if isinstance(b, int) and not isinstance(b, bool) and 0 < b <= 8:
        made = a
        for _ in range(b - 1):
            made = _mul(made, a)
        return made
    if isinstance(b, int) and -8 <= b < 0:
        return _reciprocal(_pow(a, -b))
    a = _as_complex(a, b if _is(b) else None)
    return _exp(_mul(_log(a), b))


def _square(a):
    return _mul(a, a)


def _exp(a):
    length = torch.exp(a.real)
    return _Complex(length * torch.cos(a.imag), length * torch.sin(a.imag))


def _log(a):
    return _Complex(torch.log(_abs(a)), _angle(a))


def _sqrt(a):
    length = torch.sqrt(_abs(a))
    half = _angle(a) / 2
    return _Complex(length * torch.cos(half), length * torch.sin(half))


def _sin(a):
    return _Complex(torch.sin(a.real) * torch.cosh(a.imag), torch.cos(a.real) * torch.sinh(a.imag))


def _cos(a):
    return _Complex(torch.cos(a.real) * torch.cosh(a.imag), -(torch.sin(a.real) * torch.sinh(a.imag)))


def _sinh(a):
    return _Complex(torch.sinh(a.real) * torch.cos(a.imag), torch.cosh(a.real) * torch.sin(a.imag))


def _cosh(a):
    return _Complex(torch.cosh(a.real) * torch.cos(a.imag), torch.sinh(a.real) * torch.sin(a.imag))


def _tanh(a):
    return _div(_sinh(a), _cosh(a))


def _sigmoid(a):
    return _div(1.0, _add(_exp(_neg(a)), 1.0))


def _abs(a):
    """One call: abs."""
    if not (a.real.requires_grad or a.imag.requires_grad):
        return torch.hypot(a.real, a.imag)
    size = a.real * a.real + a.imag * a.imag
    zero = size == 0  # where the gradient is 0, as PyTorch's
    return torch.where(zero, 0.0, torch.sqrt(torch.where(zero, 1.0, size)))


def _angle(a):
    """One call: angle."""
    return torch.atan2(a.imag, a.real)


def _conj(a):
    return _Complex(a.real, -a.imag)


def _eq(a, b):
    ar, ai = _of(a)
    br, bi = _of(b)
    return (ar == br) & ((0.0 if ai is None else ai) == (0.0 if bi is None else bi))


def _sum(a, dim=None, keepdim=False, *, dtype=None):
    return _Complex(a.real.sum(dim, keepdim), a.imag.sum(dim, keepdim))


def _mean(a, dim=None, keepdim=False, *, dtype=None):
    return _Complex(a.real.mean(dim, keepdim), a.imag.mean(dim, keepdim))


def _prod(a, dim=None, keepdim=False):
    flat = a.reshape(-1) if dim is None else a
    parts = flat.unbind(0 if dim is None else dim)
    made = parts[0]
    for part in parts[1:]:
        made = _mul(made, part)
    return made.unsqueeze(dim) if keepdim and dim is not None else made


def _norm(a, *args, **keywords):
    return torch.norm(_abs(a), *args, **keywords)


def _vector_norm(a, *args, **keywords):
    return torch.linalg.vector_norm(_abs(a), *args, **keywords)


def _einsum(equation, *operands):
    if len(operands) == 1 and isinstance(operands[0], (list, tuple)):
        operands = tuple(operands[0])
    if len(operands) == 1:
        return _Complex(torch.einsum(equation, operands[0].real), torch.einsum(equation, operands[0].imag))
    if len(operands) != 2:
        raise NotImplementedError("einsum: one or two complex operands are in the language")
    return _product(operands[0], operands[1], lambda x, y: torch.einsum(equation, x, y))


def _linear(input, weight, bias=None):
    made = _product(input, weight, F.linear)
    return made if bias is None else _add(made, bias)


def _where(condition, input, other):
    like = input if _is(input) else other
    a, b = _as_complex(input, like), _as_complex(other, like)
    return _Complex(torch.where(condition, a.real, b.real), torch.where(condition, a.imag, b.imag))


def _masked_fill(a, mask, value):
    re, im = _of(value)
    return _Complex(a.real.masked_fill(mask, re), a.imag.masked_fill(mask, 0.0 if im is None else im))


def _joined(name):
    def join(tensors, *args, **keywords):
        like = [t for t in tensors if _is(t)][0]
        parts = [_as_complex(t, like) for t in tensors]
        f = getattr(torch, name)
        return _Complex(f([p.real for p in parts], *args, **keywords), f([p.imag for p in parts], *args, **keywords))

    return join


def _allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    b = _as_complex(b, a)
    return bool((_abs(_sub(a, b)) <= atol + rtol * _abs(b)).all())


def _isnan(a):
    return torch.isnan(a.real) | torch.isnan(a.imag)


def _isfinite(a):
    return torch.isfinite(a.real) & torch.isfinite(a.imag)


def _isinf(a):
    return torch.isinf(a.real) | torch.isinf(a.imag)


def _sgn(a):
    size = _abs(a)
    zero = size == 0
    return _div(a, torch.where(zero, 1.0, size))


def _outer(a, b):
    return _mul(a.unsqueeze(1) if _is(a) else a.unsqueeze(1), b.unsqueeze(0))


def _dot(a, b):
    return _sum(_mul(a, b))


def _vdot(a, b):
    return _sum(_mul(_conj(a) if _is(a) else a, b))


def _addcmul(a, b, c, *, value=1):
    return _add(a, _mul(b, c), alpha=value)


def _lerp(a, end, weight):
    return _add(a, _mul(_sub(end, a), weight))


# ---- new tensors


def _like(name):
    def make(a, *args, dtype=None, **keywords):
        of = None if dtype is None else dtype.of if isinstance(dtype, _Dtype) else dtype
        f = getattr(torch, name)
        if of is not None and not isinstance(dtype, _Dtype):
            return f(a.real, *args, dtype=of, **keywords)
        re = a.real if _is(a) else a
        if name in ("rand_like", "randn_like"):
            return _drawn(name[:-5], list(re.shape), of or re.dtype)
        made = f(re, *args, dtype=of or re.dtype, **keywords)
        return _Complex(made, torch.zeros_like(made))

    return make


def _drawn(name, size, dtype):
    """Real and imaginary parts in turn, a normal of variance one half each."""
    made = getattr(torch, name)(size + [2], dtype=dtype)
    return view_as_complex(made * math.sqrt(0.5) if name == "randn" else made)


def _created(name):
    def make(*args, dtype=None, requires_grad=False, **keywords):
        of = dtype.of if isinstance(dtype, _Dtype) else torch.float32
        if name in ("rand", "randn"):
            size = keywords.pop("size", None) or (args[0] if args and isinstance(args[0], (tuple, list)) else args)
            made = _drawn(name, list(size), of)
        elif name == "full":
            size = args[0] if args else keywords["size"]
            re, im = _of(args[1] if len(args) > 1 else keywords["fill_value"])
            made = _Complex(torch.full(size, re, dtype=of), torch.full(size, 0.0 if im is None else im, dtype=of))
        else:
            real = getattr(torch, name)(*args, dtype=of, **keywords)
            made = _Complex(real, torch.zeros_like(real))
        return made.requires_grad_() if requires_grad else made

    return make


def _new(name):
    def make(a, *args, dtype=None, **keywords):
        of = dtype.of if isinstance(dtype, _Dtype) else a.real.dtype if _is(a) else torch.float32
        made = getattr(a.real, name)(*args, dtype=of, **keywords)
        return _Complex(made, torch.zeros_like(made))

    return make


def _tensor(data, dtype=None, device=None, requires_grad=False):
    of = dtype.of if isinstance(dtype, _Dtype) else torch.float32
    if _is(data):
        data = data.tolist()
    made = _Complex(torch.tensor(_part(data, 0), dtype=of), torch.tensor(_part(data, 1), dtype=of))
    return made.requires_grad_() if requires_grad else made


def _part(data, k):
    if isinstance(data, (list, tuple)):
        return [_part(item, k) for item in data]
    if isinstance(data, torch.Tensor):
        data = data.item()
    return float((data.real, data.imag)[k])


def _listed(re, im):
    if isinstance(re, list):
        return [_listed(a, b) for a, b in zip(re, im)]
    return _complex.number(re, im)


def _to(a, args, keywords):
    """x.to(...), of a real or complex tensor; None where nothing changes."""
    wanted = [v for v in list(args) + [keywords.get("dtype")] if isinstance(v, _Dtype)]
    if wanted:
        of = wanted[0].of
        if not _is(a):
            re = a.to(of)
            return _Complex(re, torch.zeros_like(re))
        return a if a.real.dtype == of else _Complex(a.real.to(of), a.imag.to(of))
    for v in args:
        if _is(v):
            return _to(a, (v.dtype,), {})
    found = torch._C.conversion(*args, **{k: v for k, v in keywords.items() if k not in ("copy", "memory_format")})
    return None if found is None or not _is(a) else a.real.to(found)


def _type(a, dtype=None, non_blocking=False):
    return _to(a, (dtype,), {})


def _item(a):
    return a.item()


def _tolist(a):
    return a.tolist()


_EACH = {
    "view", "reshape", "unsqueeze", "squeeze", "transpose", "swapaxes", "swapdims", "expand", "expand_as", "permute",
    "t", "flatten", "unflatten", "select", "narrow", "movedim", "moveaxis", "roll", "flip", "repeat", "tile",
    "index_select", "gather", "diagonal", "unfold", "clone", "detach", "tril", "triu", "diag", "diag_embed", "cumsum",
    "masked_select", "chunk", "split", "unbind", "tensor_split", "repeat_interleave", "broadcast_to", "rot90", "trace",
    "pad", "alias", "getitem", "view_as", "reshape_as", "fliplr", "flipud", "take_along_dim", "nansum", "diff",
    "contiguous", "scatter", "scatter_add", "index_add", "atleast_1d", "atleast_2d", "take", "pin_memory",
}

_PRODUCTS = ("mm", "bmm", "mv", "conv1d", "conv2d", "conv3d", "kron", "tensordot", "inner")

_functions = {
    "mul": _mul, "multiply": _mul, "add": _add, "sub": _sub, "subtract": _sub, "div": _div, "divide": _div,
    "true_divide": _div, "matmul": _matmul, "pow": _pow, "square": _square, "exp": _exp, "log": _log, "sqrt": _sqrt,
    "sin": _sin, "cos": _cos, "sinh": _sinh, "cosh": _cosh, "tanh": _tanh, "sigmoid": _sigmoid, "abs": _abs,
    "absolute": _abs, "angle": _angle, "conj": _conj, "conj_physical": _conj, "neg": _neg, "negative": _neg,
    "reciprocal": _reciprocal, "eq": _eq, "sum": _sum, "mean": _mean, "prod": _prod, "norm": _norm,
    "vector_norm": _vector_norm, "linalg_norm": _vector_norm, "einsum": _einsum, "linear": _linear, "where": _where,
    "masked_fill": _masked_fill, "cat": _joined("cat"), "concat": _joined("cat"), "stack": _joined("stack"),
    "hstack": _joined("hstack"), "vstack": _joined("vstack"), "allclose": _allclose, "isnan": _isnan, "isreal": lambda a: a.imag == 0,
    "isfinite": _isfinite, "isinf": _isinf, "sgn": _sgn, "outer": _outer, "ger": _outer, "solve": _solve, "dot": _dot, "vdot": _vdot,
    "addcmul": _addcmul, "lerp": _lerp, "zeros_like": _like("zeros_like"), "ones_like": _like("ones_like"),
    "empty_like": _like("zeros_like"), "full_like": _like("full_like"), "rand_like": _like("rand_like"),
    "randn_like": _like("randn_like"), "zeros": _created("zeros"), "ones": _created("ones"),
    "empty": _created("zeros"), "full": _created("full"), "rand": _created("rand"), "randn": _created("randn"),
    "eye": _created("eye"), "arange": _created("arange"), "linspace": _created("linspace"),
    "new_zeros": _new("new_zeros"), "new_ones": _new("new_ones"), "new_empty": _new("new_zeros"), "tensor": _tensor,
    "as_tensor": _tensor, "to": _type, "type": _type, "is_complex": _is, "is_tensor": lambda a: a is not None,
    "is_floating_point": lambda a: False, "numel": lambda a: a.numel(), "item": _item, "tolist": _tolist,
    "size": lambda a, *dim: a.size(*dim),
}


def _complex_named(name, args, keywords):
    found = _functions.get(name)
    if found is not None:
        return found(*args, **keywords)
    if name in _PRODUCTS:
        f = getattr(torch, name)
        made = _product(args[0], args[1], lambda x, y: f(x, y, *([None] if name[:4] == "conv" and len(args) > 2 else []), *args[3:], **keywords))
        bias = args[2] if len(args) > 2 and name[:4] == "conv" else None
        return made if bias is None else _add(made, bias.reshape(-1, *[1] * (made.dim() - 2)))
    if name in _EACH:
        return _of_each(name, args, keywords)
    raise NotImplementedError(
        f"complex tensors have no {name} here: take torch.view_as_real and compute with the two real parts"
    )


def _of_each(name, args, keywords):
    """Of the real parts, and of the imaginary ones; what is not complex goes to both."""
    re = _apply(name, [v.real if isinstance(v, _Complex) else v for v in args], keywords)
    im = _apply(name, [v.imag if isinstance(v, _Complex) else v for v in args], keywords)
    return _pairs(re, im)


def _apply(name, args, keywords):
    if hasattr(args[0], name):
        return getattr(args[0], name)(*args[1:], **keywords)
    return getattr(F if name == "pad" else torch, name)(*args, **keywords)


def _pairs(re, im):
    """Of each tensor a complex one."""
    if isinstance(re, (tuple, list)):
        made = [_pairs(a, b) for a, b in zip(re, im)]
        return tuple(made) if isinstance(re, tuple) else made
    return _Complex(re, im)


def _complex_call(func, args, keywords):
    name = func.__name__
    keywords.pop("out", None)
    if name == "to":
        made = _to(args[0], args[1:], keywords)
        return args[0] if made is None else made
    if name in ("grad", "backward"):
        return _derivative(name, args, keywords)
    return _complex_named(name, args, keywords)


def _derivative(name, args, keywords):
    """torch.autograd.grad of parts, and pairs of what it gives."""
    lists = [list(v) if isinstance(v, (tuple, list)) else [v] for v in args[:3] if v is not None]
    flat = [[part for t in ts for part in ((t.real, t.imag) if _is(t) else (t,))] for ts in lists]
    f = getattr(torch.autograd, name)
    if name == "backward":
        return f(flat[0], flat[1] if len(flat) > 1 else None, **keywords)
    keywords["allow_unused"] = True
    made = list(f(flat[0], flat[1], *flat[2:], **keywords))
    found = []
    for t in lists[1]:
        if not _is(t):
            found.append(made.pop(0))
            continue
        re, im = made.pop(0), made.pop(0)
        found.append(_Complex(torch.zeros_like(im) if re is None else re, torch.zeros_like(re) if im is None else im))
    return tuple(found)


# ---- how one is printed


def _texts(values):
    whole = all([v == int(v) for v in values if math.isfinite(v)])
    sizes = [abs(v) for v in values if v != 0 and math.isfinite(v)]
    if sizes and (max(sizes) / min(sizes) > 1000 or max(sizes) > 1e8 or (min(sizes) < 1e-4 and not whole)):
        return [f"{v:.4e}" for v in values]
    if whole:
        return [f"{v:.0f}." if math.isfinite(v) else str(v) for v in values]
    return [f"{v:.4f}" for v in values]


def _nested(items, shape, indent):
    if len(shape) == 0:
        return items[0]
    n = math.prod(shape[1:])
    parts = [_nested(items[i * n : (i + 1) * n], shape[1:], indent + 1) for i in range(shape[0])]
    between = ", " if len(shape) == 1 else "," + "\n" * (len(shape) - 1) + " " * indent
    return "[" + between.join(parts) + "]"


def _shown(c):
    re, im = c.real.detach().reshape(-1).tolist(), c.imag.detach().reshape(-1).tolist()
    left, right = _texts(re), _texts([abs(v) for v in im])
    wide = max([len(t) for t in left] + [0])
    items = []
    for a, b, v in zip(left, right, im):
        sign = "-" if math.copysign(1.0, v) < 0 else "+"
        items.append(" " * (wide - len(a)) + a + sign + b + "j")
    text = _nested(items, list(c.shape), 8)
    if c.real.dtype == torch.float64:
        text += ", dtype=torch.complex128"
    if c.requires_grad:
        text += ", requires_grad=True"
    return "tensor(" + text + ")"


# ---- what makes them


def _parts_only(first, second):
    for part in (first, second):
        if not part.dtype.is_floating_point:
            raise RuntimeError(f"Expected both inputs to be Half, Float or Double tensors but got {first.dtype} and {second.dtype}")


def polar(abs, angle, *, out=None):
    """One call."""
    if abs.dtype != angle.dtype:
        raise RuntimeError(f"Expected object of scalar type {abs.dtype} but got scalar type {angle.dtype} for second argument")
    _parts_only(abs, angle)
    return _Complex(abs * torch.cos(angle), abs * torch.sin(angle))


def complex(real, imag, *, out=None):
    """One call."""
    if real.dtype != imag.dtype:
        raise RuntimeError(f"Expected object of scalar type {real.dtype} but got scalar type {imag.dtype} for second argument")
    _parts_only(real, imag)
    shape = torch.broadcast_shapes(real.shape, imag.shape)
    return _Complex(real.expand(shape).clone(), imag.expand(shape).clone())


def view_as_complex(input):
    """One call."""
    if input.dim() == 0 or input.shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    return _Complex(input.select(-1, 0), input.select(-1, 1))


def view_as_real(input):
    """One call."""
    if not _is(input):
        raise RuntimeError("view_as_real is only supported for complex tensors")
    if isinstance(input, ComplexParameter):
        return input._real_parameter
    return torch.stack((input.real, input.imag), -1)


def angle(input, *, out=None):
    """One call."""
    if _is(input):
        return torch.atan2(input.imag, input.real)
    return torch.where(torch.isnan(input), input, torch.where(input < 0, math.pi, 0.0).to(_floats(input)))


def _floats(input):
    return input.dtype if input.dtype.is_floating_point else torch.get_default_dtype()


def isreal(input):
    """One call."""
    return input.imag == 0 if _is(input) else torch.ones_like(input, dtype=torch.bool)


def real(input):
    """One call."""
    return input.real


def imag(input):
    """One call."""
    if not _is(input):
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return input.imag


def conj(input):
    """One call."""
    return _conj(input) if _is(input) else input


def resolve_conj(input):
    return input


def conj_physical(input, *, out=None):
    """One call."""
    return conj(input)
