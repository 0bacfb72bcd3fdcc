# torch.nn.DataParallel: a wrapper of a module, on one device.
import torch.nn as nn


class DataParallel(nn.Module):
    def __init__(self, module, device_ids=None, output_device=None, dim=0):
        super().__init__()
        self.module = module

    def forward(self, *inputs, **keywords):
        return self.module(*inputs, **keywords)
