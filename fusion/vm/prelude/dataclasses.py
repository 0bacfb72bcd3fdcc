# The module dataclasses.
import _prelude


class FrozenInstanceError(AttributeError):
    pass


class _Missing:
    pass


MISSING = _Missing()


class Field:
    def __init__(self, default, default_factory, init, repr, compare):
        self.default = default
        self.default_factory = default_factory
        self.init = init
        self.repr = repr
        self.compare = compare
        self.name = None


def field(*, default=MISSING, default_factory=MISSING, init=True, repr=True, compare=True, **more):
    return Field(default, default_factory, init, repr, compare)


def _collect(cls):
    found = {}
    for base in reversed(cls.__mro__):
        found.update(vars(base).get("__dataclass_fields__", {}))
    own = vars(cls)
    for name, kind in own.get("__annotations__", {}).items():
        if kind == "ClassVar":
            continue
        value = own.get(name, MISSING)
        if isinstance(value, (list, dict, set)):
            raise ValueError(
                f"mutable default {type(value)} for field {name} is not allowed: use default_factory"
            )
        entry = value if isinstance(value, Field) else Field(value, MISSING, True, True, True)
        entry.name = name
        found[name] = entry
        if isinstance(value, Field):
            if value.default is MISSING:
                delattr(cls, name)
            else:
                setattr(cls, name, value.default)
    return found


def _initial(entry):
    if entry.default_factory is not MISSING:
        return entry.default_factory()
    return entry.default


def _refuse_missing(owner, names, keywords_only):
    """Names the parameters that have no value, as CPython does."""
    shown = [f"'{name}'" for name in names]
    if len(shown) > 2:
        shown = [", ".join(shown[:-1]) + ",", shown[-1]]
    kind = "keyword-only" if keywords_only else "positional"
    raise TypeError(
        f"{owner}.__init__() missing {len(names)} required {kind} "
        f"argument{'' if len(names) == 1 else 's'}: {' and '.join(shown)}"
    )


def _make_init(cls, entries, keywords_only):
    names = [name for name, entry in entries.items() if entry.init]

    def __init__(self, *args, **keywords):
        owner = cls.__name__
        most = 1 if keywords_only else 1 + len(names)
        least = most
        for name in [] if keywords_only else names:
            entry = entries[name]
            if entry.default is not MISSING or entry.default_factory is not MISSING:
                least -= 1
        if len(args) + 1 > most:
            takes = f"from {least} to {most}" if least < most else str(most)
            raise TypeError(
                f"{owner}.__init__() takes {takes} positional "
                f"argument{'' if takes == '1' else 's'} but {len(args) + 1} were given"
            )
        for name in keywords:
            if name not in names:
                raise TypeError(
                    f"{owner}.__init__() got an unexpected keyword argument '{name}'"
                )
        missing = [
            name
            for i, name in enumerate(names)
            if i >= len(args) and name not in keywords
            and entries[name].default is MISSING and entries[name].default_factory is MISSING
        ]
        if missing:
            _refuse_missing(owner, missing, keywords_only)
        position = 0
        for name, entry in entries.items():
            if entry.init and position < len(args):
                value = args[position]
                position += 1
            elif entry.init and name in keywords:
                value = keywords[name]
            else:
                value = _initial(entry)
            _prelude.set(self, name, value)
        if hasattr(self, "__post_init__"):
            self.__post_init__()

    return __init__


def _values(o, entries):
    return tuple([getattr(o, name) for name, entry in entries.items() if entry.compare])


def _add_methods(cls, entries, options):
    own = vars(cls)

    def __repr__(self):
        parts = [f"{name}={getattr(self, name)!r}" for name, e in entries.items() if e.repr]
        return f"{cls.__name__}({', '.join(parts)})"

    def __eq__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        return _values(self, entries) == _values(other, entries)

    def __lt__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        return _values(self, entries) < _values(other, entries)

    def __le__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        return _values(self, entries) <= _values(other, entries)

    def __gt__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        return _values(self, entries) > _values(other, entries)

    def __ge__(self, other):
        if type(other) is not type(self):
            return NotImplemented
        return _values(self, entries) >= _values(other, entries)

    def __hash__(self):
        return hash(_values(self, entries))

    def __setattr__(self, name, value):
        raise FrozenInstanceError(f"cannot assign to field '{name}'")

    if options.get("init", True) and "__init__" not in own:
        cls.__init__ = _make_init(cls, entries, options.get("kw_only", False))
    if options.get("repr", True) and "__repr__" not in own:
        cls.__repr__ = __repr__
    if options.get("eq", True) and "__eq__" not in own:
        cls.__eq__ = __eq__
        if options.get("frozen", False) or options.get("unsafe_hash", False):
            cls.__hash__ = __hash__
        elif "__hash__" not in own:
            cls.__hash__ = None
    if options.get("order", False):
        cls.__lt__ = __lt__
        cls.__le__ = __le__
        cls.__gt__ = __gt__
        cls.__ge__ = __ge__
    if options.get("frozen", False):
        cls.__setattr__ = __setattr__


def dataclass(cls=None, **options):
    def make(c):
        entries = _collect(c)
        c.__dataclass_fields__ = entries
        if "__match_args__" not in vars(c):
            by_place = [] if options.get("kw_only", False) else entries.items()
            c.__match_args__ = tuple([name for name, entry in by_place if entry.init])
        _add_methods(c, entries, options)
        return c

    return make if cls is None else make(cls)


def fields(o):
    return tuple(o.__dataclass_fields__.values())


def is_dataclass(o):
    return hasattr(o, "__dataclass_fields__")


def _plain(value):
    if is_dataclass(value):
        return asdict(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, tuple):
        return tuple([_plain(item) for item in value])
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value


def asdict(o):
    return {name: _plain(getattr(o, name)) for name in o.__dataclass_fields__}


def astuple(o):
    return tuple([getattr(o, name) for name in o.__dataclass_fields__])


def replace(o, **changes):
    values = {name: getattr(o, name) for name, e in o.__dataclass_fields__.items() if e.init}
    values.update(changes)
    return type(o)(**values)
