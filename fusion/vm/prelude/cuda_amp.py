# torch.cuda.amp: the older spelling of torch.amp.
import torch
import torch.amp


def autocast(enabled=True, dtype=torch.float16, cache_enabled=True):
    return torch.amp.autocast("cuda", dtype, enabled, cache_enabled)


def GradScaler(init_scale=2.0**16, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True):
    return torch.amp.GradScaler("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


def custom_fwd(fwd=None, *, cast_inputs=None):
    return torch.amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd=None):
    return torch.amp.custom_bwd(bwd, device_type="cuda")
