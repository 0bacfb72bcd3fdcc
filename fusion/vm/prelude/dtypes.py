# What functions that the prelude makes of several ops say of two dtypes.
import torch

_NAMES = {
    torch.float16: "Half", torch.bfloat16: "BFloat16", torch.float32: "Float", torch.float64: "Double",
    torch.uint8: "Byte", torch.int8: "Char", torch.int16: "Short", torch.int32: "Int", torch.int64: "Long",
    torch.bool: "Bool",
}


def name(x):
    """As PyTorch's errors have it."""
    return _NAMES[x.dtype]


def alike(x, *others):
    """Of functions that do not promote."""
    for y in others:
        if y is not None and y.dtype != x.dtype:
            raise RuntimeError(f"expected scalar type {name(x)} but found {name(y)}")
