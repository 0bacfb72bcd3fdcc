# torch.nn: layers that learn the number of their inputs from the first call.
import torch
from torch.nn import (
    BatchNorm1d, BatchNorm2d, BatchNorm3d, Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d,
    ConvTranspose3d, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d, Linear,
)


class _Lazy:
    # Before the first call a layer has no inputs; after it the layer is the one it derives from.
    channels = 1  # the dim of the input that says how many there are

    def __init__(self, *args, **keywords):
        with torch.random.fork_rng():  # numbers are drawn at the first call
            super().__init__(0, *args, **keywords)
        self._waiting = (args, keywords)

    def has_uninitialized_params(self):
        return self._waiting is not None

    def initialize_parameters(self, input):
        args, keywords = self._waiting
        self._waiting = None
        training = self.training
        known = dict(self.named_parameters(recurse=False))
        super().__init__(input.shape[self.channels], *args, **keywords)
        for name, parameter in known.items():  # an optimizer may have them already
            parameter.data = getattr(self, name).data
            setattr(self, name, parameter)
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


class LazyLinear(_Lazy, Linear):
    channels = -1

    def __init__(self, out_features, bias=True, device=None, dtype=None):
        super().__init__(out_features, bias, device, dtype)


class LazyConv1d(_Lazy, Conv1d):
    pass


class LazyConv2d(_Lazy, Conv2d):
    pass


class LazyConv3d(_Lazy, Conv3d):
    pass


class LazyConvTranspose1d(_Lazy, ConvTranspose1d):
    pass


class LazyConvTranspose2d(_Lazy, ConvTranspose2d):
    pass


class LazyConvTranspose3d(_Lazy, ConvTranspose3d):
    pass


class LazyBatchNorm1d(_Lazy, BatchNorm1d):
    pass


class LazyBatchNorm2d(_Lazy, BatchNorm2d):
    pass


class LazyBatchNorm3d(_Lazy, BatchNorm3d):
    pass


class _LazyInstanceNorm(_Lazy):
    def __init__(self, eps=1e-5, momentum=0.1, affine=True, track_running_stats=True, device=None, dtype=None):
        super().__init__(eps, momentum, affine, track_running_stats, device, dtype)


class LazyInstanceNorm1d(_LazyInstanceNorm, InstanceNorm1d):
    pass


class LazyInstanceNorm2d(_LazyInstanceNorm, InstanceNorm2d):
    pass


class LazyInstanceNorm3d(_LazyInstanceNorm, InstanceNorm3d):
    pass


class LazyModuleMixin:
    """Its initialize_parameters() is called with what the first call is given."""

    cls_to_become = None

    def __init__(self, *args, **keywords):
        super().__init__(*args, **keywords)
        self._first_call = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def has_uninitialized_params(self):
        """Here no parameter waits for its sizes: those that initialize_parameters() makes are whole."""
        return False

    def _infer_parameters(self, module, args, keywords):
        self._first_call.remove()
        self._first_call = None
        module.initialize_parameters(*args, **keywords)
        if self.cls_to_become is not None:
            self.__class__ = self.cls_to_become

    def initialize_parameters(self, *args, **keywords):
        raise NotImplementedError(f"initialize_parameters is not implemented for {self.__class__.__name__}")
