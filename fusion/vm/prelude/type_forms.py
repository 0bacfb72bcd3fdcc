# What [] and | make of types, and the values of annotations, which are texts until they are asked
# for: the modules typing and _typing.
import _prelude
import types
from typing import Annotated, Union

_ORIGINS = {"List": list, "Dict": dict, "Tuple": tuple, "Set": set, "FrozenSet": frozenset, "Type": type}
_CONCRETE = {"Deque": "deque", "DefaultDict": "defaultdict", "OrderedDict": "OrderedDict", "Counter": "Counter", "ChainMap": "ChainMap"}
_NONE = type(None)
_UNION = Union
_ANNOTATED = Annotated


def _is_typing(of):
    return getattr(of, "__module__", None) == "typing" and not isinstance(of, _Alias)


def _plain(of):
    """What is a type of Python's: list for List."""
    if not _is_typing(of):
        return of
    name = of.__name__
    if name in _CONCRETE:
        import collections

        return getattr(collections, _CONCRETE[name])
    return _ORIGINS.get(name, of)


def _shown(of):
    if of is ...:
        return "..."
    if isinstance(of, list):
        return "[" + ", ".join([_shown(a) for a in of]) + "]"
    if isinstance(of, type):
        text = repr(of)
        name = text[8:-2] if text.startswith("<class '") else of.__name__
        return name[9:] if name.startswith("builtins.") else name
    return repr(of)


class ForwardRef:
    def __init__(self, arg):
        self.__forward_arg__ = arg

    def __repr__(self):
        return f"ForwardRef({self.__forward_arg__!r})"

    def __eq__(self, other):
        return isinstance(other, ForwardRef) and self.__forward_arg__ == other.__forward_arg__

    def __hash__(self):
        return hash(self.__forward_arg__)


class _Alias:
    """List[int], list[int], Optional[int], int | None."""

    def __init__(self, of, args, name, metadata=()):
        self.__origin__ = of
        self.__args__ = args
        self._name = name  # "typing.List"; "|" of what | made; None: as the type is called
        self.__metadata__ = metadata

    @property
    def __module__(self):
        return "types" if self._name in (None, "|") else "typing"

    @property
    def __name__(self):
        if self._name == "|":
            return "Union"
        return self.__origin__.__name__ if self._name is None else self._name[7:]

    def __repr__(self):
        args, name = self.__args__, self._name
        if name == "|":
            return " | ".join(["None" if a is _NONE else _shown(a) for a in args])
        if name == "typing.Union" and len(args) == 2 and _NONE in args:
            return f"typing.Optional[{_shown(args[0] if args[1] is _NONE else args[1])}]"
        if name == "typing.Callable":
            first = "..." if args[0] is ... else "[" + ", ".join([_shown(a) for a in args[:-1]]) + "]"
            return f"typing.Callable[{first}, {_shown(args[-1])}]"
        if name == "typing.Literal":
            return "typing.Literal[" + ", ".join([repr(a) for a in args]) + "]"
        if name == "typing.Annotated":
            return f"typing.Annotated[{_shown(self.__origin__)}, " + ", ".join([repr(a) for a in self.__metadata__]) + "]"
        return f"{_shown(self.__origin__) if name is None else name}[" + (", ".join([_shown(a) for a in args]) or "()") + "]"

    def _key(self):
        return frozenset(self.__args__) if _is_union(self) else (self.__origin__, self.__args__, self.__metadata__)

    def __eq__(self, other):
        return isinstance(other, _Alias) and _is_union(self) == _is_union(other) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())

    def __or__(self, other):
        return type_joined(self, other)

    def __ror__(self, other):
        return type_joined(other, self)

    def __getitem__(self, index):
        """Of what has type variables: the types in their place."""
        given = dict(zip(self.__parameters__, index if isinstance(index, tuple) else (index,)))
        return _rebuilt(self, [a[tuple([given[p] for p in a.__parameters__])] if isinstance(a, _Alias) and a.__parameters__ else given.get(a, a) for a in self.__args__])

    @property
    def __parameters__(self):
        found = []
        for a in self.__args__:
            for p in a.__parameters__ if isinstance(a, _Alias) else (a,) if repr(a).startswith("~") else ():
                if p not in found:
                    found.append(p)
        return tuple(found)

    def __call__(self, *args, **keywords):
        return self.__origin__(*args, **keywords)

    def __mro_entries__(self):
        return self.__origin__

    def __instancecheck__(self, value):
        if not _is_union(self):
            raise TypeError("Subscripted generics cannot be used with class and instance checks")
        return isinstance(value, self.__args__)


class _Joined(_Alias, types.UnionType):
    pass


