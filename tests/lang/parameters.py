K = 3


def f(a, b: int = 1, c=(1, 2), *args: int, d, e=K, **kw) -> int:
    return a


def g(*, only, other=None):
    return only


def h(a=K, b=1):
    """A docstring."""
    return kw
