# torch.nn: layers that learn the number of their inputs from the first call.
import torch
from torch.nn import (
    BatchNorm1d, BatchNorm2d, BatchNorm3d, Conv1d, Conv2d, ConvTranspose1d, ConvTranspose2d,
    InstanceNorm1d, InstanceNorm2d, Linear, Parameter,
)


class _Lazy:
    # Before the first call a layer has no parameters; after it the layer is the one it derives from.
    def _wait(self, dim, *args, **keywords):
        self._waiting = (dim, args, keywords)

    def has_uninitialized_params(self):
        return self._waiting is not None

    def initialize_parameters(self, input):
        dim, args, keywords = self._waiting
        self._waiting = None
        training = self.training
        self._make(input.shape[dim], *args, **keywords)
        self.train(training)

    def _call_impl(self, *args, **keywords):
        if self._waiting is not None:
            self.initialize_parameters(args[0])
        return super()._call_impl(*args, **keywords)

    def forward(self, input, *rest):
        if self._waiting is not None:
            self.initialize_parameters(input)
        return super().forward(input, *rest)

    def _get_name(self):
        name = type(self).__name__
        return name if self._waiting is not None else name.removeprefix("Lazy")

    def extra_repr(self):
        return "" if self._waiting is not None else super().extra_repr()


class LazyLinear(_Lazy, Linear):
    def __init__(self, out_features, bias=True, device=None, dtype=None):
        self.in_features = 0
        self.out_features = out_features
        self._wait(-1, out_features, bias, device, dtype)

    def _make(self, size, *args):
        Linear.__init__(self, size, *args)


class LazyConv1d(_Lazy, Conv1d):
    def __init__(self, *args, **keywords):
        self._wait(1, *args, **keywords)

    def _make(self, size, *args, **keywords):
        Conv1d.__init__(self, size, *args, **keywords)


class LazyConv2d(_Lazy, Conv2d):
    def __init__(self, *args, **keywords):
        self._wait(1, *args, **keywords)

    def _make(self, size, *args, **keywords):
        Conv2d.__init__(self, size, *args, **keywords)


class LazyConvTranspose1d(_Lazy, ConvTranspose1d):
    def __init__(self, *args, **keywords):
        self._wait(1, *args, **keywords)

    def _make(self, size, *args, **keywords):
        ConvTranspose1d.__init__(self, size, *args, **keywords)


class LazyConvTranspose2d(_Lazy, ConvTranspose2d):
    def __init__(self, *args, **keywords):
        self._wait(1, *args, **keywords)

    def _make(self, size, *args, **keywords):
        ConvTranspose2d.__init__(self, size, *args, **keywords)


class LazyBatchNorm1d(_Lazy, BatchNorm1d):
    def __init__(self, *args, **keywords):
        self._wait(1, *args, **keywords)

    def _make(self, size, *args, **keywords):
        BatchNorm1d.__init__(self, size, *args, **keywords)


class LazyBatchNorm2d(_Lazy, BatchNorm2d):
    def __init__(self, *args, **keywords):
        self._wait(1, *args, **keywords)

    def _make(self, size, *args, **keywords):
        BatchNorm2d.__init__(self, size, *args, **keywords)


class LazyBatchNorm3d(_Lazy, BatchNorm3d):
    def __init__(self, *args, **keywords):
        self._wait(1, *args, **keywords)

    def _make(self, size, *args, **keywords):
        BatchNorm3d.__init__(self, size, *args, **keywords)


class LazyInstanceNorm1d(_Lazy, InstanceNorm1d):
    def __init__(self, *args, **keywords):
        self._wait(1, *args, **keywords)

    def _make(self, size, *args, **keywords):
        InstanceNorm1d.__init__(self, size, *args, **keywords)


class LazyInstanceNorm2d(_Lazy, InstanceNorm2d):
    def __init__(self, *args, **keywords):
        self._wait(1, *args, **keywords)

    def _make(self, size, *args, **keywords):
        InstanceNorm2d.__init__(self, size, *args, **keywords)
