# torch.nn.functional: images in other sizes, and samples of them.  What begins with "One call"
# is one node to FX.
import math

import _autocast
import _dtypes
import torch
import torch.nn.functional as F


def _each(v, n):
    return [v] * n if isinstance(v, (int, float)) else list(v)


def _cubic_matrix(size, out, scale, align_corners, dtype):
    rows = []
    for i in range(out):
        if align_corners:
            at = i * (size - 1) / (out - 1) if out > 1 else 0.0
        else:
            at = (i + 0.5) * scale - 0.5
        first = math.floor(at)
        t = at - first
        line = [0.0] * size
        for j in range(-1, 3):
            u = abs(t - j)
            if u <= 1:
                w = 1.25 * u * u * u - 2.25 * u * u + 1
            else:
                w = -0.75 * u * u * u + 3.75 * u * u - 6 * u + 3
            line[min(max(first + j, 0), size - 1)] += w
        rows.append(line)
    return torch.tensor(rows, dtype=dtype)


def _filter(x, cubic):
    x = abs(x)
    if not cubic:
        return max(1.0 - x, 0.0)
    if x < 1:
        return (1.5 * x - 2.5) * x * x + 1
    return -0.5 * (((x - 5) * x + 8) * x - 4) if x < 2 else 0.0


def _smooth_matrix(size, out, scale, align_corners, cubic, dtype):
    """antialias=True: each row weighs all places that the filter reaches, as wide as the step."""
    if align_corners:
        scale = (size - 1) / (out - 1) if out > 1 else 0.0
    shift = 0.5 if align_corners else 0.0
    wide = max(scale, 1.0)
    reach = (2.0 if cubic else 1.0) * wide
    rows = []
    for i in range(out):
        center = scale * (i + 0.5 - shift)
        first = max(int(center - reach + 0.5 + shift), 0)
        last = min(int(center + reach + 0.5 + shift), size)
        weights = [_filter((j - center + 0.5 - shift) / wide, cubic) for j in range(first, last)]
        total = sum(weights)
        rows.append([0.0] * first + [w / total for w in weights] + [0.0] * (size - last))
    return torch.tensor(rows, dtype=dtype)


def interpolate(
    input, size=None, scale_factor=None, mode="nearest", align_corners=None,
    recompute_scale_factor=None, antialias=False,
):
    """One call."""
    known = ("nearest", "nearest-exact", "linear", "bilinear", "trilinear", "area", "bicubic")
    if mode not in known:
        raise NotImplementedError(f"interpolate: mode {mode!r} is unknown; one of {', '.join(known)} is needed")
    if antialias and (mode not in ("bilinear", "bicubic") or input.dim() != 4):
        raise ValueError("Anti-alias option is restricted to bilinear and bicubic modes and requires a 4-D tensor as input")
    if mode not in ("area", "bicubic") and not antialias:
        return torch._C.interpolate(
            input, size, scale_factor, mode, align_corners, recompute_scale_factor
        )
    n = input.dim() - 2
    sizes = [int(v) for v in input.shape[2:]]
    if size is not None:
        out = [int(v) for v in _each(size, n)]
        scales = [a / b for a, b in zip(sizes, out)]
    else:
        factors = scale_factor if isinstance(scale_factor, (tuple, list)) else [scale_factor] * n
        out = [int(a * f) for a, f in zip(sizes, factors)]
        scales = [a / b if recompute_scale_factor else 1 / f for a, b, f in zip(sizes, out, factors)]
    if mode == "area":
        pools = (F.adaptive_avg_pool1d, F.adaptive_avg_pool2d, F.adaptive_avg_pool3d)
        return pools[n - 1](input, out[0] if n == 1 else tuple(out))
    wide = input.dtype if input.dtype == torch.float64 else torch.float32
    down, across = [
        _smooth_matrix(a, b, s, align_corners, mode == "bicubic", wide)
        if antialias
        else _cubic_matrix(a, b, s, align_corners, wide)
        for a, b, s in zip(sizes, out, scales)
    ]
    return (down @ input.to(wide) @ across.t()).to(input.dtype)


