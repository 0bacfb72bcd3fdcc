# _grads: products of matrices, attention, convolutions and poolings.  See grads.py.
import math
import torch
import torch.nn.functional as F
from _grads import wide, zeros_for


# ---- products


def matmul_x(g, x_shape, other):
    if other.ndim == 1:
        return g.unsqueeze(-1) * other
    if len(x_shape) == 1:
        return (other @ g.unsqueeze(-1)).squeeze(-1)
    if other.ndim == 2 and len(x_shape) > 2:
        return g @ other.t()
    return g @ other.transpose(-1, -2)


def matmul_other(g, x, other_shape):
    if x.ndim == 1:
        return x * g if len(other_shape) == 1 else x.unsqueeze(-1) * g.unsqueeze(-2)
    if len(other_shape) == 1:
        rows = x.reshape(-1, x.shape[-1])
        return (g.reshape(1, -1) @ rows).reshape(other_shape)
    if len(other_shape) == 2 and x.ndim > 2:
        return x.reshape(-1, x.shape[-1]).t() @ g.reshape(-1, g.shape[-1])
    return x.transpose(-1, -2) @ g


def matmul_nt_x(g, weight):
    return g @ weight


def matmul_nt_weight(g, x):
    return g.reshape(-1, g.shape[-1]).t() @ x.reshape(-1, x.shape[-1])


def linear_x(g, weight):
    return g @ weight if weight.ndim == 2 else g.unsqueeze(-1) * weight


def linear_weight(g, x, weight_shape):
    rows = x.reshape(-1, x.shape[-1])
    if len(weight_shape) == 1:
        return (g.reshape(1, -1) @ rows).reshape(weight_shape)
    return g.reshape(-1, g.shape[-1]).t() @ rows


def linear_bias(g):
    return g


def mm_x(g, mat2):
    return g @ mat2.t()


def mm_mat2(g, x):
    return x.t() @ g


def bmm_x(g, mat2):
    return g @ mat2.transpose(1, 2)


def bmm_mat2(g, x):
    return x.transpose(1, 2) @ g


def mv_x(g, vec):
    return torch.outer(g, vec)


def mv_vec(g, x):
    return x.t() @ g


def dot_x(g, other):
    return g * other


def dot_other(g, x):
    return g * x


def outer_x(g, vec2):
    return g @ vec2


def outer_vec2(g, x):
    return x @ g


def addmm_x(g, beta):
    return g * beta


def addmm_mat1(g, mat2, alpha):
    return (g @ mat2.t()) * alpha


def addmm_mat2(g, mat1, alpha):
    return (mat1.t() @ g) * alpha


def baddbmm_x(g, beta):
    return g * beta


def baddbmm_batch1(g, batch2, alpha):
    return (g @ batch2.transpose(1, 2)) * alpha


def baddbmm_batch2(g, batch1, alpha):
    return (batch1.transpose(1, 2) @ g) * alpha


def addmv_x(g, beta):
    return g * beta


def addmv_mat(g, vec, alpha):
    return torch.outer(g, vec) * alpha


def addmv_vec(g, mat, alpha):
    return (mat.t() @ g) * alpha


def spell_out(equation, ranks):
    """The equation with letters in the place of "...", aligned at the last."""
    given, arrow, result = equation.partition("->")
    operands = given.split(",")
    counts = [rank + 3 - len(labels) for labels, rank in zip(operands, ranks) if "..." in labels]
    if not counts:
        return equation
    letters = "".join([c for c in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if c not in equation][: max(counts)])
    named = []
    for labels, rank in zip(operands, ranks):
        hidden = rank + 3 - len(labels)
        named.append(labels.replace("...", letters[len(letters) - hidden :]) if "..." in labels else labels)
    if not arrow:
        every = given.replace(",", "").replace("...", "")
        result = "..." + "".join(sorted([c for c in set(every) if every.count(c) == 1]))
    return ",".join(named) + "->" + result.replace("...", letters)


def labels_of(equation, ranks):
    equation = spell_out(equation.replace(" ", ""), ranks)
    given, _, result = equation.partition("->")
    operands = given.split(",")
    if "->" not in equation:
        every = given.replace(",", "")
        result = "".join(sorted([c for c in set(every) if every.count(c) == 1]))
    return operands, result


