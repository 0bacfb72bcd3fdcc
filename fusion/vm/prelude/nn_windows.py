# torch.nn: convolutions and poolings.
import math

import _random_numbers
import torch
import torch.nn.functional as F
from torch.nn import Module, Parameter


def _single(x):
    return _each(x, 1)


def _pair(x):
    return _each(x, 2)


def _triple(x):
    return _each(x, 3)


def _quadruple(x):
    return _each(x, 4)


def _ntuple(n):
    return lambda x: _each(x, n)


def _each(x, dims):
    return tuple(x) if isinstance(x, (tuple, list)) else (x,) * dims


class _ConvNd(Module):
    dims = 2
    transposed = False

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1,
        bias=True, padding_mode="zeros", device=None, dtype=None,
    ):
        self._init(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias,
            padding_mode, dtype, device,
        )

    def _init(
        self, in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias,
        padding_mode, dtype, device,
    ):
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        if padding_mode not in ("zeros", "reflect", "replicate", "circular"):
            raise ValueError(f"padding_mode must be one of zeros, reflect, replicate, circular, not {padding_mode}")
        dims = self.dims
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}")
            if padding == "same" and any([n != 1 for n in _each(stride, dims)]):
                raise ValueError("padding='same' is not supported for strided convolutions")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = _each(kernel_size, dims)
        self.stride = _each(stride, dims)
        self.padding = padding if isinstance(padding, str) else _each(padding, dims)
        self.dilation = _each(dilation, dims)
        self.output_padding = (0,) * dims
        self.groups = groups
        self.padding_mode = padding_mode
        ends = (in_channels, out_channels // groups) if self.transposed else (out_channels, in_channels // groups)
        shape = ends + self.kernel_size
        self.weight = Parameter(torch.empty(*shape, dtype=dtype, device=device))
        self.bias = Parameter(torch.empty(out_channels, dtype=dtype, device=device)) if bias else None
        self.reset_parameters()

    def reset_parameters(self):
        _random_numbers.draw_again(self, math.prod(self.weight.shape[1:]))

    def _sides(self):
        """What has to stand before and after each dim, last dim first, as F.pad has it."""
        sides = []
        for d in range(self.dims - 1, -1, -1):
            if self.padding == "same":
                total = self.dilation[d] * (self.kernel_size[d] - 1)
                sides += [total // 2, total - total // 2]
            elif self.padding == "valid":
                sides += [0, 0]
            else:
                sides += [self.padding[d], self.padding[d]]
        return sides

    def _padded(self, input):
        """The input, and the padding that the convolution is to give it itself."""
        if self.padding_mode != "zeros":
            return F.pad(input, self._sides(), self.padding_mode), 0
        if not isinstance(self.padding, str):
            return input, self.padding
        sides = self._sides()
        if all([sides[k] == sides[k + 1] for k in range(0, len(sides), 2)]):
            return input, tuple(sides[::-2])
        return F.pad(input, sides), 0

    def extra_repr(self):
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        if self.padding != (0,) * self.dims:
            text += f", padding={self.padding}"
        if self.dilation != (1,) * self.dims:
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * self.dims:
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


class Conv1d(_ConvNd):
    dims = 1

    def forward(self, input):
        input, padding = self._padded(input)
        return F.conv1d(
            input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups
        )


class Conv2d(_ConvNd):
    def forward(self, input):
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input, weight, bias):
        input, padding = self._padded(input)
        return F.conv2d(input, weight, bias, self.stride, padding, self.dilation, self.groups)


class _ConvTranspose(_ConvNd):
    transposed = True

    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, output_padding=0,
        groups=1, bias=True, dilation=1, padding_mode="zeros", device=None, dtype=None,
    ):
        if padding_mode != "zeros":
            raise ValueError('Only "zeros" padding mode is supported for ConvTranspose')
        self._init(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias,
            padding_mode, dtype, device,
        )
        self.output_padding = _each(output_padding, self.dims)

    def _more(self, input, output_size):
        if output_size is None:
            return self.output_padding
        sizes = list(output_size)[-self.dims :]
        least = [
            (input.shape[d - self.dims] - 1) * self.stride[d]
            - 2 * self.padding[d]
            + self.dilation[d] * (self.kernel_size[d] - 1)
            + 1
            for d in range(self.dims)
        ]
        return tuple([sizes[d] - least[d] for d in range(self.dims)])


