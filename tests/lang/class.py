import torch.nn as nn


class Net(nn.Module, Mixin):
    """What a class says of itself."""
    scale: float = 2.0
    sizes = [n for n in range(3)]
    scale += 1

    def __init__(self, x, *rest):
        super().__init__()
        self.x, *self.rest = x, *rest
        self.scale += 1

    @property
    def width(self):
        return [super().width for _ in self.rest]

    def forward(self, x):
        return __class__


class Empty:
    pass
