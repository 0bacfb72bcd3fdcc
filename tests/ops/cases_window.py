"""References and calls of convolutions, pools, resampling, padding."""
import math

import naive
from naive import ALL, FLOATS, INF, INTS, NAN, Nd, places
from table import B, C, I, P, S, U, V, X, Input, row, untried


def each(v, n):
    return [v] * n if isinstance(v, int) else list(v) * (n // len(v))


def conv(n):
    def call(x, w, bias=None, stride=1, padding=0, dilation=1, groups=1):
        if x.ndim == n + 1:
            return call(x.unsqueeze(0), w, bias, stride, padding, dilation, groups).select(0, 0).contiguous()
        stride, dilation = each(stride, n), each(dilation, n)
        kernel = w.shape[2:]
        if padding == "valid":
            padding = 0
        before = [d * (k - 1) // 2 for d, k in zip(dilation, kernel)] if padding == "same" else each(padding, n)
        sizes = list(x.shape[2:]) if padding == "same" else [(s + 2 * p - d * (k - 1) - 1) // t + 1 for s, p, d, k, t in zip(x.shape[2:], before, dilation, kernel, stride)]
        out, inner = w.shape[:2]
        made = []
        for b, o, *at in places([x.shape[0], out] + sizes):
            first = o // (out // groups) * inner
            terms = [bias.at((o,))] if bias is not None else []
            for c, *k in places([inner] + list(kernel)):
                q = [i * t - p + j * d for i, t, p, j, d in zip(at, stride, before, k, dilation)]
                if all(0 <= v < s for v, s in zip(q, x.shape[2:])):
                    terms.append(x.at([b, first + c] + q) * w.at([o, c] + k))
            made.append(sum(terms))
        return Nd([x.shape[0], out] + sizes, x.dtype, made)

    return call


def conv_transpose(n):
    def call(x, w, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1):
        if x.ndim == n + 1:
            return call(x.unsqueeze(0), w, bias, stride, padding, output_padding, groups, dilation).select(0, 0).contiguous()
        stride, padding, extra, dilation = (each(v, n) for v in (stride, padding, output_padding, dilation))
        kernel, inner = w.shape[2:], w.shape[1]
        sizes = [(s - 1) * t - 2 * p + d * (k - 1) + e + 1 for s, t, p, d, k, e in zip(x.shape[2:], stride, padding, dilation, kernel, extra)]
        made = naive.full([x.shape[0], inner * groups] + sizes, 0, x.dtype)
        for b, c, *at in places(x.shape):
            group = c // (x.shape[1] // groups)
            for o, *k in places([inner] + list(kernel)):
                q = [i * t - p + j * d for i, t, p, j, d in zip(at, stride, padding, k, dilation)]
                if all(0 <= v < s for v, s in zip(q, sizes)):
                    place = made.place([b, group * inner + o] + q)
                    made.store[place] += x.at([b, c] + at) * w.at([c, o] + k)
        if bias is not None:
            for p in places(made.shape):
                made.store[made.place(p)] += bias.at((p[1],))
        return made

    return call


TOL = dict(tol=6)
row("conv1d", conv(1), C("x, y, z", X(2, 3, 6), X(4, 3, 3), X(4)), C("x, y", X(2, 3, 6), X(4, 3, 1)), C("x, y, None, 2, 1", X(1, 2, 7), X(2, 2, 3)), C("x, y, padding=2, dilation=2", X(1, 2, 7), X(2, 2, 3)), C("x, y, groups=2", X(1, 4, 5), X(4, 2, 2)), C("x, y", X(3, 6), X(4, 3, 3)), C("x, y, padding='same'", X(1, 2, 6), X(2, 2, 3)), C("x, y", X(0, 3, 6), X(4, 3, 3)), C("x, y", X(1, 2, 6), X(2, 3, 3), raises="channels"), **TOL)
row("conv2d", conv(2), C("x, y, z", X(2, 3, 5, 4), X(2, 3, 3, 2), X(2)), C("x, y, None, (2, 1), (1, 0)", X(1, 2, 5, 4), X(3, 2, 3, 2)), C("x, y, stride=2, padding=1, dilation=2", X(1, 1, 7, 7), X(1, 1, 3, 3)), C("x, y, groups=4", X(1, 4, 5, 5), X(4, 1, 3, 3)), C("x, y, groups=2", X(1, 4, 5, 5), X(6, 2, 2, 2)), C("x, y", X(1, 2, 4, 4), X(3, 2, 1, 1)), C("x, y", X(2, 4, 4), X(3, 2, 2, 2)), C("x, y, padding='same'", X(1, 2, 4, 5), X(2, 2, 3, 2)), C("x, y, padding='valid'", X(1, 2, 4, 5), X(2, 2, 3, 2)), C("x, y", X(0, 2, 4, 4), X(3, 2, 2, 2)), C("x, y", X(1, 1, 3, 3), X(1, 1, 3, 3)), C("x, y", X(1, 2, 2, 2), X(1, 2, 3, 3), raises="larger"), C("x, y", X(1, 2, 4, 4), X(2, 3, 3, 3), raises="channels"), **TOL)
row("conv3d", conv(3), C("x, y, z", X(1, 2, 3, 4, 3), X(2, 2, 2, 2, 2), X(2)), C("x, y, None, 2, 1", X(1, 1, 4, 4, 4), X(2, 1, 3, 3, 3)), C("x, y, groups=2", X(2, 2, 3, 3, 3), X(2, 1, 2, 1, 2)), C("x, y", X(2, 3, 3, 3), X(1, 2, 2, 2, 2)), **TOL)
row("conv_transpose1d", conv_transpose(1), C("x, y, z", X(2, 3, 5), X(3, 2, 3), X(2)), C("x, y, None, 2, 1, 1", X(1, 2, 4), X(2, 2, 3)), C("x, y, groups=2", X(1, 4, 3), X(4, 2, 2)), C("x, y, dilation=2", X(1, 2, 4), X(2, 1, 3)), C("x, y", X(3, 5), X(3, 2, 3)), **TOL)
row("conv_transpose2d", conv_transpose(2), C("x, y, z", X(2, 3, 3, 4), X(3, 2, 3, 2), X(2)), C("x, y, None, 2, 1, 1", X(1, 2, 3, 3), X(2, 2, 3, 3)), C("x, y, stride=2", X(1, 2, 3, 3), X(2, 1, 2, 2)), C("x, y, groups=2", X(1, 4, 3, 3), X(4, 2, 2, 2)), C("x, y, dilation=2, padding=1", X(1, 1, 4, 4), X(1, 1, 3, 3)), C("x, y, stride=(2, 1), padding=(1, 0), output_padding=(1, 0)", X(1, 1, 3, 3), X(1, 2, 3, 2)), C("x, y", X(2, 3, 3), X(2, 1, 2, 2)), **TOL)
row("conv_transpose3d", conv_transpose(3), C("x, y, z", X(1, 2, 2, 3, 2), X(2, 1, 2, 2, 2), X(1)), C("x, y, None, 2, 1, 1", X(1, 1, 2, 2, 2), X(1, 2, 3, 3, 3)), **TOL)


def pool(n, f, largest):
    """f of the values of a window, and how many the padding adds to them."""

    def call(x, kernel_size, stride=None, padding=0, *rest, ceil_mode=False, count_include_pad=True, divisor_override=None, dilation=1, return_indices=False):
        rest = list(rest)
        if largest and rest:
            dilation = rest.pop(0)
        if rest:
            ceil_mode = rest.pop(0)
        if rest:
            count_include_pad = rest.pop(0)
        lead = x.shape[: x.ndim - n]
        kernel, padding, dilation = each(kernel_size, n), each(padding, n), each(dilation, n)
        stride = each(stride, n) if stride not in (None, ()) else kernel
        sizes = []
        for s, k, t, p, d in zip(x.shape[-n:], kernel, stride, padding, dilation):
            over = s + 2 * p - d * (k - 1) - 1
            m = -(-over // t) + 1 if ceil_mode else over // t + 1
            if ceil_mode and (m - 1) * t >= s + p:
                m -= 1
            sizes.append(m)
        made, indices = [], []
        for at in places(lead + tuple(sizes)):
            lead_at, at = at[: len(lead)], at[len(lead) :]
            values, where, whole = [], [], 1
            for i, t, p, k, s in zip(at, stride, padding, kernel, x.shape[-n:]):
                whole *= min(i * t - p + k, s + p) - (i * t - p)
            for k in places(kernel):
                q = tuple(i * t - p + j * d for i, t, p, j, d in zip(at, stride, padding, k, dilation))
                if all(0 <= v < s for v, s in zip(q, x.shape[-n:])):
                    values.append(x.at(lead_at + q))
                    where.append(sum(a * b for a, b in zip(q, naive.strides_of(x.shape[-n:]))))
            count = divisor_override or (whole if count_include_pad else len(values))
            v = f(values, count)
            made.append(v)
            if largest:
                indices.append(next(w for a, w in zip(values, where) if a == v or a != a))
        shape = lead + tuple(sizes)
        if return_indices:
            return (Nd(shape, x.dtype, made), Nd(shape, "int64", indices))
        return Nd(shape, x.dtype, made)

    return call


def most(values, count):
    return next((v for v in values if v != v), None) if any(v != v for v in values) else max(values)


def average(values, count):
    return sum(values) / count


NOT = ("torch.max_pool2d",)
MAX2 = [C("x, 2", X(1, 2, 4, 6)), C("x, 3, 1, 1, 2", X(1, 2, 7, 9)), C("x, (2, 3), (1, 2), (0, 1), (1, 3)", X(1, 1, 6, 11)), C("x, 3, 2, 1", X(2, 2, 5, 5)), C("x, (2, 3), (1, 2)", X(1, 1, 4, 5)), C("x, 2, ceil_mode=True", X(1, 1, 5, 5)), C("x, 2, stride=1, dilation=2", X(1, 1, 5, 5)), C("x, 2", X(2, 4, 4)), C("x, 2", X(0, 2, 4, 4)), C("x, 2", S(1, 1, 4, 6)), C("x, 3, 3, 1, ceil_mode=True", X(1, 1, 4, 4)), C("x, 3", X(1, 1, 2, 2), raises="larger"), C("x, 2, return_indices=True", X(1, 2, 4, 4, kind="distinct"), skip=NOT), C("x, 3, 2, 1, return_indices=True", X(1, 1, 5, 5, kind="distinct"), skip=NOT)]
row("max_pool2d", pool(2, most, True), *MAX2, C("x, (3, 5), 1, (1, 2)", X(1, 1, 4, 280)), modules=[("nn.MaxPool2d(2)(x)", "x, 2")], dtypes=FLOATS)
row("avg_pool2d", pool(2, average, False), C("x, 2", X(1, 2, 4, 6)), C("x, 3, 2, 1", X(2, 2, 5, 5)), C("x, 3, 2, 1, count_include_pad=False", X(1, 1, 5, 5)), C("x, 2, ceil_mode=True", X(1, 1, 5, 5)), C("x, (2, 3), (1, 2)", X(1, 1, 4, 5)), C("x, 2", X(2, 4, 4)), C("x, (36, 2), 1", X(1, 37, 3)), C("x, 3, 2, 1, True, True", X(1, 1, 6, 6)), C("x, 2, divisor_override=3", X(1, 1, 4, 4)), C("x, 2", X(0, 2, 4, 4)), C("x, 3", X(1, 1, 2, 2), raises="larger"), modules=[("nn.AvgPool2d(2)(x)", "x, 2")], tol=2)
row("max_pool1d", pool(1, most, True), C("x, 2", X(1, 2, 6)), C("x, 3, 2, 1", X(2, 2, 5)), C("x, 2, ceil_mode=True", X(1, 1, 5)), C("x, 2, 1, 0, 2", X(1, 1, 5)), C("x, 2", X(2, 4)), C("x, 2, return_indices=True", X(1, 2, 4, kind="distinct"), skip=("torch.max_pool1d",)))
row("avg_pool1d", pool(1, average, False), C("x, 2", X(1, 2, 6)), C("x, 3, 1, 1", X(2, 2, 5)), C("x, 3, 2, 1, False, False", X(1, 1, 5)), C("x, 2, ceil_mode=True", X(1, 1, 5)), C("x, 2", X(2, 4)), tol=2)
row("max_pool3d", pool(3, most, True), C("x, 2", X(1, 2, 4, 2, 4)), C("x, 3, 2, 1", X(1, 1, 4, 5, 4)), C("x, (1, 2, 2)", X(1, 1, 2, 4, 4)), C("x, 2", X(1, 2, 2, 4)))
row("avg_pool3d", pool(3, average, False), C("x, 2", X(1, 2, 4, 2, 4)), C("x, 3, 2, 1", X(1, 1, 4, 5, 4)), C("x, 3, 2, 1, count_include_pad=False", X(1, 1, 4, 5, 4)), C("x, 2", X(1, 2, 2, 4)), tol=2)


def lp_pool(n):
    def call(x, norm_type, kernel_size, stride=None, ceil_mode=False):
        f = lambda values, count: sum(abs(v) ** norm_type for v in values) ** (1 / norm_type)
        return pool(n, f, False)(x, kernel_size, stride, ceil_mode=ceil_mode)

    return call


# torch raises v to the power itself, and so do we: even powers.
row("lp_pool1d", lp_pool(1), C("x, 2, 2", X(1, 2, 6)), C("x, 2, 3, 1", X(1, 1, 6)), tol=4)
row("lp_pool2d", lp_pool(2), C("x, 2, 2", X(1, 2, 4, 4)), C("x, 2, (2, 3), 1", X(1, 1, 4, 5)), tol=4)
row("lp_pool3d", lp_pool(3), C("x, 2, 2", X(1, 2, 4, 4, 2)), C("x, 2, (2, 3, 1), 1", X(1, 1, 4, 5, 2)), tol=4)


def adaptive(n, f, largest=False):
    def call(x, output_size, return_indices=False):
        lead = x.shape[: x.ndim - n]
        sizes = x.shape[-n:]
        out = [s if o is None else o for o, s in zip(each(output_size, n) if not isinstance(output_size, (tuple, list)) else output_size, sizes)]
        made, indices = [], []
        for at in places(tuple(lead) + tuple(out)):
            lead_at, at = at[: len(lead)], at[len(lead) :]
            ranges = [range(i * s // o, -(-(i + 1) * s // o)) for i, s, o in zip(at, sizes, out)]
            spots = [tuple(r[j] for r, j in zip(ranges, p)) for p in places([len(r) for r in ranges])]
            values = [x.at(lead_at + q) for q in spots]
            v = f(values, len(values))
            made.append(v)
            if largest:
                q = next(q for a, q in zip(values, spots) if a == v or a != a)
                indices.append(sum(a * b for a, b in zip(q, naive.strides_of(sizes))))
        shape = tuple(lead) + tuple(out)
        if return_indices:
            return (Nd(shape, x.dtype, made), Nd(shape, "int64", indices))
        return Nd(shape, x.dtype, made)

    return call


ADAPT2 = [C("x, (2, 3)", X(1, 2, 5, 4)), C("x, 1", X(2, 3, 4, 4)), C("x, (None, 2)", X(1, 2, 3, 4)), C("x, 7", X(1, 1, 3, 3)), C("x, 2", X(2, 4, 4)), C("x, (4, 4)", X(1, 1, 4, 4))]
row("adaptive_avg_pool2d", adaptive(2, average), *ADAPT2, tol=2, modules=[("nn.AdaptiveAvgPool2d((2, 3))(x)", "x, (2, 3)")])
row("adaptive_max_pool2d", adaptive(2, most, True), *ADAPT2, C("x, 2, return_indices=True", X(1, 2, 5, 5, kind="distinct")))
ADAPT1 = [C("x, 2", X(1, 2, 5)), C("x, 1", X(2, 3, 4)), C("x, 4", X(2, 3))]
row("adaptive_avg_pool1d", adaptive(1, average), *ADAPT1, tol=2)
PAIRS = ("torch.adaptive_max_pool1d",)  # it gives the indices, too
row("adaptive_max_pool1d", adaptive(1, most, True), *[C(c.text, *c.inputs, skip=PAIRS) for c in ADAPT1], C("x, 2", X(1, 2, 5), spellings=PAIRS, wrap="({})[0]"))
row("adaptive_avg_pool3d", adaptive(3, average), C("x, 2", X(1, 2, 3, 4, 5)), C("x, (1, 2, None)", X(1, 1, 2, 4, 3)), tol=2)


def im2col(x, kernel_size, dilation=1, padding=0, stride=1):
    if x.ndim == 3:
        return im2col(x.unsqueeze(0), kernel_size, dilation, padding, stride).select(0, 0)
    kernel, dilation, padding, stride = (each(v, 2) for v in (kernel_size, dilation, padding, stride))
    sizes = [(s + 2 * p - d * (k - 1) - 1) // t + 1 for s, p, d, k, t in zip(x.shape[2:], padding, dilation, kernel, stride)]
    made = []
    for b, c, k0, k1, i, j in places([x.shape[0], x.shape[1]] + kernel + sizes):
        q = (i * stride[0] - padding[0] + k0 * dilation[0], j * stride[1] - padding[1] + k1 * dilation[1])
        made.append(x.at((b, c) + q) if 0 <= q[0] < x.shape[2] and 0 <= q[1] < x.shape[3] else 0.0)
    return Nd((x.shape[0], x.shape[1] * kernel[0] * kernel[1], sizes[0] * sizes[1]), x.dtype, made)


def col2im(x, output_size, kernel_size, dilation=1, padding=0, stride=1):
    if x.ndim == 2:
        return col2im(x.unsqueeze(0), output_size, kernel_size, dilation, padding, stride).select(0, 0)
    out, kernel, dilation, padding, stride = (each(v, 2) for v in (output_size, kernel_size, dilation, padding, stride))
    sizes = [(s + 2 * p - d * (k - 1) - 1) // t + 1 for s, p, d, k, t in zip(out, padding, dilation, kernel, stride)]
    channels = x.shape[1] // (kernel[0] * kernel[1])
    made = naive.full([x.shape[0], channels] + out, 0, x.dtype)
    apart = x.reshape([x.shape[0], channels] + kernel + sizes)
    for b, c, k0, k1, i, j in places(apart.shape):
        q = (i * stride[0] - padding[0] + k0 * dilation[0], j * stride[1] - padding[1] + k1 * dilation[1])
        if 0 <= q[0] < out[0] and 0 <= q[1] < out[1]:
            made.store[made.place((b, c) + q)] += apart.at((b, c, k0, k1, i, j))
    return made


row("im2col", im2col, C("x, 2", X(1, 2, 3, 4)), C("x, (2, 3), 1, 1, 2", X(2, 1, 4, 5)), C("x, 2, dilation=2", X(1, 1, 4, 4)), C("x, 2", X(2, 3, 3)), modules=[("nn.Unfold(2)(x)", "x, 2")])
row("fold", col2im, C("x, (3, 4), 2", X(1, 8, 6)), C("x, 4, 2, 1, 0, 2", X(2, 4, 4)), C("x, (4, 4), (2, 2), dilation=2", X(1, 4, 4)), C("x, (3, 3), 2, padding=1", X(4, 16)), tol=2, modules=[("nn.Fold((3, 4), 2)(x)", "x, (3, 4), 2")])

# ---- by an index


def pad(x, pads, mode="constant", value=None):
    pads = list(pads)
    n = len(pads) // 2
    before = [0] * (x.ndim - n) + pads[-2::-2][: n]
    before[x.ndim - n :] = [pads[2 * (n - 1 - k)] for k in range(n)]
    after = [0] * (x.ndim - n) + [pads[2 * (n - 1 - k) + 1] for k in range(n)]
    shape = [s + a + b for s, a, b in zip(x.shape, before, after)]

    def source(i, s):
        if mode == "replicate":
            return min(max(i, 0), s - 1)
        if mode == "circular":
            return i % s
        return -i if i < 0 else 2 * (s - 1) - i if i >= s else i

    made = []
    for p in places(shape):
        q = [i - b for i, b in zip(p, before)]
        inside = all(0 <= i < s for i, s in zip(q, x.shape))
        if mode == "constant":
            made.append(x.at(q) if inside else naive.cast(value or 0, x.dtype))
        else:
            made.append(x.at([source(i, s) if d >= x.ndim - n else i for d, (i, s) in enumerate(zip(q, x.shape))]))
    return Nd(shape, x.dtype, made)


PADS = [C("x, (1, 2)", X(2, 3)), C("x, (1, 0, 0, 2)", X(2, 3), dtypes=ALL), C("x, (1, 1), value=1.5", X(3)), C("x, (-1, 1)", X(2, 3)), C("x, (0, 0)", X(2, 3)), C("x, (1, 1, 1, 1, 1, 1), 'constant', 2.0", X(1, 2, 2)), C("x, (1, 1)", X(0, 2))]
for m in ("reflect", "replicate", "circular"):
    PADS += [C(f"x, (1, 2), {m!r}", X(1, 2, 4)), C(f"x, (1, 2, 2, 1), mode={m!r}", X(1, 2, 4, 3)), C(f"x, (1, 2), {m!r}", X(2, 4))]
PADS += [C("x, (1, 0, 0, 1, 1, 1), 'replicate'", X(1, 2, 2, 3, 2)), C("x, (1, 1, 1, 1, 1, 1), 'reflect'", X(1, 1, 2, 3, 2)), C("x, (5, 0), 'reflect'", X(1, 1, 3), raises="pad"), C("x, (1, 1), 'mirror'", X(1, 1, 3), raises="mirror")]
row("pad", pad, *PADS, modules=[("nn.ZeroPad2d((1, 0, 0, 2))(x)", "x, (1, 0, 0, 2)")])


def shuffle(x, r):
    *lead, c, h, w = x.shape
    n = len(lead)
    return x.reshape(lead + [c // (r * r), r, r, h, w]).permute(list(range(n + 1)) + [n + 3, n + 1, n + 4, n + 2]).contiguous().reshape(lead + [c // (r * r), h * r, w * r])


def unshuffle(x, r):
    *lead, c, h, w = x.shape
    n = len(lead)
    return x.reshape(lead + [c, h // r, r, w // r, r]).permute(list(range(n + 1)) + [n + 2, n + 4, n + 1, n + 3]).contiguous().reshape(lead + [c * r * r, h // r, w // r])


row("pixel_shuffle", shuffle, C("x, 2", X(1, 4, 2, 3)), C("x, 1", X(2, 1, 2, 2)), C("x, 2", X(8, 1, 2)), C("x, 2", X(1, 3, 2, 2), raises="channels"), dtypes=ALL, modules=[("nn.PixelShuffle(2)(x)", "x, 2")])
row("pixel_unshuffle", unshuffle, C("x, 2", X(1, 1, 4, 6)), C("x, 2", X(2, 2, 2)), dtypes=ALL)
row("channel_shuffle", lambda x, g: x.reshape(x.shape[0], g, -1, *x.shape[2:]).transpose(1, 2).contiguous().reshape(x.shape), C("x, 2", X(1, 4, 2, 2)), C("x, 3", X(2, 6, 1, 2)))


def linear_weights(out, size, scale, align):
    rows = []
    for i in range(out):
        at = i * (size - 1) / (out - 1) if align and out > 1 else 0.0 if align else max((i + 0.5) * scale - 0.5, 0.0)
        a = min(int(at), size - 1)
        rows.append([(a, 1 - (at - a)), (min(a + 1, size - 1), at - a)])
    return rows


def cubic_weights(out, size, scale, align):
    def k(t):
        t, a = abs(t), -0.75
        return (a + 2) * t**3 - (a + 3) * t**2 + 1 if t <= 1 else a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a if t < 2 else 0.0

    rows = []
    for i in range(out):
        at = i * (size - 1) / (out - 1) if align and out > 1 else 0.0 if align else (i + 0.5) * scale - 0.5
        f = math.floor(at)
        rows.append([(min(max(f + j, 0), size - 1), k(at - f - j)) for j in range(-1, 3)])
    return rows


def smooth_weights(cubic):
    """antialias=True, as Pillow: a filter as wide as the step, over what lies inside."""
    if cubic:
        f = lambda t: (1.5 * t - 2.5) * t * t + 1 if t < 1 else -0.5 * (((t - 5) * t + 8) * t - 4) if t < 2 else 0.0
    else:
        f = lambda t: max(1 - t, 0.0)

    def weights(out, size, scale, align):
        scale = (size - 1) / max(out - 1, 1) if align else scale
        rows = []
        for i in range(out):
            middle = i * scale if align else (i + 0.5) * scale - 0.5
            row = [(j, f(abs(j - middle) / max(scale, 1))) for j in range(size)]
            total = sum(w for _, w in row)
            rows.append([(j, w / total) for j, w in row])
        return rows

    return weights


def interpolate(x, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=False):
    n = x.ndim - 2
    sizes = x.shape[2:]
    if size is not None:
        out = each(size, n)
        scales = [s / o for s, o in zip(sizes, out)]
    else:
        factors = [scale_factor] * n if isinstance(scale_factor, (int, float)) else list(scale_factor)
        out = [int(s * f) for s, f in zip(sizes, factors)]
        scales = [s / o if recompute_scale_factor else 1 / f for s, o, f in zip(sizes, out, factors)]
    weights = []
    for s, o, r in zip(sizes, out, scales):
        if mode == "nearest":
            weights.append([[(min(int(i * r), s - 1), 1.0)] for i in range(o)])
        elif mode == "nearest-exact":
            weights.append([[(min(int((i + 0.5) * r), s - 1), 1.0)] for i in range(o)])
        elif mode == "area":
            weights.append([[(j, 1 / (-(-(i + 1) * s // o) - i * s // o)) for j in range(i * s // o, -(-(i + 1) * s // o))] for i in range(o)])
        else:
            how = smooth_weights(mode == "bicubic") if antialias else cubic_weights if mode == "bicubic" else linear_weights
            weights.append(how(o, s, r, align_corners))
    made = []
    for b, c, *at in places(x.shape[:2] + tuple(out)):
        rows = [w[i] for w, i in zip(weights, at)]
        v = 0.0
        for p in places([len(r) for r in rows]):
            picked = [r[k] for r, k in zip(rows, p)]
            v += x.at([b, c] + [j for j, _ in picked]) * math.prod(w for _, w in picked)
        made.append(v)
    return Nd(x.shape[:2] + tuple(out), x.dtype, made)


RESIZE = [C("x, 4", X(1, 2, 3)), C("x, (4, 3)", X(1, 2, 3, 2)), C("x, scale_factor=2", X(1, 1, 2, 3)), C("x, scale_factor=1.5, mode='nearest'", X(1, 1, 4, 4)), C("x, (4, 5), mode='bilinear', align_corners=False", X(1, 2, 3, 2)), C("x, (4, 5), mode='bilinear', align_corners=True", X(1, 1, 3, 2)), C("x, scale_factor=2, mode='bilinear'", X(1, 1, 2, 3)), C("x, 5, mode='linear'", X(1, 2, 3)), C("x, (2, 2), mode='area'", X(1, 1, 5, 4)), C("x, (4, 4), mode='bicubic'", X(1, 1, 3, 3)), C("x, (5, 4), mode='bicubic', align_corners=True", X(1, 1, 3, 3)), C("x, (3, 3, 3)", X(1, 1, 2, 2, 2)), C("x, (3, 3, 3), mode='trilinear'", X(1, 1, 2, 2, 2)), C("x, (2, 3), mode='nearest-exact'", X(1, 1, 5, 5)), C("x, 4, mode='cubist'", X(1, 1, 3), raises="cubist"), C("x, scale_factor=0.5, mode='bilinear', recompute_scale_factor=True", X(1, 1, 5, 5))]
SMOOTH = [C(f"x, {size}, mode={m!r}, align_corners={a}, antialias=True", X(1, 2, 7, 6)) for size in ("(3, 4)", "(9, 2)") for m in ("bilinear", "bicubic") for a in (False, True)]
SMOOTH += [C("x, scale_factor=0.4, mode='bicubic', antialias=True", X(1, 1, 8, 8)), C("x, (2, 2), mode='nearest', antialias=True", X(1, 1, 4, 4), raises="restricted")]
row("interpolate", interpolate, *RESIZE, *SMOOTH, tol=6, modules=[("nn.Upsample(4)(x)", "x, 4")])
row("upsample", interpolate, *RESIZE[:6], tol=6)


def grid_sample(x, grid, mode="bilinear", padding_mode="zeros", align_corners=None):
    n, c, h, w = x.shape

    def place(v, size):
        v = (v + 1) / 2 * (size - 1) if align_corners else ((v + 1) * size - 1) / 2
        if padding_mode == "border":
            v = min(max(v, 0), size - 1)
        if padding_mode == "reflection":
            low, span = (0.0, float(size - 1)) if align_corners else (-0.5, float(size))
            if span == 0:
                return 0.0
            v = abs(v - low)
            turns, extra = divmod(v, span)
            v = extra + low if turns % 2 == 0 else span - extra + low
            v = min(max(v, 0), size - 1)
        return v

    def at(b, ch, j, i):
        return x.at((b, ch, j, i)) if 0 <= j < h and 0 <= i < w else 0.0

    def cubic(b, ch, j, i):
        def weight(t):
            t, a = abs(t), -0.75
            return (a + 2) * t**3 - (a + 3) * t**2 + 1 if t <= 1 else a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a

        def held(v, size):
            low, span = (0, size - 1) if align_corners else (-0.5, size)
            if padding_mode == "reflection":
                turns, extra = divmod(abs(v - low), span)
                v = extra + low if turns % 2 == 0 else span - extra + low
            return int(v if padding_mode == "zeros" else min(max(v, 0), size - 1))

        j0, i0 = math.floor(j), math.floor(i)
        near = range(-1, 3)
        return sum(at(b, ch, held(j0 + p, h), held(i0 + q, w)) * weight(j - j0 - p) * weight(i - i0 - q) for p in near for q in near)

    made = []
    for b, ch, p, q in places((n, c) + grid.shape[1:3]):
        if mode == "bicubic":
            plain = lambda v, size: (v + 1) / 2 * (size - 1) if align_corners else ((v + 1) * size - 1) / 2
            made.append(cubic(b, ch, plain(grid.at((b, p, q, 1)), h), plain(grid.at((b, p, q, 0)), w)))
            continue
        i, j = place(grid.at((b, p, q, 0)), w), place(grid.at((b, p, q, 1)), h)
        if mode == "nearest":
            made.append(at(b, ch, round(j), round(i)))
            continue
        i0, j0 = math.floor(i), math.floor(j)
        di, dj = i - i0, j - j0
        made.append(at(b, ch, j0, i0) * (1 - di) * (1 - dj) + at(b, ch, j0, i0 + 1) * di * (1 - dj) + at(b, ch, j0 + 1, i0) * (1 - di) * dj + at(b, ch, j0 + 1, i0 + 1) * di * dj)
    return Nd((n, c) + grid.shape[1:3], x.dtype, made)


GRID = [-1.0, -0.5, 0.25, 0.75, 1.0, 0.0, -1.5, 0.125, 0.6, 1.25, -0.3, 0.9]
G = lambda n=1: V(GRID, None, (n, 2, 3, 2))
row("grid_sample", grid_sample, *[C(f"x, y, {m!r}, {p!r}, align_corners={a}", X(1, 2, 3, 4), G()) for m in ("bilinear", "bicubic") for p in ("zeros", "border", "reflection") for a in (False, True)], C("x, y, 'quadratic'", X(1, 1, 2, 2), G(), raises="bicubic"), C("x, y, 'nearest', align_corners=False", X(2, 1, 3, 4), G(2)), C("x, y", X(1, 1, 2, 2), G()), dtypes=("float32", "float64"), tol=8)


def affine_grid(theta, size, align_corners=None):
    n, _, h, w = size

    def axis(k):
        return [0.0] if k == 1 and align_corners else [-1 + 2 * i / (k - 1) if align_corners else (2 * i + 1) / k - 1 for i in range(k)]

    made = [theta.at((b, r, 0)) * x + theta.at((b, r, 1)) * y + theta.at((b, r, 2)) for b in range(n) for y in axis(h) for x in axis(w) for r in range(2)]
    return Nd((n, h, w, 2), theta.dtype, made)


row("affine_grid", affine_grid, C("x, (1, 1, 2, 3), align_corners=False", X(1, 2, 3)), C("x, (2, 1, 3, 2), align_corners=True", X(2, 2, 3)), dtypes=("float32", "float64"), tol=4)


def local_response_norm(x, size, alpha=1e-4, beta=0.75, k=1.0):
    n, c = x.shape[:2]
    made = []
    for p in places(x.shape):
        near = range(max(0, p[1] - size // 2), min(c, p[1] + (size - 1) // 2 + 1))
        made.append(x.at(p) / (k + alpha * sum(x.at((p[0], j) + p[2:]) ** 2 for j in near) / size) ** beta)
    return Nd(x.shape, x.dtype, made)


row("local_response_norm", local_response_norm, C("x, 2", X(1, 4, 3)), C("x, 3, alpha=0.5, beta=0.5, k=2.0", X(2, 4, 2, 2)), tol=4)


def max_unpool(x, indices, kernel_size, stride=None, padding=0, output_size=None):
    k = each(kernel_size, 2)
    s = k if stride is None else each(stride, 2)
    size = list(output_size)[-2:] if output_size else [(n - 1) * t + w for n, t, w in zip(x.shape[-2:], s, k)]
    made = naive.full(list(x.shape[:-2]) + size, 0, x.dtype)
    for p in places(x.shape):
        at = indices.at(p)
        made.store[made.place(p[:-2] + (at // size[1], at % size[1]))] = x.at(p)
    return made


row("max_unpool2d", max_unpool, C("x, y, 2", X(1, 1, 2, 2), V([0, 3, 9, 14], "int64", (1, 1, 2, 2))), C("x, y, 2, output_size=(5, 5)", X(1, 1, 2, 2), V([0, 3, 9, 24], "int64", (1, 1, 2, 2))))
untried("conv_windows", "pass decompose makes it of conv1d and conv2d")
untried("attention_back", "gradients of attention on a GPU are made of it")
untried("conv_x", "gradients of conv2d on a GPU are made of it")
untried("conv_weight", "gradients of conv2d on a GPU are made of it")
