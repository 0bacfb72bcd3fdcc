# The module functools.


class partial:
    def __init__(self, func, *args, **keywords):
        self.func = func
        self.args = args
        self.keywords = keywords

    def __call__(self, *args, **keywords):
        return self.func(*self.args, *args, **{**self.keywords, **keywords})


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


def _cached(function):
    results = {}

    def call(*args, **keywords):
        key = (args, tuple(keywords.items()))
        if key not in results:
            results[key] = function(*args, **keywords)
        return results[key]

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
