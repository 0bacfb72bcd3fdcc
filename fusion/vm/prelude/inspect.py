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
    return Signature(dict(sorted(found.items(), key=lambda pair: pair[1].kind)))


def isfunction(obj):
    return type(obj).__name__ == "function"


def ismethod(obj):
    return type(obj).__name__ == "method"


def isclass(obj):
    return isinstance(obj, type)


class FullArgSpec:
    def __init__(self, args, varargs, varkw, defaults, kwonlyargs):
        self.args = args
        self.varargs = varargs
        self.varkw = varkw
        self.defaults = defaults
        self.kwonlyargs = kwonlyargs


def getfullargspec(func):
    of_kind = {1: [], 2: [], 3: [], 4: []}
    defaults = []
    for name, parameter in signature(func).parameters.items():
        of_kind[parameter.kind].append(name)
        if parameter.kind == 1 and parameter.default is not _Empty:
            defaults.append(parameter.default)
    first = ["self"] if hasattr(func, "__func__") else []
    return FullArgSpec(
        first + of_kind[1],
        of_kind[2][0] if of_kind[2] else None,
        of_kind[4][0] if of_kind[4] else None,
        tuple(defaults) or None,
        of_kind[3],
    )
