# torch.Tensor as a base of classes.  An instance keeps a plain tensor; functions of torch that meet
# it ask its class's __torch_function__, or __torch_dispatch__, for the result.
import _prelude
import torch

_STORED = ("requires_grad", "grad", "data", "names")
_NOT_CONVERTED = ("grad", "_grad", "_base", "grad_fn")
_switched_off = [0]  # a list, which is state that captures defer: how many blocks are open
_modes = []
_open = [0]  # how many of them, from the last one on, are asked now


def enabled():
    return _switched_off[0] == 0


def switch_off(more):
    _switched_off[0] += more


def plain(v):
    """The tensor that an instance keeps, in lists and dicts too; whatever else it is, itself."""
    if isinstance(v, Tensor):
        return v._plain
    if type(v) is list or type(v) is tuple:
        return type(v)([plain(item) for item in v])
    if type(v) is dict:
        return {key: plain(item) for key, item in v.items()}
    return v


def wrap(tensor, cls):
    made = _prelude.instance(cls)
    _prelude.set(made, "_plain", tensor)
    return made


def _instances(values, found):
    for v in values:
        if isinstance(v, Tensor) or (not isinstance(v, torch.Tensor) and hasattr(type(v), "__torch_function__")):
            found.append(v)
        elif type(v) is list or type(v) is tuple:
            _instances(v, found)
    return found


def _given_back(result, instances):
    """What was written in place is the object that was given."""
    for v in instances:
        if isinstance(v, Tensor) and v._plain is result:
            return v
    return result


def converted(result, cls, instances):
    if type(result) is tuple or type(result) is list:
        return type(result)([converted(item, cls, instances) for item in result])
    if isinstance(result, tuple) and hasattr(result, "_fields"):
        return type(result)(*[converted(item, cls, instances) for item in result])
    if not isinstance(result, torch.Tensor) or isinstance(result, (torch.nn.Parameter, Tensor)):
        return result
    known = _given_back(result, instances)
    return wrap(result, cls) if known is result else known


def _raw(func, args, kwargs):
    """As if there were no subclasses."""
    instances = _instances(list(args) + list(kwargs.values()), [])
    return _given_back(func(*plain(tuple(args)), **plain(dict(kwargs))), instances)


class _Overload:
    """An operator of ATen as __torch_dispatch__ gets it; calling it computes it, of plain tensors."""

    def __init__(self, func, overload):
        self._func = func
        self._opname = func.__name__
        self._overloadname = overload
        self.__name__ = f"{self._opname}.{overload}"
        self.namespace = "aten"

    @property
    def overloadpacket(self):
        return getattr(torch.ops.aten, self._opname)

    def name(self):
        return f"aten::{self._opname}"

    def __call__(self, *args, **kwargs):
        return handle(self._func, args, kwargs)

    def __eq__(self, other):
        return str(self).split(".")[:2] == str(other).split(".")[:2]

    def __hash__(self):
        return hash(self._opname)

    def __repr__(self):
        return f"<OpOverload(op='aten.{self._opname}', overload='{self._overloadname}')>"

    def __str__(self):
        return f"aten.{self.__name__}"


def _dispatch(cls, func, types, args, kwargs):
    tensors = [v for v in args if isinstance(v, torch.Tensor)]
    overload = "Tensor" if len(tensors) > 1 or func.__name__ in ("add", "sub", "mul", "div") else "default"
    return cls.__torch_dispatch__(_Overload(func, overload), types, args, kwargs)


def _kinds(instances):
    """The classes of arguments, a derived one before its base."""
    kinds = []
    for v in instances:
        kind = type(v)
        if kind in kinds:
            continue
        at = len(kinds)
        for i, other in enumerate(kinds):
            if at == len(kinds) and issubclass(kind, other):
                at = i
        kinds.insert(at, kind)
    return kinds


def _ask_mode(func, kinds, args, kwargs):
    _open[0] += 1
    try:
        return _modes[-_open[0]].__torch_function__(func, tuple(kinds), args, kwargs)
    finally:
        _open[0] -= 1