def once(labels):
    """Each letter where it comes first."""
    return "".join([c for d, c in enumerate(labels) if labels.index(c) == d])


def on_diagonals(made, labels, shape):
    """What `made` holds for each letter, where all dims of that letter have one index; zeros elsewhere."""
    whole = zeros_for(made, shape)
    view, left = whole, labels
    for c in once(labels):
        while left.count(c) > 1:
            first = left.index(c)
            second = left.index(c, first + 1)
            view = view.diagonal(0, first, second)
            left = left[:first] + left[first + 1 : second] + left[second + 1 :] + c
    view.permute([left.index(c) for c in once(labels)]).copy_(made)
    return whole


def einsum_gradient(g, result, wanted, shape, labels, operand):
    """The gradient of one operand; what is summed out of it alone is repeated."""
    if once(wanted) != wanted:
        sizes = [shape[wanted.index(c)] for c in once(wanted)]
        return on_diagonals(einsum_gradient(g, result, once(wanted), sizes, labels, operand), wanted, shape)
    known = [c for c in wanted if c in result or (operand is not None and c in labels)]
    target = "".join(known)
    if operand is None:
        made = torch.einsum(result + "->" + target, g)
    else:
        if 1 in operand.shape:  # "..." broadcasts, letters do not
            operand = operand.expand([g.shape[result.index(c)] if c in result else -1 for c in labels])
        made = torch.einsum(result + "," + labels + "->" + target, g, operand)
    for d, c in enumerate(wanted):
        if c not in known:
            made = made.unsqueeze(d)
    # a dim of size 1 that met a longer one is summed by who asked
    return made.expand([-1 if c in known else shape[d] for d, c in enumerate(wanted)])


def einsum_x(g, equation, x_shape, other):
    operands, result = labels_of(equation, [len(x_shape), 0 if other is None else other.ndim])
    labels = operands[1] if len(operands) == 2 else ""
    return einsum_gradient(g, result, operands[0], x_shape, labels, other)


def einsum_other(g, equation, x, other_shape):
    operands, result = labels_of(equation, [x.ndim, len(other_shape)])
    return einsum_gradient(g, result, operands[1], other_shape, operands[0], x)


def in_one_call(needs, x, key, value, mask):
    """Whether a GPU has a call for the gradients of attention."""
    if not x.is_cuda or x.dtype == torch.float32 or x.dtype == torch.float64 or needs[3]:
        return False
    if x.dim() != 4 or x.shape[-1] > 128 or value.shape != key.shape:
        return False
    if x.shape[:-2] != key.shape[:-2] or x.shape[-1] != key.shape[-1]:
        return False
    return mask is None or mask.dtype == torch.bool or mask.dtype == x.dtype


def shares_of(x, key, mask, is_causal, scale):
    """Softmax of the scores."""
    scores = (x @ key.transpose(-1, -2)) * scale
    if is_causal:
        allowed = torch.ones((x.shape[-2], key.shape[-2]), dtype=torch.bool).tril()
        scores = torch.where(allowed, scores, -math.inf)
    elif mask is not None:
        if mask.dtype == torch.bool:
            scores = torch.where(mask, scores, -math.inf)
        else:
            scores = scores + mask
    p = torch.softmax(scores, -1)
    if mask is not None:  # a row without any key gives 0
        p = torch.where(torch.amax(scores, -1, True) == -math.inf, 0.0, p)
    return p