def upsample(input, size=None, scale_factor=None, mode="nearest", align_corners=None):
    return F.interpolate(input, size, scale_factor, mode, align_corners)


def affine_grid(theta, size, align_corners=None):
    """One call."""
    axes = []
    for n in size[2:]:
        line = torch.linspace(-1, 1, n, dtype=theta.dtype)
        axes.append((line if n > 1 else torch.zeros(1, dtype=theta.dtype)) if align_corners else line * ((n - 1) / n))
    grids = torch.meshgrid(*axes, indexing="ij")
    base = torch.stack([g.reshape(-1) for g in reversed(grids)] + [torch.ones_like(grids[0]).reshape(-1)], -1)
    made = base @ theta.transpose(1, 2)
    return made.reshape([size[0]] + list(size[2:]) + [len(size) - 2])


def _unscaled(v, size, align_corners):
    """Places of -1 to 1 as places of the input."""
    return (v + 1) / 2 * (size - 1) if align_corners else ((v + 1) * size - 1) / 2


def _held(v, size, padding_mode, align_corners):
    """Where the padding finds what lies outside."""
    if padding_mode == "reflection":
        low, span = (0.0, float(size - 1)) if align_corners else (-0.5, float(size))
        if span == 0:
            return torch.zeros_like(v)
        v = torch.abs(v - low)
        turns = torch.floor(v / span)
        extra = v - turns * span
        v = torch.where(turns % 2 == 0, extra, span - extra) + low
    if padding_mode != "zeros":
        v = torch.clamp(v, 0, size - 1)
    return v


def _cubic_weights(t):
    """Of the four neighbours of a place, t after the second."""

    def near(x):
        return (1.25 * x - 2.25) * x * x + 1

    def far(x):
        return ((-0.75 * x + 3.75) * x - 6) * x + 3

    return far(t + 1), near(t), near(1 - t), far(2 - t)


def grid_sample(input, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    """One call."""
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'")
    if input.dim() != 4:
        raise NotImplementedError("grid_sample: inputs of 4 dims are in the language")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(f"nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: '{padding_mode}'")
    input, grid = _autocast.on_cpu(_autocast.float32, input, grid)
    _dtypes.alike(input, grid)
    n, c, h, w = input.shape
    flat = input.reshape(n, c, h * w)
    x = _unscaled(grid[..., 0], w, align_corners).reshape(n, 1, -1)
    y = _unscaled(grid[..., 1], h, align_corners).reshape(n, 1, -1)
    if mode != "bicubic":
        x, y = _held(x, w, padding_mode, align_corners), _held(y, h, padding_mode, align_corners)

    def at(j, i):
        inside = (j >= 0) & (j < h) & (i >= 0) & (i < w)
        where = torch.clamp(j, 0, h - 1).long() * w + torch.clamp(i, 0, w - 1).long()
        picked = torch.gather(flat, 2, where.expand(n, c, where.shape[2]))
        return torch.where(inside, picked, 0.0)

    if mode == "nearest":
        made = at(torch.round(y), torch.round(x))
    elif mode == "bicubic":
        j, i = torch.floor(y), torch.floor(x)
        down, across = _cubic_weights(y - j), _cubic_weights(x - i)
        rows = [_held(j + k, h, padding_mode, align_corners) for k in range(-1, 3)]
        columns = [_held(i + k, w, padding_mode, align_corners) for k in range(-1, 3)]
        lines = [sum([at(row, columns[k]) * across[k] for k in range(4)]) for row in rows]
        made = sum([line * weight for line, weight in zip(lines, down)])
    else:
        j, i = torch.floor(y), torch.floor(x)
        v, u = y - j, x - i
        made = (
            at(j, i) * ((1 - v) * (1 - u)) + at(j, i + 1) * ((1 - v) * u)
            + at(j + 1, i) * (v * (1 - u)) + at(j + 1, i + 1) * (v * u)
        )
    return made.reshape(n, c, grid.shape[1], grid.shape[2])
