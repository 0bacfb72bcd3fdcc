# What autocast does to the arguments of functions that the prelude makes of several ops.
import torch


def float32(*tensors):
    """Of functions that autocast runs in float32 on the CPU."""
    if not torch.is_autocast_enabled("cpu"):
        return tensors
    return [t.float() if t.dtype in (torch.float16, torch.bfloat16) else t for t in tensors]


def lower(*tensors):
    """Of functions that autocast runs in its dtype."""
    if not torch.is_autocast_enabled("cpu"):
        return tensors
    narrow = torch.get_autocast_dtype("cpu")
    return [t.to(narrow) if t.is_floating_point() and t.dtype != torch.float64 else t for t in tensors]