def open_modes():
    return list(_modes)


def enter_mode(mode):
    _modes.append(mode)
    _prelude.function_modes(len(_modes))


def leave_mode():
    mode = _modes.pop()
    _prelude.function_modes(len(_modes))
    return mode


def operate(name, *operands):
    """An operator of tensors while a mode is open."""
    if not isinstance(operands[0], torch.Tensor):
        name, operands = "__r" + name[2:], operands[::-1]
    return handle(Tensor.__dict__[name].of, operands, {})


def handle(func, args, kwargs):
    """What a function of torch gives, of arguments some of which are instances."""
    instances = _instances(list(args) + list(kwargs.values()), [])
    kinds = _kinds(instances)
    if _open[0] < len(_modes):
        result = _ask_mode(func, kinds, args, kwargs)
        if result is not NotImplemented:
            return result
    if not instances:
        return func(*args, **kwargs)
    if _switched_off[0] > 0:
        return _raw(func, args, kwargs)
    for kind in kinds:
        hook = kind.__torch_function__
        if hook is disabled and hasattr(kind, "__torch_dispatch__"):
            result = _dispatch(kind, func, tuple(kinds), args, kwargs)
        else:
            result = hook(func, tuple(kinds), args, kwargs)
        if result is not NotImplemented:
            return result
    raise TypeError(f"no implementation found for '{func.__module__}.{func.__name__}' on types that implement __torch_function__: {kinds}")


class _Disabled:
    """torch._C._disabled_torch_function_impl: the class says nothing of its own."""

    def __call__(self, func, types, args=(), kwargs=None):
        return _raw(func, args, kwargs or {})


disabled = _Disabled()


class _Bound:
    def __init__(self, function, tensor):
        self.__func__ = function
        self.__self__ = tensor
        self.__name__ = function.__name__

    def __call__(self, *args, **kwargs):
        return handle(self.__func__, (self.__self__,) + args, kwargs)


class _Getter:
    """torch.Tensor.shape.__get__, which reads an attribute."""

    __name__ = "__get__"
    __module__ = "torch"

    def __init__(self, name):
        self.of = name

    def __call__(self, tensor, owner=None):
        return getattr(tensor, self.of)

    def __eq__(self, other):
        return isinstance(other, _Getter) and other.of == self.of

    def __hash__(self):
        return hash(self.of)


def _operator(name):
    method = getattr(torch.Tensor, name)

    def operator(self, *args):
        return handle(method, (self,) + args, {})

    operator.of = method
    return operator


def _named(name, function):
    function.__name__ = name

    def operator(self, *args):
        return handle(function, (self,) + args, {})

    operator.of = function
    return operator


def _reflected(name, function, forward):
    """Of a number, or of a plain tensor, whose own operator comes first."""
    operator = _named(name, function)
    forward = getattr(torch.Tensor, forward, None) or _named(forward, lambda a, b: function(b, a)).of

    def reflected(self, other):
        return handle(forward, (other, self), {}) if isinstance(other, torch.Tensor) else operator(self, other)

    reflected.of = function
    return reflected


