# What torch itself says of autocast; the rest is torch.amp.
import torch
import torch.amp

autocast = torch.amp.autocast


def is_autocast_enabled(device_type="cuda"):
    return torch._C._autocast_mode("enabled", device_type)


def get_autocast_dtype(device_type):
    return torch._C._autocast_mode("dtype", device_type)


def is_autocast_cpu_enabled():
    return torch._C._autocast_mode("enabled", "cpu")


def get_autocast_cpu_dtype():
    return torch._C._autocast_mode("dtype", "cpu")


def get_autocast_gpu_dtype():
    return torch._C._autocast_mode("dtype", "cuda")


def is_autocast_cache_enabled():
    return torch._C._autocast_mode("cache", "cpu")
