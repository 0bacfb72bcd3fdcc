# What a class derives from that is written `class C(dict)`: an instance keeps a plain dict (list,
# ...), and does with it what a dict does.  __builtin__ is the type that it is an instance of too.
import _prelude


class _Base:
    def _as_argument(self):
        return self._plain

    def __eq__(self, other):
        return self._plain == _plain(other)

    def __ne__(self, other):
        return not self == other

    def __repr__(self):
        return repr(self._plain)


def _plain(value):
    return value._plain if isinstance(value, _Base) else value


def write_out(function, *args, out, **keywords):
    made = function(*args, **keywords)
    if out is None:
        return made
    import torch

    if not isinstance(made, tuple) and torch.is_complex(made):
        raise NotImplementedError(f"{function.__name__}: out= of complex numbers is not there; leave it out, and take the result")
    return torch._C.into(out, made, function.__name__)


class _Ordered(_Base):
    def __lt__(self, other):
        return self._plain < _plain(other)

    def __le__(self, other):
        return self._plain <= _plain(other)

    def __gt__(self, other):
        return self._plain > _plain(other)

    def __ge__(self, other):
        return self._plain >= _plain(other)


class _Holding(_Base):
    def __len__(self):
        return len(self._plain)

    def __iter__(self):
        return iter(self._plain)

    def __contains__(self, item):
        return item in self._plain

    def __getitem__(self, index):
        return self._plain[index]


class _Changing(_Holding):
    __hash__ = None

    def __setitem__(self, index, value):
        self._plain[index] = value

    def __delitem__(self, index):
        del self._plain[index]

    def clear(self):
        self._plain.clear()


