# einops.layers.torch: patterns as layers.
import einops
import torch
from torch import nn


def _texts(*parts, **lengths):
    return ", ".join([*parts, *[f"{axis}={length}" for axis, length in lengths.items()]])


def _check(layer, pattern, operation, lengths):
    """What is wrong with the pattern is said where the layer is made."""
    left = pattern.split("->")[0]
    try:
        side = einops.Side(left)
        for ndim in range(len(side.groups) - 1, len(side.groups) + 7) if side.dots else [len(side.groups)]:
            einops.Plan(pattern, operation, list(lengths), ndim)
    except einops.EinopsError as error:
        raise einops.EinopsError(f" Error while preparing {layer!r}\n {error}")


class Rearrange(nn.Module):
    def __init__(self, pattern, **axes_lengths):
        super().__init__()
        self.pattern = pattern
        self.axes_lengths = axes_lengths
        _check(self, pattern, "rearrange", axes_lengths)

    def forward(self, input):
        return einops.rearrange(input, self.pattern, **self.axes_lengths)

    def __repr__(self):
        return f"Rearrange({_texts(repr(self.pattern), **self.axes_lengths)})"


class Reduce(nn.Module):
    def __init__(self, pattern, reduction, **axes_lengths):
        super().__init__()
        self.pattern = pattern
        self.reduction = reduction
        self.axes_lengths = axes_lengths
        _check(self, pattern, reduction, axes_lengths)

    def forward(self, input):
        return einops.reduce(input, self.pattern, self.reduction, **self.axes_lengths)

    def __repr__(self):
        return f"Reduce({_texts(repr(self.pattern), repr(self.reduction), **self.axes_lengths)})"


def _refuse(names, message):
    if names:
        raise einops.EinopsError(message.format("{" + ", ".join([repr(n) for n in names]) + "}"))


def _without(names, *others):
    return [n for n in names if not any([n in other for other in others])]


def _product(sizes):
    result = 1
    for size in sizes:
        result *= size
    return result


class EinMix(nn.Module):
    """A weight whose axes have names, multiplied in and summed over as a pattern says."""

    def __init__(self, pattern, weight_shape, bias_shape=None, **axes_lengths):
        super().__init__()
        self.pattern = pattern
        self.weight_shape = weight_shape
        self.bias_shape = bias_shape
        self.axes_lengths = axes_lengths
        left_text, right_text = pattern.split("->")
        left, right = einops.Side(left_text), einops.Side(right_text)
        weight = einops.Side(weight_shape)
        self._check(left, right, weight)
        self.pre_rearrange = self.post_rearrange = None
        if any([group != "..." and len(group) != 1 for group in left.groups]):
            lengths = {n: length for n, length in axes_lengths.items() if n in left.names}
            self.pre_rearrange = Rearrange(f"{left_text}-> {' '.join(left.flat())}", **lengths)
        if right.dots_inside or any([g != "..." and len(g) != 1 for g in right.groups]):
            self.post_rearrange = Rearrange(f"{' '.join(right.flat())} ->{right_text}")
        self._check_axes(left, right, weight)
        sizes = [axes_lengths[n] for n in weight.flat()]
        fan_in = _product([axes_lengths[n] for n in weight.flat() if n not in right.names])
        bound = (3 / fan_in) ** 0.5
        self.weight = nn.Parameter(torch.zeros(sizes).uniform_(-bound, bound))
        self.bias = None
        if bias_shape is not None:
            bound = (1 / fan_in) ** 0.5
            sizes = self._bias_sizes(right)
            self.bias = nn.Parameter(torch.zeros(sizes).uniform_(-bound, bound))
        names = sorted(set(left.names + right.names + weight.names))
        letters = dict(zip([n for n in names if n != "..."], "abcdefghijklmnopqrstuvwxyz"))
        letters["..."] = "..."
        texts = ["".join([letters[n] for n in side.flat()]) for side in (left, weight, right)]
        self.einsum_pattern = f"{texts[0]},{texts[1]}->{texts[2]}"

    def _check(self, left, right, weight):
        _refuse(
            _without(right.names, left.names, weight.names),
            "Unrecognized identifiers on the right side of EinMix {}",
        )
        if weight.dots:
            raise einops.EinopsError(
                "Ellipsis is not supported in weight, as its shape should be fully specified"
            )
        if left.dots != right.dots:
            raise einops.EinopsError(f"Ellipsis in EinMix should be on both sides, {self.pattern}")
        if left.dots_inside:
            raise einops.EinopsError(
                f"Ellipsis on left side can't be in parenthesis, got {self.pattern}"
            )
        if left.numbers or right.numbers or weight.numbers:
            raise einops.EinopsError("Anonymous axes (numbers) are not allowed in EinMix")
        if "(" in self.weight_shape or ")" in self.weight_shape:
            raise einops.EinopsError(f"Parenthesis is not allowed in weight shape: {self.weight_shape}")

    def _check_axes(self, left, right, weight):
        for axis in weight.names:
            if axis not in self.axes_lengths:
                raise einops.EinopsError(f"Dimension {axis} of weight should be specified")
        _refuse(_without(self.axes_lengths, left.names, weight.names), "Axes {} are not used in pattern")
        _refuse(_without(weight.names, left.names, right.names), "Weight axes {} are redundant")

    def _bias_sizes(self, right):
        if not isinstance(self.bias_shape, str):
            raise einops.EinopsError(
                "bias shape should be string specifying which axes bias depends on"
            )
        bias = einops.Side(self.bias_shape)
        _refuse(_without(bias.names, right.names), "Bias axes {} not present in output")
        _refuse(_without(bias.names, self.axes_lengths), "Sizes not provided for bias axes {}")
        sizes, used = [], False
        for axis in right.flat():
            if axis == "...":
                if used:
                    raise einops.EinopsError("all bias dimensions should go after ellipsis in the output")
            elif axis in bias.names:
                sizes.append(self.axes_lengths[axis])
                used = True
            else:
                sizes.append(1)
        return sizes

    def forward(self, input):
        if self.pre_rearrange is not None:
            input = self.pre_rearrange(input)
        result = torch.einsum(self.einsum_pattern, input, self.weight)
        if self.bias is not None:
            result += self.bias
        if self.post_rearrange is not None:
            result = self.post_rearrange(result)
        return result

    def __repr__(self):
        parts = [repr(self.pattern), f"'{self.weight_shape}'"]
        if self.bias_shape is not None:
            parts.append(f"'{self.bias_shape}'")
        return f"EinMix({_texts(*parts, **self.axes_lengths)})"
