# torch.cuda: there where the run is on a GPU, which is the only one of the program's.
import torch

_initialized = False


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


def _no_bytes(device=None):
    """No allocator of CUDA counts here."""
    return 0


memory_allocated = _no_bytes
max_memory_allocated = _no_bytes
memory_reserved = _no_bytes
max_memory_reserved = _no_bytes


def get_rng_state_all():
    return []


def set_rng_state_all(new_states):
    pass


def ipc_collect():
    pass


class OutOfMemoryError(RuntimeError):
    pass