def scaled_dot_product_attention_all(
    g, needs, out, x, key, value, attn_mask, dropout_p, is_causal, scale
):
    assert dropout_p == 0  # what it drew is not known here: F writes it out
    if scale is None:
        scale = 1 / math.sqrt(x.shape[-1])
    if in_one_call(needs, x, key, value, attn_mask):
        how = 1 if is_causal else 8  # enum attention_how
        made = torch._C.attention_back(
            x, key, value, None if is_causal else attn_mask, scale, g.to(x.dtype), how, out
        )
        n, m = x.shape[-2], key.shape[-2]
        return made.narrow(-2, 0, n), made.narrow(-2, n, m), made.narrow(-2, n + m, m), None
    g, x, key, value = wide(g), wide(x), wide(key), wide(value)
    p = shares_of(x, key, attn_mask, is_causal, scale)
    for_value = p.transpose(-1, -2) @ g if needs[2] else None
    if not (needs[0] or needs[1] or needs[3]):
        return None, None, for_value, None
    h = g @ value.transpose(-1, -2)
    h = p * (h - (p * h).sum(-1, keepdim=True))
    for_x = (h @ key) * scale if needs[0] else None
    for_key = (h.transpose(-1, -2) @ x) * scale if needs[1] else None
    return for_x, for_key, for_value, h if needs[3] else None


def attention_back_all(g, needs, x, key, value, mask, scale, y, how):
    """`out` is made of the others: its share of the gradient is theirs."""
    g, x, key, value, y = wide(g), wide(x), wide(key), wide(value), wide(y)
    n, m = x.shape[-2], key.shape[-2]
    of_x, of_key, of_value = g.narrow(-2, 0, n), g.narrow(-2, n, m), g.narrow(-2, n + m, m)
    p = shares_of(x, key, mask, how == 1, scale)
    h = y @ value.transpose(-1, -2)
    change = h - (p * h).sum(-1, keepdim=True)
    z = p * change
    w = (of_x @ key.transpose(-1, -2) + x @ of_key.transpose(-1, -2)) * scale
    mean = (w * p).sum(-1, keepdim=True)
    for_h = p * (w - mean)
    for_p = y @ of_value.transpose(-1, -2) + w * change - mean * h
    s = p * (for_p - (p * for_p).sum(-1, keepdim=True))
    for_x = (s @ key + z @ of_key) * scale
    for_key = (s.transpose(-1, -2) @ x + z.transpose(-1, -2) @ of_x) * scale
    for_value = for_h.transpose(-1, -2) @ y
    return for_x, for_key, for_value, None, for_h @ value + p @ of_value, None


# ---- windows


def pair(v):
    if isinstance(v, int):
        return v, v
    return (v[0], v[0]) if len(v) == 1 else (v[0], v[1])


def padded(z, before, after):
    """Zeros around the last two dims."""
    shape = list(z.shape)
    shape[-2] = shape[-2] + before[0] + after[0]
    shape[-1] = shape[-1] + before[1] + after[1]
    whole = zeros_for(z, shape)
    whole.narrow(-2, before[0], z.shape[-2]).narrow(-1, before[1], z.shape[-1]).copy_(z)
    return whole


def strided(z, at, step, sizes):
    """Every step-th element of the last two dims from `at` on, so many of them."""
    rows = slice(at[0], at[0] + (sizes[0] - 1) * step[0] + 1, step[0])
    columns = slice(at[1], at[1] + (sizes[1] - 1) * step[1] + 1, step[1])
    return z[..., rows, columns]


def sums_in_order():
    """What cuDNN may take faster functions for otherwise, whose last bits change from run to run."""
    return torch.backends.cudnn.deterministic or torch.are_deterministic_algorithms_enabled()


