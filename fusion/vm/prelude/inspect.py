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

    def __init__(self, name, kind, default=_Empty, annotation=_Empty, of=None):
        self.name = name
        self.kind = kind
        self.default = default
        self._annotation = annotation
        self._of = of  # the function whose annotations count

    @property
    def annotation(self):
        return self._annotation if self._of is None else self._of.__annotations__.get(self.name, _Empty)


class BoundArguments:
    def __init__(self, signature, arguments):
        self.signature = signature
        self.arguments = arguments

    @property
    def args(self):
        found = []
        for name, parameter in self.signature.parameters.items():
            if parameter.kind in (Parameter.KEYWORD_ONLY, Parameter.VAR_KEYWORD) or name not in self.arguments:
                break
            if parameter.kind == Parameter.VAR_POSITIONAL:
                found.extend(self.arguments[name])
            else:
                found.append(self.arguments[name])
        return tuple(found)

    @property
    def kwargs(self):
        found = {}
        positional = len(self.args)
        for i, (name, parameter) in enumerate(self.signature.parameters.items()):
            if name not in self.arguments or parameter.kind == Parameter.VAR_POSITIONAL:
                continue
            if parameter.kind == Parameter.VAR_KEYWORD:
                found.update(self.arguments[name])
            elif parameter.kind == Parameter.KEYWORD_ONLY or i >= positional:
                found[name] = self.arguments[name]
        return found

    def apply_defaults(self):
        found = {}
        for name, parameter in self.signature.parameters.items():
            if name in self.arguments:
                found[name] = self.arguments[name]
            elif parameter.default is not _Empty:
                found[name] = parameter.default
            elif parameter.kind == Parameter.VAR_POSITIONAL:
                found[name] = ()
            elif parameter.kind == Parameter.VAR_KEYWORD:
                found[name] = {}
        self.arguments = found


class Signature:
    empty = _Empty

    def __init__(self, parameters, return_annotation=_Empty, of=None):
        self.parameters = parameters
        self._return = return_annotation
        self._of = of

    @property
    def return_annotation(self):
        return self._return if self._of is None else self._of.__annotations__.get("return", _Empty)

    def _bind(self, args, kwargs, partial):
        rest, named, found = list(args), dict(kwargs), {}
        for name, parameter in self.parameters.items():
            if parameter.kind == Parameter.VAR_POSITIONAL:
                if rest:
                    found[name] = tuple(rest)
                rest = []
            elif parameter.kind == Parameter.VAR_KEYWORD:
                if named:
                    found[name] = named
                named = {}
            elif parameter.kind == Parameter.POSITIONAL_OR_KEYWORD and rest:
                if name in named:
                    raise TypeError(f"multiple values for argument '{name}'")
                found[name] = rest.pop(0)
            elif name in named:
                found[name] = named.pop(name)
            elif parameter.default is _Empty and not partial:
                raise TypeError(f"missing a required argument: '{name}'")
        if rest:
            raise TypeError("too many positional arguments")
        if named:
            raise TypeError(f"got an unexpected keyword argument '{list(named)[0]}'")
        return BoundArguments(self, found)

    def bind(self, *args, **kwargs):
        return self._bind(args, kwargs, False)

    def bind_partial(self, *args, **kwargs):
        return self._bind(args, kwargs, True)


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
        found[name] = Parameter(name, kind, default, of=obj)
    return Signature(dict(sorted(found.items(), key=lambda pair: pair[1].kind)), of=obj)


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


def isgenerator(object):
    return isinstance(object, type((n for n in ())))


def isbuiltin(object):
    return isinstance(object, type(len))


def isroutine(object):
    return isbuiltin(object) or isfunction(object) or ismethod(object)


def ismodule(object):
    return isinstance(object, type(_prelude))


def isabstract(object):
    return isclass(object) and len(getattr(object, "__abstractmethods__", ())) > 0


def getmro(cls):
    return cls.__mro__


def getdoc(object):
    return getattr(object, "__doc__", None)


def getmembers(object, predicate=None):
    found = [(name, getattr(object, name)) for name in dir(object) if hasattr(object, name)]
    return [(name, value) for name, value in sorted(found, key=lambda m: m[0]) if predicate is None or predicate(value)]
