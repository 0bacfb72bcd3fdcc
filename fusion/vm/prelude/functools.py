# The module functools.
import torch


class partial:
    def __init__(self, func, *args, **keywords):
        self.func = func
        self.args = args
        self.keywords = keywords

    def __call__(self, *args, **keywords):
        return self.func(*self.args, *args, **{**self.keywords, **keywords})

    def __repr__(self):
        parts = [repr(self.func)] + [repr(arg) for arg in self.args]
        return f"functools.partial({', '.join(parts + [f'{k}={v!r}' for k, v in self.keywords.items()])})"


def reduce(function, items, *initial):
    result = None
    started = False
    for value in initial:
        result = value
        started = True
    for item in items:
        if started:
            result = function(result, item)
        else:
            result = item
            started = True
    if not started:
        raise TypeError("reduce() of empty iterable with no initial value")
    return result


def wraps(wrapped, *ignored):
    def decorate(function):
        function.__name__ = wrapped.__name__
        function.__doc__ = wrapped.__doc__
        function.__wrapped__ = wrapped
        return function

    return decorate


def update_wrapper(function, wrapped):
    return wraps(wrapped)(function)


class _CacheInfo:
    def __init__(self, hits, misses, maxsize, currsize):
        self.hits = hits
        self.misses = misses
        self.maxsize = maxsize
        self.currsize = currsize


def _cached(function):
    results = {}
    asked = [0]

    def call(*args, **keywords):
        if torch._C._follows_dynamo():  # TorchDynamo reads the function, and neither asks nor fills its cache
            return function(*args, **keywords)
        key = (args, tuple(keywords.items()))
        asked[0] += 1
        if key not in results:
            results[key] = function(*args, **keywords)
        return results[key]

    call.cache_clear = results.clear
    call.cache_info = lambda: _CacheInfo(asked[0] - len(results), len(results), None, len(results))
    return wraps(function)(call)


def cache(function):
    return _cached(function)


def lru_cache(maxsize=128, typed=False):
    if callable(maxsize):
        return _cached(maxsize)
    return _cached


class cached_property:
    def __init__(self, func):
        self.func = func
        self.attrname = None
        self.__doc__ = func.__doc__

    def __set_name__(self, owner, name):
        self.attrname = name

    def __get__(self, instance, owner=None):
        if instance is None:
            return self
        if self.attrname is None:
            raise TypeError(
                "Cannot use cached_property instance without calling __set_name__ on it."
            )
        kept = vars(instance)
        if self.attrname not in kept:
            kept[self.attrname] = self.func(instance)
        return kept[self.attrname]


def cmp_to_key(compare):
    class Key:
        def __init__(self, value):
            self.value = value

        def __lt__(self, other):
            return compare(self.value, other.value) < 0

        def __gt__(self, other):
            return compare(self.value, other.value) > 0

        def __eq__(self, other):
            return compare(self.value, other.value) == 0

    return Key


def total_ordering(cls):
    """The comparisons that a class leaves out, by the one that it has and ==."""
    own = vars(cls)
    if "__lt__" in own:
        less = cls.__lt__
    elif "__gt__" in own:
        greater = cls.__gt__
        less = lambda a, b: not (greater(a, b) or a == b)
    elif "__le__" in own:
        least = cls.__le__
        less = lambda a, b: least(a, b) and not a == b
    elif "__ge__" in own:
        most = cls.__ge__
        less = lambda a, b: not most(a, b)
    else:
        raise ValueError("must define at least one ordering operation: < > <= >=")
    made = {
        "__lt__": less,
        "__le__": lambda a, b: less(a, b) or a == b,
        "__gt__": lambda a, b: not (less(a, b) or a == b),
        "__ge__": lambda a, b: not less(a, b),
    }
    for name, method in made.items():
        if name not in own:
            setattr(cls, name, method)
    return cls


class _Dispatch:
    """A function that calls the one of its first argument's type."""

    def __init__(self, function):
        self._function = function
        self._by_type = []
        self.__name__ = function.__name__

    def register(self, kind, function=None):
        if function is None and isinstance(kind, type):
            return lambda f: self.register(kind, f)
        if function is None:
            function = kind
            kind = list(function.__annotations__.values())[0]
        self._by_type.insert(0, (kind, function))
        return function

    def dispatch(self, kind):
        for known, function in self._by_type:
            if issubclass(kind, known):
                return function
        return self._function

    def __call__(self, *args, **keywords):
        for kind, function in self._by_type:
            if isinstance(args[0], kind):
                return function(*args, **keywords)
        return self._function(*args, **keywords)


def singledispatch(function):
    return _Dispatch(function)


class singledispatchmethod:
    def __init__(self, func):
        self._dispatch = _Dispatch(func)

    def register(self, kind, method=None):
        return self._dispatch.register(kind, method)

    def __get__(self, instance, owner=None):
        def call(*args, **keywords):
            return self._dispatch.dispatch(type(args[0]))(instance, *args, **keywords)

        return call


class partialmethod:
    def __init__(self, func, *args, **keywords):
        self.func = func
        self.args = args
        self.keywords = keywords

    def __get__(self, instance, owner=None):
        return partial(self.func, *(() if instance is None else (instance,)), *self.args, **self.keywords)
