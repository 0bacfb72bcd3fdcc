# torch._C: what library files call as they are imported.
import _tensor_class
import torch


def _log_api_usage_once(event):
    pass


def _is_torch_function_enabled():
    return _tensor_class.enabled()


_disabled_torch_function_impl = _tensor_class.disabled


class DisableTorchFunctionSubclass:
    """Classes that derive from torch.Tensor are plain tensors in it."""

    def __enter__(self):
        _tensor_class.switch_off(1)
        return self

    def __exit__(self, kind, error, trace):
        _tensor_class.switch_off(-1)


class DisableTorchFunction(DisableTorchFunctionSubclass):
    pass


def _is_any_autocast_enabled():
    return torch.is_autocast_enabled("cpu") or torch.is_autocast_enabled("cuda")


def _get_privateuse1_backend_name():
    return "privateuseone"


def _are_functorch_transforms_active():
    return False


def _in_eager(func):
    """func, whatever it is; where its call is not captured, what it calls is not either."""
    if torch.compiler.is_compiling():
        return func
    return torch.compiler.disable(lambda *args, **kwargs: func(*args, **kwargs))


def _len_torch_function_stack():
    return len(_tensor_class.open_modes())


def _get_function_stack_at(index):
    return _tensor_class.open_modes()[index]


def _push_on_torch_function_stack(mode):
    _tensor_class.enter_mode(mode)


def _pop_torch_function_stack():
    return _tensor_class.leave_mode()
