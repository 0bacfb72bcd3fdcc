# torch.nn.utils: layers before a BatchNorm that take it in.
import copy

import torch
from torch import nn


def _folded(weight, bias, mean, var, eps, scale, shift, shape):
    bias = torch.zeros_like(mean) if bias is None else bias
    scale = torch.ones_like(mean) if scale is None else scale
    shift = torch.zeros_like(mean) if shift is None else shift
    by = scale * torch.rsqrt(var + eps)
    made = (weight * by.reshape(shape)).to(dtype=weight.dtype)
    moved = ((bias - mean) * by + shift).to(dtype=bias.dtype)
    return nn.Parameter(made, weight.requires_grad), nn.Parameter(moved, bias.requires_grad)


def fuse_conv_bn_weights(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, transpose=False):
    shape = [1, -1] if transpose else [-1, 1]
    shape += [1] * (conv_w.dim() - 2)
    return _folded(conv_w, conv_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, shape)


def fuse_linear_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b):
    return _folded(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b, [-1, 1])


def _fused(layer, bn, weights, *more):
    assert not (layer.training or bn.training), "Fusion only for eval!"
    made = copy.deepcopy(layer)
    made.weight, made.bias = weights(
        made.weight, made.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias, *more
    )
    return made


def fuse_conv_bn_eval(conv, bn, transpose=False):
    assert bn.running_mean is not None and bn.running_var is not None
    return _fused(conv, bn, fuse_conv_bn_weights, transpose)


def fuse_linear_bn_eval(linear, bn):
    assert linear.out_features == bn.num_features or bn.num_features == 1, (
        "To fuse, linear.out_features == bn.num_features or bn.num_features == 1"
    )
    return _fused(linear, bn, fuse_linear_bn_weights)
