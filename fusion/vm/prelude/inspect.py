# The module inspect: signatures.
import _prelude


class _Empty:
    pass


class Parameter:
    empty = _Empty
    POSITIONAL_OR_KEYWORD = 1
    VAR_POSITIONAL = 2
    KEYWORD_ONLY = 3
    VAR_KEYWORD = 4

    def __init__(self, name, kind, default=_Empty):
        self.name = name
        self.kind = kind
        self.default = default
        self.annotation = _Empty


class Signature:
    empty = _Empty

    def __init__(self, parameters):
        self.parameters = parameters


def signature(obj):
    bound = 0
    while isfunction(obj) and hasattr(obj, "__wrapped__"):
        obj = obj.__wrapped__
    if isinstance(obj, type):
        obj = obj.__init__
        bound = 1
    elif hasattr(obj, "__func__"):
        obj = obj.__func__
        bound = 1
    elif not isfunction(obj) and hasattr(obj, "forward"):
        return signature(obj.forward)
    names, positional, keyword_only, has_args, has_keywords = _prelude.parameters(obj)
    defaults = obj.__defaults__ or ()
    found = {}
    for i, name in enumerate(names):
        if i < bound:
            continue
        kind = Parameter.POSITIONAL_OR_KEYWORD
        default = _Empty
        if i < positional:
            if i >= positional - len(defaults):
                default = defaults[i - positional + len(defaults)]
        elif i < positional + keyword_only:
            kind = Parameter.KEYWORD_ONLY
            default = (obj.__kwdefaults__ or {}).get(name, _Empty)
        elif has_args and i == positional + keyword_only:
            kind = Parameter.VAR_POSITIONAL
        else:
            kind = Parameter.VAR_KEYWORD
        found[name] = Parameter(name, kind, default)
    return Signature(found)


def isfunction(obj):
    return type(obj).__name__ == "function"


def ismethod(obj):
    return type(obj).__name__ == "method"


def isclass(obj):
    return isinstance(obj, type)
