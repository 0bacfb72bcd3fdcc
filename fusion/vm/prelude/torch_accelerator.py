# torch.accelerator: the one device of a GPU run.
import torch


def is_available():
    return torch.cuda.is_available()


def device_count():
    return torch.cuda.device_count()


def current_accelerator(check_available=False):
    return torch.device("cuda") if is_available() else None


def current_device_index():
    return 0


def synchronize(device=None):
    pass
