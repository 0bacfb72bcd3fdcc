# torch: numbers rounded to those of a quantised type, and floats still.
import torch


def _rounded(x, scale, zero_point, low, high):
    if low > high:
        raise RuntimeError("`quant_min` should be less than or equal to `quant_max`.")
    at = torch.round(x.detach() * (1.0 / scale) + zero_point)
    inside = (at >= low) & (at <= high)
    made = (at.clamp(low, high) - zero_point) * scale
    return made.to(x.dtype) + (x - x.detach()) * inside


def fake_quantize_per_tensor_affine(input, scale, zero_point, quant_min, quant_max):
    if isinstance(scale, torch.Tensor):
        scale = scale.detach()
    return _rounded(input, scale, zero_point, quant_min, quant_max)


def fake_quantize_per_channel_affine(input, scale, zero_point, axis, quant_min, quant_max):
    if scale.dim() != 1 or scale.size(0) != input.size(axis) or zero_point.shape != scale.shape:
        raise RuntimeError("dimensions of scale and zero_point are not consistent with input tensor")
    shape = [1] * input.dim()
    shape[axis] = -1
    return _rounded(input, scale.detach().reshape(shape), zero_point.reshape(shape), quant_min, quant_max)
