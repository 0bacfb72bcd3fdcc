# torch.nn.functional: windows of one and three dims, samplings, losses, and the arguments
# that a row of ops.def does not take.  What begins with "One call" is one node to FX.
import math

import _autocast
import _dtypes
import _random_numbers
import _reduction
import torch
import torch.nn.functional as F


def _each(x, n):
    return (x,) * n if isinstance(x, int) else tuple(x) * (n if len(x) == 1 else 1)


def _same(input, weight, stride, padding, dilation, n):
    """(input, padding) where padding is 'same' or 'valid'."""
    if padding == "valid":
        return input, 0
    if padding != "same":
        raise ValueError(f"padding must be an int, a tuple of ints, 'same' or 'valid', not {padding!r}")
    if max(_each(stride, n)) > 1:
        raise RuntimeError("padding='same' is not supported for strided convolutions")
    total = [d * (k - 1) for d, k in zip(_each(dilation, n), weight.shape[2:])]
    pads = []
    for t in reversed(total):
        pads += [t // 2, t - t // 2]
    if all([t % 2 == 0 for t in total]):
        return input, tuple([t // 2 for t in total])
    return F.pad(input, tuple(pads)), 0


def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """One call."""
    if isinstance(padding, str):
        input, padding = _same(input, weight, stride, padding, dilation, 1)
    return torch._C.conv1d(input, weight, bias, stride, padding, dilation, groups)


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """One call."""
    if isinstance(padding, str):
        input, padding = _same(input, weight, stride, padding, dilation, 2)
    return torch._C.conv2d(input, weight, bias, stride, padding, dilation, groups)


def conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """One call.  Planes of the kernel as convolutions of planes, summed."""
    if isinstance(padding, str):
        input, padding = _same(input, weight, stride, padding, dilation, 3)
    s, p, d = _each(stride, 3), _each(padding, 3), _each(dilation, 3)
    single = input.dim() == 4
    x = input.unsqueeze(0) if single else input
    if p[0]:
        x = F.pad(x, (0, 0, 0, 0, p[0], p[0]))
    n, c, depth, h, w = x.shape
    planes = (depth - d[0] * (weight.shape[2] - 1) - 1) // s[0] + 1
    if planes < 1:
        raise RuntimeError(f"conv3d: the kernel, {weight.shape[2]} deep, is larger than the padded input, {depth} deep")
    made = None
    for k in range(weight.shape[2]):
        part = x[:, :, k * d[0] : k * d[0] + (planes - 1) * s[0] + 1 : s[0]]
        part = part.transpose(1, 2).reshape(n * planes, c, h, w)
        one = torch._C.conv2d(part, weight.select(2, k), None, s[1:], p[1:], d[1:], groups)
        made = one if made is None else made + one
    made = made.reshape(n, planes, made.shape[1], made.shape[2], made.shape[3]).transpose(1, 2)
    if bias is not None:
        _dtypes.alike(made, bias)
        made = made + bias.reshape(-1, 1, 1, 1)
    return made.squeeze(0) if single else made.contiguous()


def conv_transpose3d(
    input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1
):
    """One call.  A convolution of the input, spread out by the stride, with the weight turned."""
    s, p, more, d = _each(stride, 3), _each(padding, 3), _each(output_padding, 3), _each(dilation, 3)
    single = input.dim() == 4
    x = input.unsqueeze(0) if single else input
    i, o = weight.shape[0], weight.shape[1]
    for k in range(3):
        if s[k] > 1:
            spread = list(x.shape)
            spread[2 + k] = (x.shape[2 + k] - 1) * s[k] + 1
            wide = torch.zeros(spread, dtype=x.dtype)
            wide[(slice(None),) * (2 + k) + (slice(None, None, s[k]),)] = x
            x = wide
    pads = []
    for k in (2, 1, 0):
        reach = d[k] * (weight.shape[2 + k] - 1) - p[k]
        pads += [reach, reach + more[k]]
    turned = torch.flip(weight, (2, 3, 4)).reshape([groups, i // groups, o] + list(weight.shape[2:]))
    turned = turned.transpose(1, 2).reshape([groups * o, i // groups] + list(weight.shape[2:]))
    made = F.conv3d(F.pad(x, tuple(pads)), turned, bias, 1, 0, d, groups)
    return made.squeeze(0) if single else made


# ---- pools


def _windows(input, kernel_size, stride, padding, dilation, ceil_mode, n, fill):
    """Each window of the last n dims, flat, as the last dim; and the sizes before padding."""
    kernel, p, d = _each(kernel_size, n), _each(padding, n), _each(dilation, n)
    s = kernel if stride is None or stride == () else _each(stride, n)
    x, pads = input, []
    for k in range(n):
        size = input.shape[input.dim() - n + k]
        reach = d[k] * (kernel[k] - 1) + 1
        if p[k] * 2 > kernel[k]:
            raise RuntimeError(f"pad should be at most half of effective kernel size, but got pad={p[k]}, kernel_size={kernel[k]} and dilation={d[k]}")
        over = size + 2 * p[k] - reach
        count = (-(-over // s[k]) if ceil_mode else over // s[k]) + 1
        if ceil_mode and (count - 1) * s[k] >= size + p[k]:
            count = count - 1
        if count < 1:
            raise RuntimeError(f"the kernel, {kernel[k]} wide, is larger than the padded input, {size + 2 * p[k]} wide")
        pads = [p[k], max(0, (count - 1) * s[k] + reach - size - p[k])] + pads
    if max(pads) > 0:
        x = F.pad(x, tuple(pads), "constant", fill)
    for k in range(n):
        dim = input.dim() - n + k
        x = x.unfold(dim, d[k] * (kernel[k] - 1) + 1, s[k])
        if d[k] > 1:
            x = x[..., :: d[k]]
    for k in range(n):
        size = input.shape[input.dim() - n + k]
        reach = d[k] * (kernel[k] - 1) + 1
        count = ((-(-(size + 2 * p[k] - reach) // s[k])) if ceil_mode else (size + 2 * p[k] - reach) // s[k]) + 1
        if ceil_mode and (count - 1) * s[k] >= size + p[k]:
            count = count - 1
        x = x.narrow(input.dim() - n + k, 0, count)
    return x.flatten(-n), kernel, s, p, d


def _with_indices(input, kernel_size, stride, padding, dilation, ceil_mode, n):
    """Where each largest value stands, counted in the last n dims."""
    x, kernel, s, p, d = _windows(input, kernel_size, stride, padding, dilation, ceil_mode, n, -math.inf)
    at = x.argmax(-1)
    place = torch.zeros_like(at)
    step = 1
    for k in range(n - 1, -1, -1):
        dim = input.dim() - n + k
        first = torch.arange(at.shape[dim]) * s[k] - p[k]
        first = first.reshape([-1 if j == dim else 1 for j in range(at.dim())])
        place = place + (first + at % kernel[k] * d[k]) * step
        at = at // kernel[k]
        step = step * input.shape[dim]
    return torch._C.getitem(x.amax(-1)), torch._C.getitem(place)


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """One call."""
    if return_indices:
        return _with_indices(input, kernel_size, stride, padding, dilation, ceil_mode, 1)
    return torch._C.max_pool1d(input, kernel_size, () if stride is None else stride, padding, dilation, ceil_mode)


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """One call."""
    if return_indices:
        return _with_indices(input, kernel_size, stride, padding, dilation, ceil_mode, 2)
    return torch._C.max_pool2d(input, kernel_size, () if stride is None else stride, padding, dilation, ceil_mode)


def max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    """One call."""
    (input,) = _autocast.on_cpu(_autocast.float32, input)
    if return_indices:
        return _with_indices(input, kernel_size, stride, padding, dilation, ceil_mode, 3)
    return _windows(input, kernel_size, stride, padding, dilation, ceil_mode, 3, -math.inf)[0].amax(-1)


def avg_pool2d(
    input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
    divisor_override=None,
):
    """One call."""
    s = () if stride is None else stride
    if divisor_override is None:
        return torch._C.avg_pool2d(input, kernel_size, s, padding, ceil_mode, count_include_pad)
    if divisor_override == 0:
        raise RuntimeError("divisor must be not zero")
    sums = _windows(input, kernel_size, stride, padding, 1, ceil_mode, 2, 0.0)[0].sum(-1)
    return sums / divisor_override


def avg_pool3d(
    input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True,
    divisor_override=None,
):
    """One call."""
    if ceil_mode:
        raise NotImplementedError("avg_pool3d: ceil_mode is not in the language; pad the input first")
    x, kernel, s, p, d = _windows(input, kernel_size, stride, padding, 1, False, 3, 0.0)
    if divisor_override is not None:
        return x.sum(-1) / divisor_override
    if count_include_pad:
        return x.mean(-1)
    ones = torch.ones(list(input.shape[-3:]), dtype=input.dtype)
    return x.sum(-1) / _windows(ones, kernel_size, stride, padding, 1, False, 3, 0.0)[0].sum(-1)


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """One call."""
    p = float(norm_type)
    k = _each(kernel_size, 1)[0]
    mean = F.avg_pool1d(input.pow(p), k, k if stride is None else stride, 0, ceil_mode)
    return (torch.sign(mean) * F.relu(torch.abs(mean))).mul(k).pow(1.0 / p)


def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    """One call."""
    p = float(norm_type)
    k = _each(kernel_size, 3)
    mean = F.avg_pool3d(input.pow(p), k, k if stride is None else stride, 0, ceil_mode)
    return (torch.sign(mean) * F.relu(torch.abs(mean))).mul(math.prod(k)).pow(1.0 / p)


def _sizes(input, output_size, n):
    wanted = _each(output_size, n) if output_size is not None else (None,) * n
    return tuple([input.shape[input.dim() - n + k] if wanted[k] is None else wanted[k] for k in range(n)])


def adaptive_avg_pool2d(input, output_size):
    """One call."""
    return torch._C.adaptive_avg_pool2d(input, _sizes(input, output_size, 2))


def _adaptive_windows(input, sizes):
    """For each place of the result the flat places that it is made of."""
    lines = []
    for k, size in enumerate(sizes):
        n = input.shape[input.dim() - len(sizes) + k]
        lines.append([(i * n // size, -(-(i + 1) * n // size)) for i in range(size)])
    return lines


def adaptive_max_pool2d(input, output_size, return_indices=False):
    """One call."""
    sizes = _sizes(input, output_size, 2)
    if not return_indices:
        return torch._C.adaptive_max_pool2d(input, sizes)
    values, places = [], []
    rows, columns = _adaptive_windows(input, sizes)
    width = input.shape[-1]
    for top, bottom in rows:
        for left, right in columns:
            part = input[..., top:bottom, left:right].flatten(-2)
            at = part.argmax(-1)
            wide = right - left
            places.append((top + at // wide) * width + left + at % wide)
            values.append(part.amax(-1))
    shape = list(input.shape[:-2]) + list(sizes)
    made, at = torch.stack(values, -1).reshape(shape), torch.stack(places, -1).reshape(shape)
    return torch._C.getitem(made), torch._C.getitem(at)


def adaptive_avg_pool3d(input, output_size):
    """One call."""
    sizes = _sizes(input, output_size, 3)
    lines = _adaptive_windows(input, sizes)
    x = input
    for k in range(3):
        dim = input.dim() - 3 + k
        x = torch.cat([x.narrow(dim, a, b - a).mean(dim, True) for a, b in lines[k]], dim)
    return x


def adaptive_max_pool3d(input, output_size, return_indices=False):
    """One call."""
    if return_indices:
        raise NotImplementedError("adaptive_max_pool3d gives no indices here: leave return_indices out")
    x = input
    for k, line in enumerate(_adaptive_windows(input, _sizes(input, output_size, 3))):
        dim = input.dim() - 3 + k
        x = torch.cat([x.narrow(dim, a, b - a).amax(dim, True) for a, b in line], dim)
    return x


def _unpooled(input, indices, kernel_size, stride, padding, output_size, n):
    k, p = _each(kernel_size, n), _each(padding, n)
    s = k if stride is None else _each(stride, n)
    if output_size is None:
        output_size = [(input.shape[a - n] - 1) * s[a] - 2 * p[a] + k[a] for a in range(n)]
    lead, size = list(input.shape[:-n]), [d for d in output_size][-n:]
    flat = torch.zeros(lead + [math.prod(size)], dtype=input.dtype)
    return flat.scatter(-1, indices.flatten(-n), input.flatten(-n)).reshape(lead + size)


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """One call."""
    return _unpooled(input, indices, kernel_size, stride, padding, output_size, 1)


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """One call."""
    return _unpooled(input, indices, kernel_size, stride, padding, output_size, 2)


def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    """One call."""
    return _unpooled(input, indices, kernel_size, stride, padding, output_size, 3)


# ---- attention, embeddings


def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None,
    enable_gqa=False,
):
    """One call."""
    grouped = enable_gqa and key.shape[-3] != query.shape[-3]
    by_gpu = dropout_p > 0 and _random_numbers.by_gpu(query)
    fused = by_gpu and not grouped and _fuses(query, key, value)
    whole = grouped and query.shape[-3] % key.shape[-3] == 0 and value.shape[-3] == key.shape[-3]
    if whole and dropout_p == 0 and not is_causal and _masks_all_rows(attn_mask):
        return _grouped_attention(query, key, value, attn_mask, scale)
    if whole and dropout_p == 0 and is_causal and attn_mask is None and not _taped(query, key, value):
        return _grouped_causal(query, key, value, scale)
    if grouped:
        times = query.shape[-3] // key.shape[-3]
        key, value = key.repeat_interleave(times, -3), value.repeat_interleave(times, -3)
    if (dropout_p > 0 and _taped(query, key, value)) or by_gpu:
        return _dropped_attention(query, key, value, attn_mask, dropout_p, is_causal, scale, fused)
    return torch._C.scaled_dot_product_attention(
        query, key, value, attn_mask, dropout_p, is_causal, scale=scale
    )


def _taped(query, key, value):
    if not torch.is_grad_enabled():
        return False
    return query.requires_grad or key.requires_grad or value.requires_grad


def _grouped_causal(query, key, value, scale):
    """The heads that share keys are a dim through which these stay."""
    heads, rows, width = query.shape[-3], query.shape[-2], query.shape[-1]
    shared = key.shape[-3]
    lead = list(query.shape[:-3])
    query = query.reshape(lead + [shared, heads // shared, rows, width])
    key, value = key.unsqueeze(-3), value.unsqueeze(-3)
    made = torch._C.scaled_dot_product_attention(query, key, value, None, 0.0, True, scale=scale)
    return made.reshape(lead + [heads, rows, value.shape[-1]])


def _masks_all_rows(mask):
    """Whether a mask says the same of every head and every row."""
    return mask is None or mask.shape[-2] == 1 and (mask.dim() < 3 or mask.shape[-3] == 1)


def _grouped_attention(query, key, value, mask, scale):
    """The heads that share keys are rows of one head: no key is repeated in memory."""
    heads, rows, width = query.shape[-3], query.shape[-2], query.shape[-1]
    shared = key.shape[-3]
    lead = list(query.shape[:-3])
    query = query.reshape(lead + [shared, heads // shared * rows, width])
    made = torch._C.scaled_dot_product_attention(query, key, value, mask, 0.0, False, scale=scale)
    return made.reshape(lead + [heads, rows, value.shape[-1]])


def _fuses(query, key, value):
    """Whether PyTorch takes its memory-efficient kernel on a GPU.  What it takes for 16 bits draws from
    cuDNN's numbers, which are not known."""
    if query.dtype != torch.float32 or query.shape[-1] % 4 != 0 or value.shape[-1] % 4 != 0:
        return False
    for x in (query, key, value):
        if x.dim() != 4 or x.shape[0] != query.shape[0] or x.shape[1] != query.shape[1]:
            return False
        if x.shape[2] == 0 or x.stride(3) != 1:
            return False
    return True


def _dropped_attention(query, key, value, mask, p, is_causal, scale, fused):
    """With a dropout that the tape knows, or whose numbers are a GPU's."""
    scale = 1 / math.sqrt(query.shape[-1]) if scale is None else scale
    scores = (query @ key.transpose(-2, -1)) * scale
    if is_causal:
        allowed = torch.ones((query.shape[-2], key.shape[-2]), dtype=torch.bool).tril()
        scores = torch.where(allowed, scores, -math.inf)
    if mask is not None and mask.dtype == torch.bool:
        scores = torch.where(mask, scores, -math.inf)
    elif mask is not None:
        scores = scores + mask
    weights = torch.softmax(scores, -1)
    if mask is not None:  # a row without any key gives 0
        weights = torch.where(torch.amax(scores, -1, True) == -math.inf, 0.0, weights)
    if fused and p < 1.0:
        kept = torch._C.uniform(tuple(weights.shape), torch.float32, "line") > p
        return (weights * (kept.to(torch.float32) * (1.0 / (1.0 - p)))) @ value
    return F.dropout(weights, p) @ value


def one_hot(tensor, num_classes=-1):
    """One call."""
    if num_classes == -1:
        if tensor.numel() == 0:
            raise RuntimeError("Class values must be non-negative: with no element, give num_classes")
        num_classes = int(tensor.max().item()) + 1
    return torch._C.one_hot(tensor, num_classes)


# ---- losses, distances


def instance_norm(
    input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True,
    momentum=0.1, eps=1e-05,
):
    """One call."""
    if not use_input_stats:
        if running_mean is None or running_var is None:
            raise RuntimeError("Expected running_mean and running_var to be defined when use_input_stats is false")
        return F.batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)
    if running_mean is not None and running_var is not None:
        torch._C.native_batch_norm(running_mean, running_var)
    made = torch._C.instance_norm(input, None, None, weight, bias, True, momentum, eps)
    if running_mean is not None and running_var is not None:
        with torch.no_grad():
            flat = input.detach().reshape(input.shape[0], input.shape[1], -1).to(running_mean.dtype)
            running_mean.lerp_(flat.mean(2).mean(0), momentum)
            running_var.lerp_(flat.var(2).mean(0), momentum)
    return made


def bilinear(input1, input2, weight, bias=None):
    """One call."""
    input1, input2, weight = _autocast.on_cpu(_autocast.unchanged, input1, input2, weight)
    _dtypes.alike(input1, input2, weight, bias)
    left = torch.tensordot(input1, weight, ((input1.dim() - 1,), (1,)))
    made = (left * input2.unsqueeze(-2)).sum(-1)
    return made if bias is None else made + bias


def pdist(input, p=2.0):
    """One call."""
    n = input.shape[0]
    at = torch.triu_indices(n, n, 1)
    return torch.linalg.vector_norm(input[at[0]] - input[at[1]], p, -1)


def multi_margin_loss(
    input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction="mean"
):
    """One call."""
    single = input.dim() == 1
    x, y = (input.unsqueeze(0), target.reshape(1)) if single else (input, target)
    own = torch.gather(x, 1, y.unsqueeze(1))
    miss = torch.clamp(margin - own + x, min=0).pow(p)
    if weight is not None:
        miss = miss * weight[y].unsqueeze(1)
    other = torch.arange(x.shape[1]) != y.unsqueeze(1)
    loss = torch.where(other, miss, 0.0).sum(1) / x.shape[1]
    return _reduction.reduced(loss.squeeze(0) if single else loss, reduction, size_average, reduce)


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction="mean"):
    """One call."""
    single = input.dim() == 1
    x, y = (input.unsqueeze(0), target.unsqueeze(0)) if single else (input, target)
    counted = torch.cumsum((y < 0).long(), 1) == 0
    at = torch.where(counted, y, 0)
    is_target = torch.zeros(x.shape, dtype=torch.int64).scatter_add(1, at, counted.long()) > 0
    own = torch.gather(x, 1, at)
    miss = torch.clamp(1 - (own.unsqueeze(2) - x.unsqueeze(1)), min=0)
    miss = torch.where(counted.unsqueeze(2) & ~is_target.unsqueeze(1), miss, 0.0)
    loss = miss.sum((1, 2)) / x.shape[1]
    return _reduction.reduced(loss.squeeze(0) if single else loss, reduction, size_average, reduce)


@torch._C._reads  # torch.compile ends the graph: how long the rows are is asked
def ctc_loss(
    log_probs, targets, input_lengths, target_lengths, blank=0, reduction="mean",
    zero_infinity=False,
):
    """One call.  The sums over all alignments, step by step, of logarithms."""
    never = -1e30
    for lengths in (input_lengths, target_lengths):
        if isinstance(lengths, torch.Tensor) and lengths.dtype.is_floating_point:
            raise RuntimeError("input_lengths and target_lengths must be integral")
    single = log_probs.dim() == 2
    x = log_probs.unsqueeze(1) if single else log_probs
    steps, batch, classes = x.shape
    if targets.dim() == 1 and not single:
        ends = target_lengths.tolist() if isinstance(target_lengths, torch.Tensor) else list(target_lengths)
        longest, at, rows = max(ends), 0, []
        for n in ends:
            rows.append(F.pad(targets[at : at + n], (0, longest - n)))
            at = at + n
        targets = torch.stack(rows)
    targets = targets.reshape(batch, -1)
    if not isinstance(input_lengths, torch.Tensor):
        input_lengths = torch.tensor(input_lengths)
    if not isinstance(target_lengths, torch.Tensor):
        target_lengths = torch.tensor(target_lengths)
    input_lengths, target_lengths = input_lengths.reshape(-1, 1).long(), target_lengths.reshape(-1, 1).long()
    n = targets.shape[1]
    labels = torch.full((batch, 2 * n + 1), blank, dtype=torch.int64)
    labels[:, 1::2] = targets
    skips = F.pad((labels[:, 2:] != blank) & (labels[:, 2:] != labels[:, :-2]), (2, 0), "constant", False)
    places = torch.arange(2 * n + 1)
    a = torch.where(places < 2, torch.gather(x[0], 1, labels), never)
    for t in range(1, steps):
        one = F.pad(a[:, :-1], (1, 0), "constant", never)
        two = torch.where(skips, F.pad(a[:, :-2], (2, 0), "constant", never), never)
        made = torch.logsumexp(torch.stack((a, one, two)), 0) + torch.gather(x[t], 1, labels)
        a = torch.where(t < input_lengths, torch.clamp(made, min=never), a)
    last = torch.gather(a, 1, 2 * target_lengths)
    before = torch.gather(a, 1, torch.clamp(2 * target_lengths - 1, min=0))
    before = torch.where(target_lengths > 0, before, never)
    loss = -torch.logaddexp(last, before).squeeze(1)
    loss = torch.where(loss > 1e29, 0.0 if zero_infinity else math.inf, loss)
    if reduction == "mean":
        return (loss / torch.clamp(target_lengths.squeeze(1), min=1)).mean()
    if reduction == "sum":
        return loss.sum()
    return loss.squeeze(0) if single else loss


def channel_shuffle(input, groups):
    """One call."""
    n, c = input.shape[0], input.shape[1]
    if c % groups:
        raise RuntimeError(f"Number of channels must be divisible by groups. Got {c} channels and {groups} groups.")
    rest = list(input.shape[2:])
    return input.reshape([n, groups, c // groups] + rest).transpose(1, 2).reshape(input.shape)


def feature_alpha_dropout(input, p=0.5, training=False, inplace=False):
    """One call."""
    if not training or p == 0.0:
        return input if inplace else torch._C.alias(input)
    shape = list(input.shape[:2]) + [1] * (input.dim() - 2)
    alpha = -1.7580993408473766
    a = 1.0 / math.sqrt((alpha * alpha * p + 1) * (1 - p))
    kept = (_random_numbers.unit(input, shape) < 1.0 - p).to(input.dtype)
    made = (input * kept + alpha * (1 - kept)) * a - a * alpha * p
    return input.copy_(made) if inplace else made


def relu_(input):
    return F.relu(input, inplace=True)


def elu_(input, alpha=1.0):
    return F.elu(input, alpha, inplace=True)


def leaky_relu_(input, negative_slope=0.01):
    return F.leaky_relu(input, negative_slope, inplace=True)


def hardtanh_(input, min_val=-1.0, max_val=1.0):
    return F.hardtanh(input, min_val, max_val, inplace=True)


# ---- parts of multi_head_attention_forward(), which copies of it import


def _mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads):
    dims = query.dim()
    if dims not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {dims}-D query tensor")
    if key.dim() != dims or value.dim() != dims:
        raise AssertionError(
            f"For {'batched (3-D)' if dims == 3 else 'unbatched (2-D)'} `query`, expected `key` and `value` to be {dims}-D "
            f"but found {key.dim()}-D and {value.dim()}-D tensors respectively"
        )
    return dims == 3


def _in_projection(q, k, v, w_q, w_k, w_v, b_q=None, b_k=None, b_v=None):
    return F.linear(q, w_q, b_q), F.linear(k, w_k, b_k), F.linear(v, w_v, b_v)


def _in_projection_packed(q, k, v, w, b=None):
    if q is k and k is v:
        made = F.linear(q, w, b)
        made = made.unflatten(-1, (3, q.size(-1))).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
        return made[0], made[1], made[2]
    parts = w.chunk(3)
    biases = (None, None, None) if b is None else b.chunk(3)
    return _in_projection(q, k, v, *parts, *biases)
