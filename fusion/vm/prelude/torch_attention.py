# torch.nn.attention: which kernel scaled_dot_product_attention() takes.  Here it is one for all.
import contextlib
import enum


class SDPBackend(enum.Enum):
    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


class sdpa_kernel(contextlib.ContextDecorator):
    def __init__(self, backends, set_priority=False):
        for backend in [backends] if isinstance(backends, SDPBackend) else backends:
            if not isinstance(backend, SDPBackend):
                raise AssertionError("Backend must be an instance of SDPBackend or a list of SDPBackend instances")

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return False
