# torch.nn.functional: functions that are made of the ops of ops.def.  What begins with
# "One call" is one node to FX.
import math

import _autocast
import _dtypes
import _reduction
import torch
import torch.nn.functional as F


def _pair(x):
    return (x, x) if isinstance(x, int) else tuple(x)


def _zeros(x, shape):
    return torch.zeros(shape, dtype=x.dtype)


def conv_transpose2d(
    input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1
):
    """One call.  A convolution of the input, spread out by the stride, with the weight
    turned around."""
    single = input.dim() == 3
    x = input.unsqueeze(0) if single else input
    s, p, more, d = _pair(stride), _pair(padding), _pair(output_padding), _pair(dilation)
    i, o, h, w = weight.shape
    if x.size(1) != i:
        raise RuntimeError(
            f"Given transposed=1, weight of size {list(weight.shape)}, expected input "
            f"{list(input.shape)} to have {i} channels, but got {x.size(1)} channels instead"
        )
    for k in range(2):
        if more[k] >= max(s[k], d[k]):
            raise RuntimeError(
                "output padding must be smaller than either stride or dilation, but got "
                f"output_padding_height: {more[0]} output_padding_width: {more[1]} "
                f"stride_height: {s[0]} stride_width: {s[1]} "
                f"dilation_height: {d[0]} dilation_width: {d[1]}"
            )
    # Phases are faster, but in float32 each sum of one is rounded more than cuDNN's gradient is.
    alone = d != (1, 1) or x.dtype == torch.float32
    if alone and x.is_cuda and not torch.is_autocast_enabled():
        size = [(x.shape[2 + k] - 1) * s[k] - 2 * p[k] + d[k] * (weight.shape[2 + k] - 1) + 1 + more[k] for k in (0, 1)]
        made = torch._C.conv_x(x.contiguous(), weight.contiguous(), size, s, p, d, groups)
        if bias is not None:
            made = made + bias.reshape(-1, 1, 1)
        return made.squeeze(0) if single else made
    if d == (1, 1):
        made = _by_phases(x, weight, s, p, more, groups)
        if bias is not None:
            made = made + bias.reshape(-1, 1, 1)
        return made.squeeze(0) if single else made
    reach = [d[k] * (weight.shape[2 + k] - 1) for k in range(2)]
    if s != (1, 1):
        n, c, rows, columns = x.shape
        z = F.pad(x.reshape(n, c, rows, 1, columns, 1), (0, s[1] - 1, 0, 0, 0, s[0] - 1))
        x = z.reshape(n, c, rows * s[0], columns * s[1])
        x = x[:, :, : (rows - 1) * s[0] + 1, : (columns - 1) * s[1] + 1]
    x = F.pad(
        x,
        (
            reach[1] - p[1],
            reach[1] - p[1] + more[1],
            reach[0] - p[0],
            reach[0] - p[0] + more[0],
        ),
    )
    turned = weight.reshape(groups, i // groups, o, h, w).transpose(1, 2)
    turned = torch.flip(turned.reshape(groups * o, i // groups, h, w), (2, 3))
    x = F.conv2d(x, turned, bias, 1, 0, d, groups)
    return x.squeeze(0) if single else x


def _by_phases(x, weight, s, p, more, groups):
    """A transposed convolution without zeros in between: every s-th row and column of the
    result is a convolution of x with every s-th one of the weight, turned around.  These are
    the channels of one convolution, which then lie between each other."""
    i, o, h, w = weight.shape
    n, c, rows, columns = x.shape
    taps = [-(-h // s[0]), -(-w // s[1])]
    over = [taps[0] * s[0] - h, taps[1] * s[1] - w]
    if over != [0, 0]:
        weight = F.pad(weight, (0, over[1], 0, over[0]))
    parts = weight.reshape(groups, i // groups, o, taps[0], s[0], taps[1], s[1])
    parts = torch.flip(parts, (3, 5)).permute(0, 2, 4, 6, 1, 3, 5)
    parts = parts.reshape(groups * o * s[0] * s[1], i // groups, taps[0], taps[1])
    # What is cut off at each end, of it whole rows of x at both ends that are not computed.
    cut = [(p[k], over[k] - more[k] + p[k]) for k in range(2)]
    spare = [max(0, min(cut[k][0] // s[k], cut[k][1] // s[k], taps[k] - 1)) for k in range(2)]
    cut = [(cut[k][0] - spare[k] * s[k], cut[k][1] - spare[k] * s[k]) for k in range(2)]
    pads = (taps[0] - 1 - spare[0], taps[1] - 1 - spare[1])
    made = F.conv2d(x, parts, None, 1, pads, 1, groups)
    if s != (1, 1):
        high, wide = rows + 2 * pads[0] - taps[0] + 1, columns + 2 * pads[1] - taps[1] + 1
        made = made.reshape(n, groups * o, s[0], s[1], high, wide).permute(0, 1, 4, 2, 5, 3)
        made = made.reshape(n, groups * o, high * s[0], wide * s[1])
    if cut != [(0, 0), (0, 0)]:
        made = F.pad(made, (-cut[1][0], -cut[1][1], -cut[0][0], -cut[0][1])).contiguous()
    return made


def conv_transpose1d(
    input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1
):
    """One call."""

    def one(x):
        return x if isinstance(x, int) else x[0]

    made = F.conv_transpose2d(
        input.unsqueeze(-2),
        weight.unsqueeze(-2),
        bias,
        (1, one(stride)),
        (0, one(padding)),
        (0, one(output_padding)),
        groups,
        (1, one(dilation)),
    )
    return made.squeeze(-2)


def adaptive_avg_pool1d(input, output_size):
    """One call."""
    size = output_size if isinstance(output_size, int) else output_size[0]
    return F.adaptive_avg_pool2d(input.unsqueeze(-2), (1, size)).squeeze(-2)


def adaptive_max_pool1d(input, output_size, return_indices=False):
    """One call."""
    size = output_size if isinstance(output_size, int) else output_size[0]
    if return_indices:
        made, places = F.adaptive_max_pool2d(input.unsqueeze(-2), (1, size), True)
        return made.squeeze(-2), places.squeeze(-2)
    return F.adaptive_max_pool2d(input.unsqueeze(-2), (1, size)).squeeze(-2)


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """One call."""
    k = _pair(kernel_size)
    p = float(norm_type)
    mean = F.avg_pool2d(input.pow(p), k, k if stride is None else stride, 0, ceil_mode)
    return (torch.sign(mean) * F.relu(torch.abs(mean))).mul(k[0] * k[1]).pow(1.0 / p)


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """One call.  Each column added into the window that it is."""
    size, k, d, p, s = (
        _pair(output_size),
        _pair(kernel_size),
        _pair(dilation),
        _pair(padding),
        _pair(stride),
    )
    lead = tuple(input.shape[:-2])
    channels = input.shape[-2] // (k[0] * k[1])
    lead = lead[:-1] + (lead[-1], channels) if lead else (channels,)
    grid = [(size[a] + 2 * p[a] - d[a] * (k[a] - 1) - 1) // s[a] + 1 for a in range(2)]
    columns = input.reshape(lead + (k[0], k[1], grid[0], grid[1]))
    total = _zeros(input, lead + (size[0] + 2 * p[0], size[1] + 2 * p[1]))
    for i in range(k[0]):
        for j in range(k[1]):
            part = columns.select(-4, i).select(-3, j)
            rows = slice(i * d[0], i * d[0] + (grid[0] - 1) * s[0] + 1, s[0])
            cols = slice(j * d[1], j * d[1] + (grid[1] - 1) * s[1] + 1, s[1])
            total[..., rows, cols] += part
    return total[..., p[0] : p[0] + size[0], p[1] : p[1] + size[1]]


# ---- activations


def softshrink(input, lambd=0.5):
    """One call."""
    input = torch._C.kept(input)
    return torch.where(
        input > lambd, input - lambd, torch.where(input < -lambd, input + lambd, input * 0)
    )


def hardshrink(input, lambd=0.5):
    """One call."""
    input = torch._C.kept(input)
    return torch.where((input >= -lambd) & (input <= lambd), torch.zeros_like(input), input)


def threshold(input, threshold, value, inplace=False):
    """One call."""
    made = torch.where(input <= threshold, torch.full_like(input, value), input if inplace else torch._C.kept(input))
    return input.copy_(made) if inplace else made


def prelu(input, weight):
    """One call."""
    input, weight = _autocast.lower(input, weight)
    if input.dtype != weight.dtype:
        raise RuntimeError(f"prelu: Type promoting not supported. Got {_dtypes.name(input)} and {_dtypes.name(weight)}")
    if weight.numel() > 1:
        weight = weight.view([-1 if k == 1 else 1 for k in range(input.dim())])
    return torch.where(input >= 0, input, torch._C.kept(input) * weight)


# ---- normalisation and distances


def local_response_norm(input, size, alpha=1e-4, beta=0.75, k=1.0):
    """One call."""
    squares = input.mul(input).unsqueeze(1)
    lead = squares.shape[:2]
    flat = squares.reshape(lead[0], 1, lead[2] if len(lead) > 2 else squares.shape[2], -1)
    flat = F.pad(flat, (0, 0, size // 2, (size - 1) // 2))
    mean = F.avg_pool2d(flat, (size, 1), 1).reshape(input.shape)
    return input / (mean * alpha + k).pow(beta)


def pairwise_distance(x1, x2, p=2.0, eps=1e-6, keepdim=False):
    """One call."""
    return torch.linalg.vector_norm(x1 - x2 + eps, p, -1, keepdim)


def triplet_margin_loss(
    anchor, positive, negative, margin=1.0, p=2, eps=1e-6, swap=False, size_average=None,
    reduce=None, reduction="mean",
):
    """One call."""
    anchor, positive, negative = _autocast.float32(anchor, positive, negative)
    near = F.pairwise_distance(anchor, positive, p, eps)
    far = F.pairwise_distance(anchor, negative, p, eps)
    if swap:
        far = torch.minimum(far, F.pairwise_distance(positive, negative, p, eps))
    return _reduction.reduced(torch.clamp(margin + near - far, min=0), reduction, size_average, reduce)


def margin_ranking_loss(
    input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"
):
    """One call."""
    input1, input2, target = _autocast.float32(input1, input2, target)
    return _reduction.reduced(torch.clamp(-target * (input1 - input2) + margin, min=0), reduction, size_average, reduce)


def cosine_embedding_loss(
    input1, input2, target, margin=0, size_average=None, reduce=None, reduction="mean"
):
    """One call."""
    input1, input2, target = _autocast.float32(input1, input2, target)
    cosine = F.cosine_similarity(input1, input2, -1)
    loss = torch.where(
        target == 1, 1 - cosine, torch.where(target == -1, torch.clamp(cosine - margin, min=0), cosine * 0)
    )
    return _reduction.reduced(loss, reduction, size_average, reduce)


def hinge_embedding_loss(
    input, target, margin=1.0, size_average=None, reduce=None, reduction="mean"
):
    """One call."""
    input, target = _autocast.float32(input, target)
    # As PyTorch's two masks have it, a target that is neither 1 nor -1 counts in both.
    loss = torch.where(target != 1, torch.clamp(margin - input, min=0), torch.zeros_like(input)) + torch.where(
        target != -1, input, torch.zeros_like(input)
    )
    return _reduction.reduced(loss, reduction, size_average, reduce)


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """One call."""
    input, target = _autocast.float32(input, target)
    if not input.is_floating_point():
        raise RuntimeError(f"result type Float can't be cast to the desired output type {_dtypes.name(input)}")
    return _reduction.reduced(torch.log1p(torch.exp(-target * torch._C.kept(input))).to(input.dtype), reduction, size_average, reduce)


def multilabel_soft_margin_loss(
    input, target, weight=None, size_average=None, reduce=None, reduction="mean"
):
    """One call."""
    loss = -(target * F.logsigmoid(input) + (1 - target) * F.logsigmoid(-input))
    return _reduction.reduced((loss if weight is None else loss * weight).mean(-1), reduction, size_average, reduce)


def poisson_nll_loss(
    input, target, log_input=True, full=False, size_average=None, eps=1e-8, reduce=None,
    reduction="mean",
):
    """One call."""
    input, target = _autocast.float32(input, target)
    if log_input:
        loss = torch.exp(input) - target * input
    else:
        loss = input - target * torch.log(input + eps)
    if full:
        stirling = target * torch.log(target) - target + 0.5 * torch.log(2 * math.pi * target)
        loss = loss + torch.where(target > 1, stirling, torch.zeros_like(stirling))
    return _reduction.reduced(loss, reduction, size_average, reduce)


@torch._C._reads
def gaussian_nll_loss(input, target, var, full=False, eps=1e-6, reduction="mean"):
    """One call."""
    if (var < 0) if isinstance(var, float) else torch.any(var < 0):
        raise ValueError("var has negative entry/entries")
    if not isinstance(var, float) and var.shape != input.shape and var.shape == input.shape[:-1]:
        var = var.unsqueeze(-1)
    var = torch.clamp(var, min=eps) if not isinstance(var, float) else max(var, eps)
    log = torch.log(var) if not isinstance(var, float) else math.log(var)
    loss = 0.5 * (log + (input - target) ** 2 / var)
    return _reduction.reduced(loss + 0.5 * math.log(2 * math.pi) if full else loss, reduction)


# ---- embeddings, attention


def multi_head_attention_forward(
    query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k,
    bias_v, add_zero_attn, dropout_p, out_proj_weight, out_proj_bias, training=True,
    key_padding_mask=None, need_weights=True, attn_mask=None, use_separate_proj_weight=False,
    q_proj_weight=None, k_proj_weight=None, v_proj_weight=None, static_k=None, static_v=None,
    average_attn_weights=True, is_causal=False,
):
    """One call."""
    single = query.dim() == 2
    if single:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    target, batch, dim = query.shape
    head = dim // num_heads
    assert dim == embed_dim_to_check, f"was expecting embedding dimension of {embed_dim_to_check}, but got {dim}"
    if is_causal and attn_mask is None:
        raise RuntimeError("Need attn_mask if specifying the is_causal hint.")
    causal = is_causal and key_padding_mask is None and not need_weights
    if causal:  # as in PyTorch, the hint is believed
        attn_mask = None
    if in_proj_bias is None:
        biases = (None, None, None)
    else:
        biases = in_proj_bias.chunk(3)
    if use_separate_proj_weight:
        weights = (q_proj_weight, k_proj_weight, v_proj_weight)
    else:
        weights = in_proj_weight.chunk(3)
    if query is key and key is value and not use_separate_proj_weight:
        parts = F.linear(query, in_proj_weight, in_proj_bias).chunk(3, dim=-1)
    else:
        parts = [F.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases)]
    q = parts[0].reshape(target, batch, num_heads, head).permute(1, 2, 0, 3)
    k, v, more = parts[1], parts[2], 0
    if bias_k is not None and bias_v is not None:
        assert static_k is None and static_v is None, "bias cannot be added to static key or value."
        k = torch.cat((k, bias_k.repeat(1, batch, 1)))
        v = torch.cat((v, bias_v.repeat(1, batch, 1)))
        more = 1
    k = _heads(k, batch, num_heads, head) if static_k is None else static_k.reshape(batch, num_heads, -1, head)
    v = _heads(v, batch, num_heads, head) if static_v is None else static_v.reshape(batch, num_heads, -1, head)
    if add_zero_attn:
        zeros = torch.zeros((batch, num_heads, 1, head), dtype=k.dtype)
        k, v, more = torch.cat((k, zeros), 2), torch.cat((v, zeros), 2), more + 1
    if more and attn_mask is not None:
        attn_mask = F.pad(attn_mask, (0, more))
    if more and key_padding_mask is not None:
        key_padding_mask = F.pad(key_padding_mask, (0, more))
    mask = _attention_mask(attn_mask, batch, num_heads, q.dtype)
    padding = _attention_mask(key_padding_mask, batch, num_heads, q.dtype, True)
    if padding is not None:
        mask = padding if mask is None else mask + padding
    drop = dropout_p if training else 0.0
    average = None
    if need_weights:
        scores = (q * math.sqrt(1.0 / head)) @ k.transpose(-2, -1)
        if mask is not None:
            scores = scores + mask
        weights = F.softmax(scores, dim=-1)
        if drop > 0.0:
            weights = F.dropout(weights, drop)
        out = weights @ v
        average = weights.mean(1) if average_attn_weights else weights
    else:
        out = F.scaled_dot_product_attention(q, k, v, mask, drop, causal)
    out = out.permute(2, 0, 1, 3).reshape(target, batch, dim)
    out = F.linear(out, out_proj_weight, out_proj_bias)
    if single:
        out = out.squeeze(1)
        average = None if average is None else average.squeeze(0)
    out = torch._C.getitem(out)
    return out, None if average is None else torch._C.getitem(average)


def _heads(x, batch, heads, head):
    """[source, batch, dim] as [batch, heads, source, head]."""
    return x.reshape(x.shape[0], batch, heads, head).permute(1, 2, 0, 3)


def _attention_mask(mask, batch, heads, dtype, of_keys=False):
    """What is added to the scores [batch, heads, target, source]; None."""
    if mask is None:
        return None
    if mask.dtype == torch.bool:
        mask = torch.zeros(mask.shape, dtype=dtype).masked_fill(mask, float("-inf"))
    if of_keys:
        return mask.reshape(mask.shape[0], 1, 1, mask.shape[1])
    return mask if mask.dim() == 2 else mask.reshape(batch, heads, mask.shape[1], mask.shape[2])
