# torch: the grad mode.  Values alone are computed here, whatever the mode is: the managers only tell
# the capture, whose graphs name the changes.
import torch


class GradMode:
    def __init__(self, mode):
        self.mode = mode

    def __enter__(self):
        self.before = torch._C._set_grad_enabled(self.mode)

    def __exit__(self, kind, value, trace):
        torch._C._set_grad_enabled(self.before)

    def __call__(self, function):
        return torch._C._grad_function(function, self.mode)


class InferenceMode:
    def __enter__(self):
        self.before = torch._C._set_grad_enabled(False, True)

    def __exit__(self, kind, value, trace):
        torch._C._set_grad_enabled(self.before, False)

    def __call__(self, function):
        return torch._C._grad_function(function, False)


def no_grad(function=None):
    return GradMode(False) if function is None else GradMode(False)(function)


def enable_grad(function=None):
    return GradMode(True) if function is None else GradMode(True)(function)


def inference_mode(mode=True):
    if mode is True or mode is False:
        return InferenceMode() if mode else GradMode(True)  # without it gradients are on
    return InferenceMode()(mode)


class _Setter(GradMode):
    def __init__(self, mode):
        self.mode = mode
        self.before = torch._C._set_grad_enabled(mode)

    def __enter__(self):
        torch._C._set_grad_enabled(self.mode)

    def __call__(self, function):  # the mode is that of the calls alone
        torch._C._set_grad_enabled(self.before)
        return torch._C._grad_function(function, self.mode)


def set_grad_enabled(mode):
    return _Setter(mode)
