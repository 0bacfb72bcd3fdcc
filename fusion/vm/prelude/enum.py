# The module enum: members are instances that their class holds by name.
import _prelude


class auto:
    # A value that the class finds; a Flag's body may join several before it has.
    value = None

    def __or__(self, other):
        return _Joined(self, other)


class _Joined(auto):
    def __init__(self, a, b):
        self._parts = (a, b)

    def bits(self):
        found = 0
        for part in self._parts:
            if isinstance(part, _Joined):
                found |= part.bits()
            else:
                found |= part.value if isinstance(part, auto) else part
        return found


class EnumMeta(type):
    # A program's own metaclass of enums derives from it; the enums here need none.
    def __getitem__(cls, name):
        return cls.__class_getitem__(name)

    def __iter__(cls):
        return iter(cls.__class_iter__())

    def __len__(cls):
        return len(cls.__class_iter__())

    def __contains__(cls, value):
        return any([value is member or value == member.value for member in cls.__class_iter__()])


EnumType = EnumMeta


class Enum:
    def __init_subclass__(cls):
        members = {}
        last = 0
        for name, value in list(vars(cls).items()):
            if name.startswith("_") or _prelude.is_method(value):
                continue
            if isinstance(value, auto):
                value = last + 1
            last = value if isinstance(value, int) else last
            member = None
            for other in members.values():
                if other.value == value:
                    member = other
            if member is None:
                member = _prelude.instance(cls)
                _prelude.set(member, "name", name)
                _prelude.set(member, "value", value)
                if hasattr(cls, "__builtin__"):  # class C(str, Enum)
                    _prelude.set(member, "_plain", value)
                if cls.__init__ is not Enum.__init__:
                    member.__init__(*value if isinstance(value, tuple) else (value,))
            members[name] = member
            setattr(cls, name, member)
        cls.__members__ = members
        for kind in [c for c in cls.__mro__ if "__builtin__" in vars(c) and not issubclass(c, Enum)]:
            for name in ("__str__", "__repr__", "__format__"):
                if issubclass(kind, [c for c in cls.__mro__ if name in vars(c)][0]):
                    setattr(cls, name, getattr(Enum, name))

    def __class_len__(cls):
        return len(cls.__class_iter__())

    @_prelude.of_constants
    def __class_call__(cls, value):
        for member in cls.__members__.values():
            if member.value == value:
                return member
        found = cls._missing_(value)
        if found is None:
            raise ValueError(f"{value!r} is not a valid {cls.__name__}")
        return found

    @classmethod
    def _missing_(cls, value):
        return None

    def __class_getitem__(cls, name):
        return cls.__members__[name]

    def __class_iter__(cls):
        members = []
        for member in cls.__members__.values():
            if not [m for m in members if m is member]:
                members.append(member)
        return members

    def __repr__(self):
        return f"<{type(self).__name__}.{self.name}: {self.value!r}>"

    def __str__(self):
        return f"{type(self).__name__}.{self.name}"

    def __format__(self, spec):
        return format(str(self), spec)


def _plain(v):
    return v.value if isinstance(v, Enum) else v


class _Whole:
    # What members that are ints do as ints.
    __builtin__ = int

    def __int__(self):
        return self.value

    def __index__(self):
        return self.value

    def __float__(self):
        return float(self.value)

    def __neg__(self):
        return -self.value

    def __abs__(self):
        return abs(self.value)

    def __add__(self, other):
        return self.value + _plain(other)

    def __radd__(self, other):
        return _plain(other) + self.value

    def __sub__(self, other):
        return self.value - _plain(other)

    def __rsub__(self, other):
        return _plain(other) - self.value

    def __mul__(self, other):
        return self.value * _plain(other)

    def __rmul__(self, other):
        return _plain(other) * self.value

    def __truediv__(self, other):
        return self.value / _plain(other)

    def __rtruediv__(self, other):
        return _plain(other) / self.value

    def __floordiv__(self, other):
        return self.value // _plain(other)

    def __rfloordiv__(self, other):
        return _plain(other) // self.value

    def __mod__(self, other):
        return self.value % _plain(other)

    def __rmod__(self, other):
        return _plain(other) % self.value

    def __pow__(self, other):
        return self.value ** _plain(other)

    def __rpow__(self, other):
        return _plain(other) ** self.value

    def __lshift__(self, other):
        return self.value << _plain(other)

    def __rlshift__(self, other):
        return _plain(other) << self.value

    def __rshift__(self, other):
        return self.value >> _plain(other)

    def __rrshift__(self, other):
        return _plain(other) >> self.value


