# torch.cuda, torch.mps, torch.xpu: a run's device is given with it, and is none of these here.
import torch


def is_available():
    return False


def device_count():
    return 0


def is_bf16_supported(including_emulation=True):
    return False


def is_initialized():
    return False


def manual_seed(seed):
    if torch._C._draws("cuda") == "gpu":
        torch._C._gpu_seed(seed)


def manual_seed_all(seed):
    if torch._C._draws("cuda") == "gpu":
        torch._C._gpu_seed(seed)


def empty_cache():
    pass


def synchronize(device=None):
    pass
