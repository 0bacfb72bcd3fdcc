# The module dataclasses.
import _prelude


class FrozenInstanceError(AttributeError):
    pass


class _Missing:
    pass


MISSING = _Missing()


class KW_ONLY:
    pass


class InitVar:
    def __class_getitem__(cls, item):
        return cls


class Field:
    def __init__(self, default, default_factory, init, repr, hash, compare, metadata, kw_only):
        self.default = default
        self.default_factory = default_factory
        self.init = init
        self.repr = repr
        self.hash = hash
        self.compare = compare
        self.metadata = {} if metadata is None else metadata
        self.kw_only = kw_only
        self.name = None
        self._type = None  # a text until it is asked for
        self._owner = None
        self._kept = True  # False: of __init__ and __post_init__ alone

    @property
    def type(self):
        from _typing import annotation_value

        return annotation_value(self._type, self._owner)

    @type.setter
    def type(self, kind):
        self._type = kind


def field(
    *, default=MISSING, default_factory=MISSING, init=True, repr=True, hash=None, compare=True, metadata=None, kw_only=MISSING
):
    if default is not MISSING and default_factory is not MISSING:
        raise ValueError("cannot specify both default and default_factory")
    return Field(default, default_factory, init, repr, hash, compare, metadata, kw_only)


def _word(text):
    """The last name of an annotation's text without what is in brackets."""
    if not isinstance(text, str):
        return getattr(text, "__name__", "")
    if text[:1] in ("'", '"'):
        text = text[1:-1]
    return text.split("[")[0].split(".")[-1]


def _collect(cls, kw_only):
    found = {}
    for base in reversed(cls.__mro__):
        found.update(vars(base).get("__dataclass_fields__", {}))
    own = vars(cls)
    for name, kind in own.get("__annotations__", {}).items():
        word = _word(kind)
        if word == "ClassVar":
            continue
        if word == "KW_ONLY":
            kw_only = True
            continue
        value = own.get(name, MISSING)
        if isinstance(value, (list, dict, set)):
            raise ValueError(
                f"mutable default {type(value)} for field {name} is not allowed: use default_factory"
            )
        entry = value if isinstance(value, Field) else field(default=value)
        entry.name = name
        entry._type = kind
        entry._owner = cls
        entry._kept = word != "InitVar"
        if entry.kw_only is MISSING:
            entry.kw_only = kw_only
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


def _has_default(entry):
    return entry.default is not MISSING or entry.default_factory is not MISSING


def _make_init(cls, entries):
    names = [name for name, entry in entries.items() if entry.init]
    by_place = [name for name in names if not entries[name].kw_only]
    optional = [name for name in by_place if _has_default(entries[name])]
    for name in by_place:
        if optional and name not in optional and by_place.index(name) > by_place.index(optional[0]):
            raise TypeError(f"non-default argument '{name}' follows default argument '{optional[0]}'")

    def __init__(self, *args, **keywords):
        owner = cls.__name__
        most = 1 + len(by_place)
        least = most - len(optional)
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
        given = dict(zip(by_place, args))
        for name in given:
            if name in keywords:
                raise TypeError(f"{owner}.__init__() got multiple values for argument '{name}'")
        given.update(keywords)
        for kind in (False, True):
            missing = [
                name for name in names
                if entries[name].kw_only is kind and name not in given and not _has_default(entries[name])
            ]
            if missing:
                _refuse_missing(owner, missing, kind)
        passed = []
        for name, entry in entries.items():
            value = given[name] if name in given else _initial(entry)
            if not entry._kept:
                passed.append(value)
            elif value is not MISSING:
                _prelude.set(self, name, value)
        if hasattr(self, "__post_init__"):
            self.__post_init__(*passed)

    return __init__


def _values(o, entries):
    return tuple([getattr(o, name) for name, entry in entries.items() if entry.compare and entry._kept])


def _add_methods(cls, entries, options):
    own = vars(cls)

    def __repr__(self):
        parts = [f"{name}={getattr(self, name)!r}" for name, e in entries.items() if e.repr and e._kept]
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
        chosen = [n for n, e in entries.items() if (e.compare if e.hash is None else e.hash) and e._kept]
        return hash(tuple([getattr(self, name) for name in chosen]))

    def __setattr__(self, name, value):
        raise FrozenInstanceError(f"cannot assign to field '{name}'")

    def __delattr__(self, name):
        raise FrozenInstanceError(f"cannot delete field '{name}'")

    if options.get("init", True) and "__init__" not in own:
        cls.__init__ = _make_init(cls, entries)
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
        cls.__delattr__ = __delattr__
    if options.get("slots", False):
        cls.__slots__ = tuple([name for name in own.get("__annotations__", {}) if name in entries and entries[name]._kept])


def dataclass(cls=None, **options):
    def make(c):
        entries = _collect(c, options.get("kw_only", False))
        c.__dataclass_fields__ = entries
        if "__match_args__" not in vars(c):
            c.__match_args__ = tuple([name for name, entry in entries.items() if entry.init and not entry.kw_only])
        _add_methods(c, entries, options)
        return c

    return make if cls is None else make(cls)


def fields(o):
    if not is_dataclass(o):
        raise TypeError("must be called with a dataclass type or instance")
    return tuple([entry for entry in o.__dataclass_fields__.values() if entry._kept])


def make_dataclass(cls_name, fields, *, bases=(), namespace=None, **options):
    members, kinds = dict(namespace or {}), {}
    for one in fields:
        parts = (one, "Any") if isinstance(one, str) else one
        kinds[parts[0]] = getattr(parts[1], "__name__", str(parts[1]))
        if len(parts) > 2:
            members[parts[0]] = parts[2]
    members["__annotations__"] = kinds
    return dataclass(type(cls_name, tuple(bases), members), **options)


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


def asdict(obj, *, dict_factory=dict):
    made = {entry.name: _plain(getattr(obj, entry.name)) for entry in fields(obj)}
    return made if dict_factory is dict else dict_factory(list(made.items()))


def astuple(obj):
    return tuple([getattr(obj, entry.name) for entry in fields(obj)])


def replace(o, **changes):
    values = {e.name: getattr(o, e.name) for e in fields(o) if e.init}
    values.update(changes)
    return type(o)(**values)
