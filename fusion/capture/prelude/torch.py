# fusion/capture/prelude/torch.py -- what of torch is easiest to say in Python.
#
# Values alone are computed here, whatever the grad mode is: the managers only
# have to be there.


class GradMode:
    def __enter__(self):
        return None

    def __exit__(self, kind, value, trace):
        return None

    def __call__(self, function):
        return function


def no_grad(function=None):
    return GradMode() if function is None else function


def enable_grad(function=None):
    return GradMode() if function is None else function


def inference_mode(mode=True):
    return GradMode() if mode is True or mode is False else mode


def set_grad_enabled(mode):
    return GradMode()