class ConvTranspose1d(_ConvTranspose):
    dims = 1

    def forward(self, input, output_size=None):
        return F.conv_transpose1d(
            input, self.weight, self.bias, self.stride, self.padding,
            self._more(input, output_size), self.groups, self.dilation,
        )


class ConvTranspose2d(_ConvTranspose):
    def forward(self, input, output_size=None):
        return F.conv_transpose2d(
            input, self.weight, self.bias, self.stride, self.padding,
            self._more(input, output_size), self.groups, self.dilation,
        )


class _Pool(Module):
    def extra_repr(self):
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class _MaxPool(_Pool):
    def __init__(self, kernel_size, stride=None, padding=0, dilation=1, return_indices=False, ceil_mode=False):
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def extra_repr(self):
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
            f"dilation={self.dilation}, ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPool):
    def forward(self, input):
        return F.max_pool1d(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode,
            self.return_indices,
        )


class MaxPool2d(_MaxPool):
    def forward(self, input):
        return F.max_pool2d(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode,
            self.return_indices,
        )


class _AvgPool(_Pool):
    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad


class AvgPool1d(_AvgPool):
    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
        stride = kernel_size if stride is None else stride
        super().__init__(_single(kernel_size), _single(stride), _single(padding), ceil_mode, count_include_pad)

    def forward(self, input):
        return F.avg_pool1d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad
        )


class AvgPool2d(_AvgPool):
    def forward(self, input):
        return F.avg_pool2d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad
        )


class LPPool2d(Module):
    def __init__(self, norm_type, kernel_size, stride=None, ceil_mode=False):
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input):
        return F.lp_pool2d(input, self.norm_type, self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self):
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}, ceil_mode={self.ceil_mode}"
        )


class _AdaptivePool(Module):
    def __init__(self, output_size, return_indices=False):
        if return_indices:
            raise NotImplementedError("adaptive max pooling gives no indices here: leave return_indices out")
        self.output_size = output_size

    def extra_repr(self):
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptivePool):
    def forward(self, input):
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptivePool):
    def forward(self, input):
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveMaxPool1d(_AdaptivePool):
    def forward(self, input):
        return F.adaptive_max_pool1d(input, self.output_size)


class AdaptiveMaxPool2d(_AdaptivePool):
    def forward(self, input):
        return F.adaptive_max_pool2d(input, self.output_size)


class Unfold(Module):
    def __init__(self, kernel_size, dilation=1, padding=0, stride=1):
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input):
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)

    def extra_repr(self):
        return (
            f"kernel_size={self.kernel_size}, dilation={self.dilation}, padding={self.padding}, "
            f"stride={self.stride}"
        )


class Fold(Unfold):
    def __init__(self, output_size, kernel_size, dilation=1, padding=0, stride=1):
        super().__init__(kernel_size, dilation, padding, stride)
        self.output_size = output_size

    def forward(self, input):
        return F.fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )

    def extra_repr(self):
        return f"output_size={self.output_size}, " + super().extra_repr()


class Conv3d(_ConvNd):
    dims = 3

    def forward(self, input):
        input, padding = self._padded(input)
        return F.conv3d(
            input, self.weight, self.bias, self.stride, padding, self.dilation, self.groups
        )


class ConvTranspose3d(_ConvTranspose):
    dims = 3

    def forward(self, input, output_size=None):
        return F.conv_transpose3d(
            input, self.weight, self.bias, self.stride, self.padding,
            self._more(input, output_size), self.groups, self.dilation,
        )


class MaxPool3d(_MaxPool):
    def forward(self, input):
        return F.max_pool3d(
            input, self.kernel_size, self.stride, self.padding, self.dilation, self.ceil_mode,
            self.return_indices,
        )


class AvgPool3d(_Pool):
    def __init__(self, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input):
        return F.avg_pool3d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
            self.count_include_pad, self.divisor_override,
        )


class AdaptiveAvgPool3d(_AdaptivePool):
    def forward(self, input):
        return F.adaptive_avg_pool3d(input, self.output_size)


class AdaptiveMaxPool3d(_AdaptivePool):
    def forward(self, input):
        return F.adaptive_max_pool3d(input, self.output_size)
