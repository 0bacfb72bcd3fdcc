# The module enum: members are instances that their class holds by name.
import _prelude


class auto:
    pass


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


def unique(cls):
    return cls
