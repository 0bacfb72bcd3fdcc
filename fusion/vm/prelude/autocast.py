# What autocast does to the arguments of functions that the prelude makes of several ops.
import torch
import torch.cuda


def float32(*tensors):
    """Of functions that autocast runs in float32."""
    if not torch._C._autocast_mode("enabled", "run"):
        return tensors
    return [t.float() if t.dtype in (torch.float16, torch.bfloat16) else t for t in tensors]


def lower(*tensors):
    """Of functions that autocast runs in its dtype."""
    if not torch._C._autocast_mode("enabled", "run"):
        return tensors
    narrow = torch._C._autocast_mode("dtype", "run")
    return [t.to(narrow) if t.is_floating_point() and t.dtype != torch.float64 else t for t in tensors]


def unchanged(*tensors):
    """Of functions that autocast has no rule for."""
    return tensors


def on_cpu(rule, *tensors):
    """Of functions that autocast has that rule for on the CPU; CUDA's runs them in the widest dtype of their arguments."""
    if not torch.cuda.is_available():
        return rule(*tensors)
    if not torch._C._autocast_mode("enabled", "run") or not any(t.dtype == torch.float32 for t in tensors):
        return tensors
    return float32(*tensors)
