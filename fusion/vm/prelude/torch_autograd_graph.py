# torch.autograd.graph: what is said of the tensors that a backward pass will need.


import contextlib


class disable_saved_tensors_hooks(contextlib.ContextDecorator):
    """There are no such hooks here."""

    def __init__(self, error_message):
        self.error_message = error_message

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return None


class save_on_cpu:
    """One device: they stay where they are."""

    def __init__(self, pin_memory=False, device_type="cuda"):
        self.pin_memory = pin_memory
        self.device_type = device_type

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return None
