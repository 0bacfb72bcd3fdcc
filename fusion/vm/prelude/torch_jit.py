# torch.jit: scripts are the functions themselves.


def freeze(mod, *args, **keywords):
    return mod


def optimize_for_inference(mod, *args, **keywords):
    return mod


def interface(obj):
    return obj


def is_scripting():
    return False


def is_tracing():
    return False


def script(obj, *args, **keywords):
    return obj


def script_method(function):
    return function


def script_if_tracing(function):
    return function


def ignore(drop=False, **keywords):
    return (lambda function: function) if isinstance(drop, bool) else drop


def unused(function):
    return function


def export(function):
    return function


class Final:
    def __class_getitem__(cls, item):
        return cls


def _overload_method(function):
    return function


def trace(func, example_inputs=None, **keywords):
    return func


def annotate(the_type, the_value):
    return the_value


def fork(func, *args, **keywords):
    return func(*args, **keywords)


def wait(future):
    return future


def _script_if_tracing(function):
    return function


def _unwrap_optional(x):
    assert x is not None, "Unwrapping null optional"
    return x