class Dict(_Changing):
    __builtin__ = dict
    _mirrors = False

    def __new__(cls, *args, **keywords):
        self = object.__new__(cls)
        object.__setattr__(self, "_plain", {})
        return self

    def __init__(self, *args, **keywords):
        self._plain.update(*args, **keywords)

    def __setattr__(self, name, value):
        # self.__dict__ = self: attributes are the dict's entries from here on.
        if name == "__dict__" and value is self:
            object.__setattr__(self, "_mirrors", True)
        elif self._mirrors:
            self._plain[name] = value
        else:
            object.__setattr__(self, name, value)

    def __getattr__(self, name):
        if self._mirrors and name in self._plain:
            return self._plain[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __getitem__(self, key):
        if key not in self._plain and hasattr(type(self), "__missing__"):
            return self.__missing__(key)
        return self._plain[key]

    def __reversed__(self):
        return reversed(self._plain)

    def __or__(self, other):
        result = self.copy()
        result.update(other)
        return result

    def __ror__(self, other):
        return {**other, **self._plain}

    def __ior__(self, other):
        self.update(other)
        return self

    def get(self, key, default=None):
        return self._plain.get(key, default)

    def keys(self):
        return self._plain.keys()

    def values(self):
        return self._plain.values()

    def items(self):
        return self._plain.items()

    def pop(self, *args):
        return self._plain.pop(*args)

    def popitem(self):
        return self._plain.popitem()

    def setdefault(self, key, default=None):
        return self._plain.setdefault(key, default)

    def update(self, *args, **keywords):
        self._plain.update(*args, **keywords)

    def copy(self):
        return dict(self._plain)

    @classmethod
    def fromkeys(cls, keys, value=None):
        result = cls()
        for key in keys:
            result[key] = value
        return result


class _Sequence(_Ordered, _Holding):
    def __add__(self, other):
        return self._plain + _plain(other)

    def __radd__(self, other):
        return other + self._plain

    def __mul__(self, count):
        return self._plain * count

    def __rmul__(self, count):
        return self._plain * count

    def index(self, *args):
        return self._plain.index(*args)

    def count(self, item):
        return self._plain.count(item)


class List(_Sequence, _Changing):
    __builtin__ = list

    def __new__(cls, *args, **keywords):
        self = object.__new__(cls)
        object.__setattr__(self, "_plain", [])
        return self

    def __init__(self, items=()):
        self._plain.extend(items)

    def __reversed__(self):
        return reversed(self._plain)

    def __iadd__(self, other):
        self._plain.extend(self._plain if other is self else other)
        return self

    def __imul__(self, count):
        self._plain *= count
        return self

    def append(self, item):
        self._plain.append(item)

    def extend(self, items):
        self._plain.extend(self._plain if items is self else items)

    def insert(self, index, item):
        self._plain.insert(index, item)

    def remove(self, item):
        self._plain.remove(item)

    def pop(self, *args):
        return self._plain.pop(*args)

    def reverse(self):
        self._plain.reverse()

    def sort(self, *, key=None, reverse=False):
        self._plain.sort(key=key, reverse=reverse)

    def copy(self):
        return self._plain.copy()


class _Fixed(_Base):
    def __init__(self, *args, **keywords):
        pass

    def __hash__(self):
        return hash(self._plain)

    def __str__(self):
        return str(self._plain)


class Tuple(_Fixed, _Sequence):
    __builtin__ = tuple

    def __new__(cls, items=()):
        self = object.__new__(cls)
        object.__setattr__(self, "_plain", tuple(items))
        return self

    def __repr__(self):
        return repr(self._plain)

    def __str__(self):
        return repr(self)


class Set(_Ordered, _Holding):
    __builtin__ = set
    __hash__ = None

    def __new__(cls, *args, **keywords):
        self = object.__new__(cls)
        object.__setattr__(self, "_plain", set())
        return self

    def __init__(self, items=()):
        self._plain.update(items)

    def __or__(self, other):
        return self._plain | _plain(other)

    def __and__(self, other):
        return self._plain & _plain(other)

    def __sub__(self, other):
        return self._plain - _plain(other)

    def __xor__(self, other):
        return self._plain ^ _plain(other)

    def __ior__(self, other):
        self._plain |= _plain(other)
        return self

    def __repr__(self):
        return f"{type(self).__name__}({self._plain!r})"

    def add(self, item):
        self._plain.add(item)

    def remove(self, item):
        self._plain.remove(item)

    def discard(self, item):
        self._plain.discard(item)

    def pop(self):
        return self._plain.pop()

    def clear(self):
        self._plain.clear()

    def copy(self):
        return self._plain.copy()

    def update(self, *others):
        self._plain.update(*others)

    def union(self, *others):
        return self._plain.union(*others)

    def intersection(self, *others):
        return self._plain.intersection(*others)

    def difference(self, *others):
        return self._plain.difference(*others)

    def issubset(self, other):
        return self._plain.issubset(other)

    def issuperset(self, other):
        return self._plain.issuperset(other)


class Str(_Fixed, _Sequence):
    __builtin__ = str

    def __new__(cls, value=""):
        self = object.__new__(cls)
        object.__setattr__(self, "_plain", str(value))
        return self

    def __getattr__(self, name):
        # The methods of str; what they give is a plain one.
        if name.startswith("__") or not hasattr("", name):
            raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")
        return getattr(self._plain, name)

    def __mod__(self, values):
        return self._plain % values

    def __format__(self, spec):
        return format(self._plain, spec)


class _Number(_Fixed, _Ordered):
    def __bool__(self):
        return bool(self._plain)

    def __int__(self):
        return int(self._plain)

    def __float__(self):
        return float(self._plain)

    def __format__(self, spec):
        return format(self._plain, spec)

    def __neg__(self):
        return -self._plain

    def __abs__(self):
        return abs(self._plain)

    def __add__(self, other):
        return self._plain + _plain(other)

    def __radd__(self, other):
        return other + self._plain

    def __sub__(self, other):
        return self._plain - _plain(other)

    def __rsub__(self, other):
        return other - self._plain

    def __mul__(self, other):
        return self._plain * _plain(other)

    def __rmul__(self, other):
        return other * self._plain

    def __truediv__(self, other):
        return self._plain / _plain(other)

    def __rtruediv__(self, other):
        return other / self._plain

    def __floordiv__(self, other):
        return self._plain // _plain(other)

    def __rfloordiv__(self, other):
        return other // self._plain

    def __mod__(self, other):
        return self._plain % _plain(other)

    def __rmod__(self, other):
        return other % self._plain

    def __pow__(self, other):
        return self._plain ** _plain(other)

    def __rpow__(self, other):
        return other ** self._plain


class Int(_Number):
    __builtin__ = int

    def __new__(cls, value=0):
        self = object.__new__(cls)
        object.__setattr__(self, "_plain", int(value))
        return self

    def __index__(self):
        return self._plain

    def __and__(self, other):
        return self._plain & _plain(other)

    def __rand__(self, other):
        return other & self._plain

    def __or__(self, other):
        return self._plain | _plain(other)

    def __ror__(self, other):
        return other | self._plain

    def __xor__(self, other):
        return self._plain ^ _plain(other)

    def __invert__(self):
        return ~self._plain

    def __lshift__(self, other):
        return self._plain << _plain(other)

    def __rshift__(self, other):
        return self._plain >> _plain(other)


class Float(_Number):
    __builtin__ = float

    def __new__(cls, value=0.0):
        self = object.__new__(cls)
        object.__setattr__(self, "_plain", float(value))
        return self


def make_named(cls, items):
    return cls(*items)


def base_of_named(cls, defaults):
    """What a class has that derives from one of namedtuple()."""
    from typing import NamedTuple

    members = {"__annotations__": {name: "" for name in cls._fields}}
    members.update(zip(reversed(cls._fields), reversed(defaults or ())))
    return type(cls.__name__, (NamedTuple,), members)


class Namespace(Dict):
    """What globals() gives: an entry that is written is the module's."""

    def __init__(self, entries):
        object.__setattr__(self, "_plain", entries)

    def __setitem__(self, name, value):
        self._plain[name] = value
        _prelude.store_global(name, value)

    def setdefault(self, name, default=None):
        if name not in self._plain:
            self[name] = default
        return self._plain[name]

    def update(self, *args, **keywords):
        for name, value in dict(*args, **keywords).items():
            self[name] = value

    def _refuse(self, *args):
        raise NotImplementedError("a name of globals() is removed by the statement del")

    __delitem__ = pop = popitem = clear = _refuse


class Type:
    """What a metaclass derives from."""
    __builtin__ = type

    def __new__(mcs, name, bases, attributes, **keywords):
        return _prelude.make_class(mcs, name, bases, attributes, keywords)

    def __init__(cls, name, bases, attributes, **keywords):
        pass

    def __call__(cls, *args, **keywords):
        return _prelude.call_class(cls, *args, **keywords)

    def mro(cls):
        return list(cls.__mro__)
