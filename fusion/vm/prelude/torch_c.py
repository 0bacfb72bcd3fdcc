# torch._C: what library files call as they are imported.
import torch


def _log_api_usage_once(event):
    pass


def _is_torch_function_enabled():
    return _overrides[0] == 0


_overrides = [0]  # a list, which is state that captures defer: how many blocks that switch __torch_function__ off are open


class DisableTorchFunctionSubclass:
    """Nothing here stands in for a tensor, so there is nothing to switch off."""

    def __enter__(self):
        _overrides[0] += 1
        return self

    def __exit__(self, kind, error, trace):
        _overrides[0] -= 1


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
