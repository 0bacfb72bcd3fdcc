# The module typing, beside its names that stand for any type.


class NamedTuple:
    # A tuple whose fields have names and types.
    __builtin__ = tuple

    def __init_subclass__(cls):
        if cls.__mro__[1] is NamedTuple:  # what derives from such a class has its fields
            cls._fields = tuple(vars(cls).get("__annotations__", {}))
            cls._field_defaults = {k: vars(cls)[k] for k in cls._fields if k in vars(cls)}

    def __new__(cls, *args, **keywords):
        fields = cls._fields
        if len(args) > len(fields):
            raise TypeError(
                f"{cls.__name__}.__new__() takes {len(fields) + 1} positional arguments "
                f"but {len(args) + 1} were given"
            )
        values = {**cls._field_defaults, **dict(zip(fields, args)), **keywords}
        for name in fields:
            if name not in values:
                raise TypeError(
                    f"{cls.__name__}.__new__() missing 1 required positional argument: '{name}'"
                )
        return cls._filled([values[name] for name in fields])

    @classmethod
    def _filled(cls, values):
        self = object.__new__(cls)
        for name, value in zip(cls._fields, values):
            setattr(self, name, value)
        return self

    def _values(self):
        return tuple([getattr(self, name) for name in type(self)._fields])

    def _as_argument(self):
        return self._values()

    @classmethod
    def _make(cls, items):
        return cls._filled(list(items))

    def _asdict(self):
        return dict(zip(type(self)._fields, self._values()))

    def _replace(self, **keywords):
        values = self._asdict()
        for name in keywords:
            if name not in values:
                raise ValueError(f"Got unexpected field names: {[n for n in keywords if n not in values]!r}")
        return type(self)._filled({**values, **keywords}.values())

    def __len__(self):
        return len(type(self)._fields)

    def __iter__(self):
        return iter(self._values())

    def __getitem__(self, index):
        return self._values()[index]

    def __eq__(self, other):
        return self._values() == (other._values() if isinstance(other, NamedTuple) else other)

    def __lt__(self, other):
        return self._values() < (other._values() if isinstance(other, NamedTuple) else other)

    def __le__(self, other):
        return self._values() <= (other._values() if isinstance(other, NamedTuple) else other)

    def __gt__(self, other):
        return self._values() > (other._values() if isinstance(other, NamedTuple) else other)

    def __ge__(self, other):
        return self._values() >= (other._values() if isinstance(other, NamedTuple) else other)

    def __hash__(self):
        return hash(self._values())

    def __repr__(self):
        shown = ", ".join([f"{k}={v!r}" for k, v in self._asdict().items()])
        return f"{type(self).__name__}({shown})"
