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
            members[name] = member
            setattr(cls, name, member)
        cls.__members__ = members

    def __class_len__(cls):
        return len(cls.__class_iter__())

    def __class_call__(cls, value):
        for member in cls.__members__.values():
            if member.value == value:
                return member
        raise ValueError(f"{value!r} is not a valid {cls.__name__}")

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


class _Comparable(Enum):
    def __hash__(self):
        return hash(self.value)

    def __eq__(self, other):
        return self.value == (other.value if isinstance(other, Enum) else other)

    def __lt__(self, other):
        return self.value < (other.value if isinstance(other, Enum) else other)

    def __gt__(self, other):
        return self.value > (other.value if isinstance(other, Enum) else other)

    def __str__(self):
        return str(self.value)


class IntEnum(_Comparable):
    def __index__(self):
        return self.value

    def __int__(self):
        return self.value

    def __add__(self, other):
        return self.value + other

    def __radd__(self, other):
        return other + self.value

    def __mul__(self, other):
        return self.value * other

    def __rmul__(self, other):
        return other * self.value


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
            _prelude.set(member, "name", name)
            _prelude.set(member, "value", value)
            cls._known[value] = member
        return cls._known[value]

    def __class_call__(cls, value):
        return cls._of(value)

    def __class_iter__(cls):
        return [m for m in cls.__members__.values() if m.value and m.value & (m.value - 1) == 0]

    def _bits(self, other):
        return other.value if isinstance(other, Flag) else other

    def __or__(self, other):
        return type(self)._of(self.value | self._bits(other))

    def __and__(self, other):
        return type(self)._of(self.value & self._bits(other))

    def __xor__(self, other):
        return type(self)._of(self.value ^ self._bits(other))

    def __invert__(self):
        every = 0
        for member in type(self).__members__.values():
            every |= member.value
        return type(self)._of(every & ~self.value)

    def __contains__(self, other):
        return other.value & self.value == other.value

    def __bool__(self):
        return self.value != 0

    def __len__(self):
        return len(list(iter(self)))

    def __iter__(self):
        return iter([m for m in type(self).__class_iter__() if m.value & self.value])

    def _text(self):
        if self.name is not None:
            return self.name
        return "|".join([m.name for m in self]) or "0"

    def __str__(self):
        return f"{type(self).__name__}.{self._text()}" if self.value else f"{type(self).__name__}(0)"

    def __repr__(self):
        return f"<{type(self).__name__}.{self._text()}: {self.value!r}>"


class IntFlag(Flag):
    def __int__(self):
        return self.value

    def __index__(self):
        return self.value

    def __hash__(self):
        return hash(self.value)

    def __eq__(self, other):
        return self.value == self._bits(other)


def unique(cls):
    return cls
