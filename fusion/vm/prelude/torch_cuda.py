# torch.cuda: there where the run is on a GPU, which is the only one of the program's.
import torch


def is_available():
    return torch._C._draws("cuda") == "gpu"


def device_count():
    return int(is_available())


def is_bf16_supported(including_emulation=True):
    return is_available()


def is_initialized():
    return is_available()


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
