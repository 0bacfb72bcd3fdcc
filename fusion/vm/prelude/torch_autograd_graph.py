# torch.autograd.graph: what is said of the tensors that a backward pass will need.


import contextlib

import torch


_open = []  # the hooks that are open, the innermost last
_refused = []  # why there may be none, the innermost last


def _use(hooks):
    if hooks:
        torch._C._saved_hooks(hooks[-1].pack_hook, hooks[-1].unpack_hook)
    else:
        torch._C._saved_hooks(None, None)


def innermost():
    return _open[-1] if _open else None


class saved_tensors_hooks:
    """What ops within it save for their gradients goes through pack_hook, and comes back through unpack_hook."""

    def __init__(self, pack_hook, unpack_hook):
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self):
        if _refused:
            raise RuntimeError(_refused[-1])
        _open.append(self)
        _use(_open)

    def __exit__(self, kind, error, trace):
        _open.pop()
        _use(_open)


class disable_saved_tensors_hooks(contextlib.ContextDecorator):
    """Within it saved_tensors_hooks raises the message."""

    def __init__(self, error_message):
        self.error_message = error_message

    def __enter__(self):
        if _open:
            raise RuntimeError(self.error_message)
        _refused.append(self.error_message)
        return self

    def __exit__(self, kind, error, trace):
        _refused.pop()


class save_on_cpu:
    """One device: they stay where they are."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        self.pin_memory = pin_memory
        self.device_type = device_type

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return None