class _Comparable(Enum):
    def __hash__(self):
        return hash(self.value)

    def __eq__(self, other):
        return self.value == _plain(other)

    def __lt__(self, other):
        return self.value < _plain(other)

    def __gt__(self, other):
        return self.value > _plain(other)

    def __le__(self, other):
        return self.value <= _plain(other)

    def __ge__(self, other):
        return self.value >= _plain(other)

    def __str__(self):
        return str(self.value)


class IntEnum(_Whole, _Comparable):
    def __and__(self, other):
        return self.value & _plain(other)

    def __rand__(self, other):
        return _plain(other) & self.value

    def __or__(self, other):
        return self.value | _plain(other)

    def __ror__(self, other):
        return _plain(other) | self.value

    def __xor__(self, other):
        return self.value ^ _plain(other)

    def __rxor__(self, other):
        return _plain(other) ^ self.value

    def __invert__(self):
        return ~self.value


class StrEnum(_Comparable):
    pass


class Flag(Enum):
    # Members are bits; what is combined of them is made when it is first asked for.
    def __init_subclass__(cls):
        made = {}
        names = [n for n, v in vars(cls).items() if not n.startswith("_") and not _prelude.is_method(v)]
        bit = 1
        for name in names:
            value = vars(cls)[name]
            if isinstance(value, _Joined):
                value = value.bits()
            elif isinstance(value, auto):
                value.value = bit
                value = bit
            while bit <= value:
                bit *= 2
            made[name] = value
        cls.__members__ = {}
        cls._known = {}
        for name in names:
            cls.__members__[name] = member = cls._of(made[name], name)
            setattr(cls, name, member)

    @classmethod
    def _of(cls, value, name=None):
        if value not in cls._known:
            member = _prelude.instance(cls)
            parts = [m.name for m in cls.__class_iter__() if m.value & value] if name is None else [name]
            _prelude.set(member, "name", "|".join(parts) or None)
            _prelude.set(member, "value", value)
            cls._known[value] = member
        return cls._known[value]

    @classmethod
    def _every(cls):
        every = 0
        for member in cls.__members__.values():
            every |= member.value
        return every

    def __class_call__(cls, value):
        if not issubclass(cls, IntFlag) and value & ~cls._every():
            raise ValueError(f"<flag '{cls.__name__}'> invalid value {value!r}")
        return cls._of(value)

    def __class_iter__(cls):
        return [m for m in cls.__members__.values() if m.value and m.value & (m.value - 1) == 0]

    def __or__(self, other):
        return type(self)._of(self.value | _plain(other))

    def __and__(self, other):
        return type(self)._of(self.value & _plain(other))

    def __xor__(self, other):
        return type(self)._of(self.value ^ _plain(other))

    def __invert__(self):
        return type(self)._of(type(self)._every() & ~self.value)

    def __contains__(self, other):
        return other.value & self.value == other.value

    def __bool__(self):
        return self.value != 0

    def __len__(self):
        return len(list(iter(self)))

    def __iter__(self):
        return iter([m for m in type(self).__class_iter__() if m.value & self.value])

    def __str__(self):
        return f"{type(self).__name__}.{self.name}" if self.name else f"{type(self).__name__}({self.value})"

    def __repr__(self):
        return f"<{type(self).__name__}{'.' + self.name if self.name else ''}: {self.value!r}>"


class IntFlag(_Whole, Flag):
    def __hash__(self):
        return hash(self.value)

    def __eq__(self, other):
        return self.value == _plain(other)

    def __ror__(self, other):
        return self | other

    def __rand__(self, other):
        return self & other

    def __rxor__(self, other):
        return self ^ other

    def __str__(self):
        return str(self.value)


def unique(cls):
    return cls