def _is_union(of):
    return isinstance(of, _Alias) and of._name in ("|", "typing.Union")


def _flat(args):
    found = []
    for a in args:
        for one in a.__args__ if _is_union(a) else (_NONE if a is None else a,):
            if one not in found:
                found.append(one)
    return tuple(found)


def _referred(of):
    return _NONE if of is None else ForwardRef(of) if isinstance(of, str) else of


def type_joined(*args):
    plain = not any([_is_typing(a) or (isinstance(a, _Alias) and a._name not in (None, "|")) for a in args])
    args = _flat([_referred(a) for a in args])
    if len(args) == 1:
        return args[0]
    return _Joined(types.UnionType, args, "|") if plain else _Alias(_UNION, args, "typing.Union")


def type_subscripted(of, index):
    args = index if isinstance(index, tuple) else (index,)
    if not _is_typing(of):
        return _Alias(of, args, None)
    name = of.__name__
    if name in ("Union", "Optional"):
        args = _flat([_referred(a) for a in args] + ([None] if name == "Optional" else []))
        return args[0] if len(args) == 1 else _Alias(_UNION, args, "typing.Union")
    if name == "Literal":
        return _Alias(of, args, "typing.Literal")
    if name == "Annotated":
        return _Alias(_referred(args[0]), (_referred(args[0]),), "typing.Annotated", args[1:])
    if name == "Callable" and isinstance(args[0], list):
        args = tuple(args[0]) + args[1:]
    return _Alias(_plain(of), tuple([_referred(a) for a in args]), "typing." + name)


def get_origin(tp):
    if isinstance(tp, _Alias):
        return _ANNOTATED if tp._name == "typing.Annotated" else tp.__origin__
    if _is_typing(tp):
        return _plain(tp) if _plain(tp) is not tp else tp if tp.__name__ == "Generic" else None
    return None


def get_args(tp):
    if not isinstance(tp, _Alias):
        return ()
    if tp._name == "typing.Annotated":
        return (tp.__origin__,) + tp.__metadata__
    if tp._name == "typing.Callable" and tp.__args__[0] is not ...:
        return (list(tp.__args__[:-1]), tp.__args__[-1])
    return tp.__args__


def is_typeddict(tp):
    return False


def _rebuilt(of, args):
    if of._name == "typing.Annotated":
        return _Alias(args[0], tuple(args), of._name, of.__metadata__)
    if _is_union(of):
        args = _flat(args)
        return type_joined(*args) if of._name == "|" else _Alias(_UNION, args, of._name)
    return _Alias(of.__origin__, tuple(args), of._name)


def _resolved(of, owner, names, extras):
    """A text, or what has one among its arguments, as the type that it names."""
    if of is None:
        return _NONE
    if isinstance(of, ForwardRef):
        of = of.__forward_arg__
    if isinstance(of, str):
        if names is not None and of in names:
            return _resolved(names[of], owner, names, extras)
        of = eval(of, names) if names is not None and owner is None else _prelude.annotation(of, owner)
        return _resolved(of, owner, names, extras)
    if isinstance(of, _Alias) and of._name != "typing.Literal":
        if of._name == "typing.Annotated" and not extras:
            return _resolved(of.__args__[0], owner, names, extras)
        args = [_resolved(a, owner, names, extras) if isinstance(a, (str, ForwardRef, _Alias)) else a for a in of.__args__]
        return _rebuilt(of, args)
    return of


def get_type_hints(obj, globalns=None, localns=None, include_extras=False):
    names = None if globalns is None and localns is None else {**(globalns or {}), **(localns or {})}
    if isinstance(obj, type):
        found = {}
        for base in reversed(obj.__mro__):
            for name, of in base.__annotations__.items():
                found[name] = _resolved(of, base, names, include_extras)
        return found
    if hasattr(obj, "__func__"):
        obj = obj.__func__
    hints = getattr(obj, "__annotations__", None)
    while hasattr(obj, "__wrapped__"):
        obj = obj.__wrapped__
    if hints is None:
        raise TypeError(f"{obj!r} is not a module, class, method, or function.")
    return {name: _resolved(of, obj, names, include_extras) for name, of in hints.items()}


def annotations_of_function(function):
    """Of what functools.wraps() has decorated, those of the function inside."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    text = _prelude.annotations(function)
    return {} if text is None else _prelude.annotation(text, function)


def annotations_of_class(cls, texts):
    """Texts become what they name; what the program wrote itself stays as it is."""
    found = {name: annotation_value(of, cls) for name, of in texts.items()}
    return {name: _referred(of) for name, of in found.items()} if hasattr(cls, "_field_defaults") else found


def annotation_value(text, cls):
    return _prelude.annotation(text, cls) if isinstance(text, str) else text