def turned_filters(weight, groups):
    o, i, h, w = weight.shape
    turned = weight.reshape(groups, o // groups, i, h, w).transpose(1, 2)
    return torch.flip(turned.reshape(groups * i, o // groups, h, w), (2, 3))


def conv_for_x(g, x_shape, weight, stride, padding, dilation, groups):
    """A convolution of g, spread out by the stride, with the weight turned around; on a GPU
    a call of its own, but where a channel has a filter of its own, for which a GPU has a kernel."""
    reach = [dilation[d] * (weight.shape[2 + d] - 1) for d in range(2)]
    pads = (reach[0] - padding[0], reach[1] - padding[1])
    own = groups == weight.shape[0] and weight.shape[1] == 1 and tuple(stride) == (1, 1)
    if g.is_cuda and own and tuple(dilation) == (1, 1) and min(pads) >= 0:
        return F.conv2d(g, turned_filters(weight, groups), None, 1, pads, 1, groups)
    if g.is_cuda:
        return torch._C.conv_x(
            g.contiguous(), weight.contiguous(), x_shape[2:], stride, padding, dilation, groups, sums_in_order()
        )
    shape = list(g.shape)
    before = []
    cut = []  # so much that the padding has of its own, beyond the reach of the weight
    for d in range(2):
        cut.append(max(-pads[d], 0))
        before.append(pads[d] + cut[d])
        shape[2 + d] = x_shape[2 + d] + reach[d] + 2 * cut[d]
    z = zeros_for(g, shape)
    strided(z, before, stride, g.shape[2:]).copy_(g)
    whole = F.conv2d(z, turned_filters(weight, groups), None, 1, 0, dilation, groups)
    for d in range(2):
        if cut[d]:
            whole = whole.narrow(2 + d, cut[d], x_shape[2 + d]).contiguous()
    return whole


def conv_for_weight(g, x, weight_shape, stride, padding, dilation, groups):
    """A convolution of x with g, the batch in the place of the channels; on a GPU a call of
    its own."""
    if g.is_cuda:
        return torch._C.conv_weight(
            g.contiguous(), x.contiguous(), weight_shape[2:], stride, padding, dilation, groups, sums_in_order()
        )
    n, c, h, w = x.shape
    o = g.shape[1]
    turned = x.reshape(n, groups, c // groups, h, w).permute(2, 1, 0, 3, 4)
    turned = turned.reshape(c // groups, groups * n, h, w)
    windows = g.transpose(0, 1)
    made = F.conv2d(turned, windows, None, dilation, padding, stride, groups)
    made = made.narrow(2, 0, weight_shape[2]).narrow(3, 0, weight_shape[3])
    return made.transpose(0, 1).reshape(weight_shape)


def conv2d_all(g, needs, x, x_shape, weight, weight_shape, stride, padding, dilation, groups):
    stride, padding, dilation = pair(stride), pair(padding), pair(dilation)
    single = len(x_shape) == 3
    if single:
        g, x, x_shape = g.unsqueeze(0), x.unsqueeze(0), (1,) + tuple(x_shape)
    for_x = for_weight = None
    if needs[0]:
        for_x = conv_for_x(g, x_shape, weight, stride, padding, dilation, groups)
        for_x = for_x.squeeze(0) if single else for_x
    if needs[1]:
        for_weight = conv_for_weight(g, x, weight_shape, stride, padding, dilation, groups)
    return for_x, for_weight, g.sum((0, 2, 3)) if needs[2] else None


def conv_x_y(g, weight, stride, padding, dilation, groups):
    return F.conv2d(g, weight, None, stride, padding, dilation, groups)


def conv_x_weight(g, y, weight_shape, stride, padding, dilation, groups):
    return conv_for_weight(y, g, weight_shape, stride, padding, dilation, groups)


def conv_weight_y(g, x, stride, padding, dilation, groups):
    return F.conv2d(x, g, None, stride, padding, dilation, groups)


def conv_weight_x(g, y, x_shape, stride, padding, dilation, groups):
    return conv_for_x(y, x_shape, g, stride, padding, dilation, groups)


def flat_pair(v, otherwise):
    """What a window of one dim says, as one of two dims."""
    return otherwise, v if isinstance(v, int) else v[0]


def conv1d_all(g, needs, x, x_shape, weight, weight_shape, stride, padding, dilation, groups):
    g, x, weight = g.unsqueeze(-2), x.unsqueeze(-2), weight.unsqueeze(-2)
    stride, padding = flat_pair(stride, 1), flat_pair(padding, 0)
    dilation = flat_pair(dilation, 1)
    given = conv2d_all(
        g, needs, x, x.shape, weight, weight.shape, stride, padding, dilation, groups
    )
    return (
        None if given[0] is None else given[0].squeeze(-2),
        None if given[1] is None else given[1].squeeze(-2),
        given[2],
    )


def im2col_x(g, x_shape, kernel_size, dilation, padding, stride):
    k, d, p, s = pair(kernel_size), pair(dilation), pair(padding), pair(stride)
    h, w = x_shape[-2] + 2 * p[0], x_shape[-1] + 2 * p[1]
    rows = (h - d[0] * (k[0] - 1) - 1) // s[0] + 1
    columns = (w - d[1] * (k[1] - 1) - 1) // s[1] + 1
    lead = tuple(x_shape[:-2])
    z = torch.zeros(lead + (h, w), dtype=g.dtype)
    g = g.reshape(lead + (k[0], k[1], rows, columns))
    for i in range(k[0]):
        for j in range(k[1]):
            part = g.select(-4, i).select(-3, j)
            strided(z, (i * d[0], j * d[1]), s, (rows, columns)).add_(part)
    return z.narrow(-2, p[0], x_shape[-2]).narrow(-1, p[1], x_shape[-1])


def window_room(size, out, k, s, p, d):
    """What has to stand after the elements for the last window to fit."""
    return max(0, (out - 1) * s + d * (k - 1) + 1 - size - p)


def max_pool2d_x(g, out_was, x, x_shape, kernel_size, stride, padding, dilation):
    k, p, d = pair(kernel_size), pair(padding), pair(dilation)
    s = pair(stride) if isinstance(stride, int) or len(stride) else k
    sizes = g.shape[-2:]
    room = [window_room(x_shape[i - 2], sizes[i], k[i], s[i], p[i], d[i]) for i in range(2)]
    whole = padded(x, p, room)
    real = padded(torch.ones_like(x), p, room)
    z = torch.zeros_like(whole)
    free = torch.ones_like(out_was)
    for i in range(k[0]):
        for j in range(k[1]):
            at = (i * d[0], j * d[1])
            hit = strided(whole, at, s, sizes) == out_was
            hit = hit.to(g.dtype) * strided(real, at, s, sizes) * free
            strided(z, at, s, sizes).add_(hit * g)
            free = free - hit
    return z.narrow(-2, p[0], x_shape[-2]).narrow(-1, p[1], x_shape[-1])


def avg_pool2d_x(g, x, x_shape, kernel_size, stride, padding, count_include_pad):
    k, p = pair(kernel_size), pair(padding)
    s = pair(stride) if isinstance(stride, int) or len(stride) else k
    sizes = g.shape[-2:]
    room = [window_room(x_shape[i - 2], sizes[i], k[i], s[i], p[i], 1) for i in range(2)]
    counted = torch.ones(x_shape[-2:], dtype=g.dtype)
    if count_include_pad:  # what ceil_mode adds is not counted even then
        edge = [min(p[i], room[i]) for i in range(2)]
        counted = torch.ones((x_shape[-2] + p[0] + edge[0], x_shape[-1] + p[1] + edge[1]), dtype=g.dtype)
        counted = padded(counted, (0, 0), (room[0] - edge[0], room[1] - edge[1]))
    else:
        counted = padded(counted, p, room)
    n = torch.zeros(sizes, dtype=g.dtype)
    for i in range(k[0]):
        for j in range(k[1]):
            n = n + strided(counted, (i, j), s, sizes)
    g = g / n
    shape = tuple(x_shape[:-2]) + tuple(counted.shape)
    z = torch.zeros(shape, dtype=g.dtype)
    for i in range(k[0]):
        for j in range(k[1]):
            strided(z, (i, j), s, sizes).add_(g)
    return z.narrow(-2, p[0], x_shape[-2]).narrow(-1, p[1], x_shape[-1])


def one_dim(v):
    """A window of one dim as one of two."""
    return v if not isinstance(v, int) and len(v) == 0 else flat_pair(v, 1)


def max_pool1d_x(g, out_was, x, x_shape, kernel_size, stride, padding, dilation):
    x = x.unsqueeze(-2)
    padding = flat_pair(padding, 0)
    k, s, d = one_dim(kernel_size), one_dim(stride), one_dim(dilation)
    g, out = g.unsqueeze(-2), out_was.unsqueeze(-2)
    return max_pool2d_x(g, out, x, x.shape, k, s, padding, d).squeeze(-2)


def avg_pool1d_x(g, x, x_shape, kernel_size, stride, padding, count_include_pad):
    shape = tuple(x_shape[:-1]) + (1, x_shape[-1])
    padding = flat_pair(padding, 0)
    k, s = one_dim(kernel_size), one_dim(stride)
    return avg_pool2d_x(g.unsqueeze(-2), x, shape, k, s, padding, count_include_pad).squeeze(-2)


def cells(size, n):
    """Where each of n adaptive windows begins and ends."""
    return [(i * size // n, ((i + 1) * size + n - 1) // n) for i in range(n)]


def adaptive_avg_pool2d_x(g, x, x_shape):
    z = zeros_for(g, x_shape)
    for i, (top, bottom) in enumerate(cells(x_shape[-2], g.shape[-2])):
        for j, (left, right) in enumerate(cells(x_shape[-1], g.shape[-1])):
            share = g[..., i : i + 1, j : j + 1] / ((bottom - top) * (right - left))
            z[..., top:bottom, left:right].add_(share)
    return z


def adaptive_max_pool2d_x(g, x, x_shape):
    z = zeros_for(g, x_shape)
    for i, (top, bottom) in enumerate(cells(x_shape[-2], g.shape[-2])):
        for j, (left, right) in enumerate(cells(x_shape[-1], g.shape[-1])):
            part = x[..., top:bottom, left:right].flatten(-2)
            index = torch.argmax(part, -1, keepdim=True)
            share = torch.zeros_like(part).scatter(-1, index, g[..., i, j].unsqueeze(-1))
            share = share.reshape(tuple(x_shape[:-2]) + (bottom - top, right - left))
            z[..., top:bottom, left:right].add_(share)
    return z


# ---- factors: each part of the result has its part of g


def _part(row, at, rows, columns):
    return row.narrow(-1, at, rows * columns).reshape(list(row.shape[:-1]) + [rows, columns])


def _t(x):
    return x.transpose(-1, -2)


def _solved(a, b, what="general"):
    return torch._C.solve(a, b, what)


def _cholesky(g, out, n):
    low, g = _part(out, 0, n, n), _part(g, 0, n, n)
    phi = torch.tril(_t(low) @ g)
    phi = phi - 0.5 * torch.diag_embed(torch.diagonal(phi, 0, -2, -1))
    half = _t(_solved(_t(low), _t(_solved(_t(low), phi, "upper")), "upper"))
    return 0.5 * (half + _t(half))


def _det(g, out, x):
    size = g.narrow(-1, 0, 1) * out.narrow(-1, 0, 1) + g.narrow(-1, 2, 1)
    return _t(_solved(x, torch.eye(x.shape[-1], dtype=x.dtype).expand(x.shape))) * size.unsqueeze(-1)


def _eigh(g, out, n):
    values, vectors = out.narrow(-1, 0, n), _part(out, n, n, n)
    gaps = values.unsqueeze(-2) - values.unsqueeze(-1) + torch.eye(n, dtype=g.dtype)
    turned = (_t(vectors) @ _part(g, n, n, n)) / gaps * (1 - torch.eye(n, dtype=g.dtype))
    return vectors @ (turned + torch.diag_embed(g.narrow(-1, 0, n))) @ _t(vectors)


def _eig(g, out, n):
    """As PyTorch's, each complex matrix as its two parts: what multiplies from the left is solved for."""
    (values, values_i), (gs, gs_i) = [(p.narrow(-1, 0, n), p.narrow(-1, n, n)) for p in (out, g)]
    (v, w), (gv, gw) = [(_part(p, 2 * n, n, n), _part(p, 2 * n + n * n, n, n)) for p in (out, g)]
    eye = torch.eye(n, dtype=g.dtype)
    a, b = _t(v) @ gv + _t(w) @ gw, _t(v) @ gw - _t(w) @ gv
    along = torch.diagonal(a, 0, -2, -1).unsqueeze(-2)
    a, b = a - (_t(v) @ v + _t(w) @ w) * along, b - (_t(v) @ w - _t(w) @ v) * along
    gap, gap_i = values.unsqueeze(-2) - values.unsqueeze(-1) + eye, values_i.unsqueeze(-1) - values_i.unsqueeze(-2)
    size = gap * gap + gap_i * gap_i
    a, b = (a * gap + b * gap_i) / size * (1 - eye) + torch.diag_embed(gs), (b * gap - a * gap_i) / size * (1 - eye) + torch.diag_embed(gs_i)
    right = torch.cat((a @ _t(v) + b @ _t(w), b @ _t(v) - a @ _t(w)), -2)
    left = torch.cat((torch.cat((_t(v), _t(w)), -1), torch.cat((-_t(w), _t(v)), -1)), -2)
    return _solved(left, right).narrow(-2, 0, n)


def _mirrored(m):
    return torch.tril(m, -1) + _t(torch.tril(m, -1)) + torch.diag_embed(torch.diagonal(m, 0, -2, -1))


def _qr_tall(q, r, gq, gr):
    m = r @ _t(gr) - _t(gq) @ q
    return _t(_solved(r, _t(gq + q @ _mirrored(m)), "upper"))


def _qr(g, out, x, m, n):
    k = min(m, n)
    q, r = _part(out, 0, m, k), _part(out, m * k, k, n)
    gq, gr = _part(g, 0, m, k), _part(g, m * k, k, n)
    if m >= n:
        return _qr_tall(q, r, gq, gr)
    left, right = x.narrow(-1, 0, m), x.narrow(-1, m, n - m)
    gright = gr.narrow(-1, m, n - m)
    gleft = _qr_tall(q, r.narrow(-1, 0, m), gq + right @ _t(gright), gr.narrow(-1, 0, m))
    return torch.cat((gleft, q @ gright), -1)


def _svd(g, out, m, n):
    k = min(m, n)
    u, s, vh = _part(out, 0, m, k), out.narrow(-1, m * k, k), _part(out, m * k + k, k, n)
    gu, gs, gvh = _part(g, 0, m, k), g.narrow(-1, m * k, k), _part(g, m * k + k, k, n)
    square = s * s
    eye = torch.eye(k, dtype=g.dtype)
    gaps = square.unsqueeze(-2) - square.unsqueeze(-1) + eye
    wide, high = s.unsqueeze(-2), s.unsqueeze(-1)
    a = _t(u) @ gu
    b = gvh @ _t(vh)
    inner = (a - _t(a)) / gaps * wide * (1 - eye) + high * ((_t(b) - b) / gaps) * (1 - eye)
    made = u @ (inner + torch.diag_embed(gs)) @ vh
    if m > k:
        made = made + ((gu - u @ a) / wide) @ vh
    if n > k:
        made = made + u @ ((gvh - b @ vh) / high)
    return made


def _exp(g, x, n):
    """The part above the diagonal of the power of a matrix twice as large."""
    g = _part(g, 0, n, n)
    top = torch.cat((_t(x), g), -1)
    low = torch.cat((torch.zeros_like(x), _t(x)), -1)
    made = torch._C.factor(torch.cat((top, low), -2), "exp")
    return _part(made, 0, 2 * n, 2 * n).narrow(-2, 0, n).narrow(-1, n, n)


def factor_x(g, out, x, x_shape, what):
    m, n = x_shape[-2], x_shape[-1]
    if what == "cholesky":
        return _cholesky(g, out, n)
    if what == "det":
        return _det(g, out, x)
    if what == "eig":
        return _eig(g, out, n)
    if what == "eigh":
        return _eigh(g, out, n)
    if what == "qr":
        return _qr(g, out, x, m, n)
    if what == "svd":
        return _svd(g, out, m, n)
    if what == "exp":
        return _exp(g, x, n)
    raise RuntimeError(f"torch.linalg: {what} has no gradient here")


def _other_side(what):
    if what == "general":
        return what
    return what.replace("upper", "lower") if "upper" in what else what.replace("lower", "upper")


def solve_other(g, x, what):
    return _solved(_t(x), g, _other_side(what))


def solve_x(g, x, out, what):
    made = -(solve_other(g, x, what) @ _t(out))
    if what == "general":
        return made
    edge = 1 if what[:5] == "unit_" else 0
    return torch.triu(made, edge) if "upper" in what else torch.tril(made, -edge)