class Tensor:
    __builtin__ = torch.Tensor

    def __new__(cls, *args, **kwargs):
        if len(args) == 1 and isinstance(args[0], torch.Tensor):
            return wrap(plain(args[0]).detach(), cls)
        return wrap(torch.Tensor(*args), cls)

    def __init__(self, *args, **kwargs):
        pass

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if not all([kind is torch.Tensor or issubclass(cls, kind) for kind in types]):
            return NotImplemented
        if hasattr(cls, "__torch_dispatch__"):
            return _dispatch(cls, func, types, args, kwargs)
        instances = _instances(list(args) + list(kwargs.values()), [])
        result = func(*plain(tuple(args)), **plain(dict(kwargs)))
        if isinstance(func, _Getter) and func.of in _NOT_CONVERTED:
            return result
        return converted(result, cls, instances)

    @staticmethod
    def _make_subclass(cls, data, require_grad=False):
        made = plain(data).detach()
        return wrap(made.requires_grad_() if require_grad else made, cls)

    @staticmethod
    def _make_wrapper_subclass(cls, size, strides=None, storage_offset=None, memory_format=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False):
        return wrap(torch.zeros(size, dtype=dtype, requires_grad=requires_grad), cls)

    def _as_parameter(self, requires_grad):
        return _prelude.Parameter(self._plain.detach(), requires_grad)

    def _as_argument(self):
        return self._plain

    def __getattr__(self, name):
        if name == "_plain" or (name[:2] == "__" and not hasattr(torch.Tensor, name)):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        method = getattr(torch.Tensor, name, None)
        if callable(method):
            return _Bound(method, self)
        if not hasattr(plain(self), name):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        if type(self).__torch_function__ is disabled or hasattr(type(self), "__torch_dispatch__"):
            return getattr(plain(self), name)
        return handle(_Getter(name), (self,), {})

    def __setattr__(self, name, value):
        if name in _STORED:
            setattr(plain(self), name, plain(value))
        else:
            object.__setattr__(self, name, value)

    def __repr__(self, *, tensor_contents=None):
        text = repr(plain(self))
        name = type(self).__name__ + "("
        return name + text[len("tensor("):].replace("\n       ", "\n" + " " * len(name))

    def __str__(self):
        return repr(self)

    def __format__(self, spec):
        return format(plain(self), spec) if self.dim() == 0 else repr(self)

    def __hash__(self):
        return id(self)

    def __iter__(self):
        self.dim()
        return iter(self.unbind(0))

    def __deepcopy__(self, memo):
        return wrap(plain(self).clone(), type(self))

    def __setitem__(self, index, value):
        handle(_setitem, (self, index, value), {})

    __bool__ = _named("__bool__", lambda t: bool(t))
    __int__ = _named("__int__", lambda t: int(t))
    __float__ = _named("__float__", lambda t: float(t))
    __index__ = _named("__index__", lambda t: t.__index__())
    __contains__ = _named("__contains__", lambda t, item: item in t)
    __len__ = _named("__len__", lambda t: len(t))
    __getitem__ = _named("__getitem__", lambda t, index: t[index])
    __add__ = _operator("add")
    __radd__ = _reflected("add", lambda a, b: torch.add(a, b), "add")
    __sub__ = _operator("sub")
    __rsub__ = _reflected("__rsub__", lambda a, b: b - a, "sub")
    __mul__ = _operator("mul")
    __rmul__ = _reflected("mul", lambda a, b: torch.mul(a, b), "mul")
    __truediv__ = _operator("div")
    __rtruediv__ = _reflected("__rdiv__", lambda a, b: b / a, "div")
    __floordiv__ = _named("__floordiv__", lambda a, b: a // b)
    __rfloordiv__ = _reflected("__rfloordiv__", lambda a, b: b // a, "__floordiv__")
    __mod__ = _operator("remainder")
    __pow__ = _operator("pow")
    __rpow__ = _reflected("__rpow__", lambda a, b: b**a, "pow")
    __matmul__ = _operator("matmul")
    __rmatmul__ = _reflected("__rmatmul__", lambda a, b: b @ a, "matmul")
    __and__ = _named("__and__", lambda a, b: a & b)
    __or__ = _named("__or__", lambda a, b: a | b)
    __xor__ = _named("__xor__", lambda a, b: a ^ b)
    __neg__ = _operator("neg")
    __abs__ = _operator("abs")
    __invert__ = _named("__invert__", lambda a: ~a)
    __iadd__ = _operator("add_")
    __isub__ = _operator("sub_")
    __imul__ = _operator("mul_")
    __itruediv__ = _operator("div_")
    __eq__ = _named("__eq__", lambda a, b: a == b)
    __ne__ = _operator("ne")
    __lt__ = _operator("lt")
    __le__ = _operator("le")
    __gt__ = _operator("gt")
    __ge__ = _operator("ge")


def _setitem(tensor, index, value):
    tensor[index] = value


_setitem.__name__ = "__setitem__"
