# torch.nn: layers that learn the number of their inputs from the first call.
from torch.nn import (
    BatchNorm1d, BatchNorm2d, BatchNorm3d, Conv1d, Conv2d, ConvTranspose1d, ConvTranspose2d,
    InstanceNorm1d, InstanceNorm2d, Linear,
)


class _Lazy:
    # Before the first call a layer has no parameters; after it the layer is the one it derives from.
    channels = 1  # the dim of the input that says how many there are

    def __init__(self, *args, **keywords):
        self._waiting = (args, keywords)

    def has_uninitialized_params(self):
        return self._waiting is not None

    def initialize_parameters(self, input):
        args, keywords = self._waiting
        self._waiting = None
        training = self.training
        super().__init__(input.shape[self.channels], *args, **keywords)
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
    channels = -1

    def __init__(self, out_features, bias=True, device=None, dtype=None):
        self.in_features = 0
        self.out_features = out_features
        super().__init__(out_features, bias, device, dtype)


class LazyConv1d(_Lazy, Conv1d):
    pass


class LazyConv2d(_Lazy, Conv2d):
    pass


class LazyConvTranspose1d(_Lazy, ConvTranspose1d):
    pass


class LazyConvTranspose2d(_Lazy, ConvTranspose2d):
    pass


class LazyBatchNorm1d(_Lazy, BatchNorm1d):
    pass


class LazyBatchNorm2d(_Lazy, BatchNorm2d):
    pass


class LazyBatchNorm3d(_Lazy, BatchNorm3d):
    pass


class LazyInstanceNorm1d(_Lazy, InstanceNorm1d):
    pass


class LazyInstanceNorm2d(_Lazy, InstanceNorm2d):
    pass
