# torch.fx: what files say to its tracer, which nothing here is.


def wrap(fn_or_name):
    return fn_or_name


class Proxy:
    pass


class Node:
    pass


class Graph:
    pass


class ProxyableClassMeta(type):
    pass


def is_fx_tracing():
    return False


def is_fx_symbolic_tracing():
    return False


def symbolic_trace(root, concrete_args=None):
    """The function itself: what runs is the same."""
    if concrete_args:
        raise NotImplementedError("symbolic_trace: concrete_args is not supported here; leave it out")
    return root


def guard_size_oblivious(expr):
    return bool(expr)


def guard_or_false(expr):
    return bool(expr)


def guard_or_true(expr):
    return bool(expr)


def statically_known_true(expr):
    return bool(expr)


def definitely_true(expr):
    return bool(expr)


def definitely_false(expr):
    return not bool(expr)


def is_concrete_int(value):
    return isinstance(value, int)


def is_concrete_bool(value):
    return isinstance(value, bool)
