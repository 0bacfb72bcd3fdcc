# torch.nn.parallel: a wrapper of a module, in a world of one process.
import torch.nn as nn


class DistributedDataParallel(nn.Module):
    def __init__(self, module, device_ids=None, output_device=None, **keywords):
        super().__init__()
        self.module = module
        self.device_ids = device_ids

    def forward(self, *inputs, **keywords):
        return self.module(*inputs, **keywords)

    def no_sync(self):
        return _NoSync()


class _NoSync:
    def __enter__(self):
        return None

    def __exit__(self, kind, error, trace):
        return False
