# torch.nn.functional: forms in place, with the places of the largest, and other names of functions.
import torch
import torch.nn.functional as F


def celu_(input, alpha=1.0):
    return F.celu(input, alpha, True)


def selu_(input):
    return F.selu(input, True)


def rrelu_(input, lower=1.0 / 8, upper=1.0 / 3, training=False):
    return F.rrelu(input, lower, upper, training, True)


def threshold_(input, threshold, value):
    return F.threshold(input, threshold, value, True)


def max_pool1d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    return F.max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


def max_pool2d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    return F.max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode, True)


def adaptive_max_pool2d_with_indices(input, output_size, return_indices=False):
    return F.adaptive_max_pool2d(input, output_size, True)


def triplet_margin_with_distance_loss(anchor, positive, negative, *, distance_function=None, margin=1.0, swap=False, reduction="mean"):
    far = F.pairwise_distance if distance_function is None else distance_function
    near, away = far(anchor, positive), far(anchor, negative)
    if swap:
        away = torch.minimum(away, far(positive, negative))
    loss = torch.clamp_min(margin + near - away, 0)
    return loss.mean() if reduction == "mean" else loss.sum() if reduction == "sum" else loss


def upsample_nearest(input, size=None, scale_factor=None):
    return F.interpolate(input, size, scale_factor, "nearest")


def upsample_bilinear(input, size=None, scale_factor=None):
    return F.interpolate(input, size, scale_factor, "bilinear", True)


def has_torch_function(relevant_args):
    return any([hasattr(type(a), "__torch_function__") and type(a) is not torch.Tensor for a in relevant_args])
