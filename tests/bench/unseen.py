"""tests/bench/unseen.py -- blocks for limit.py of the classes that people run: UNSEEN ones, at sizes that nobody tuned for
before they were measured, and SEALED ones, measured once nothing is changed any more; of training and of decoding, likewise TRAINED.  name: (source, PyTorch's or None, inputs)."""
from blocks import h, index, mask, ones, t

INTERLEAVED = """def model(x, cos, sin):
    a, b = x[..., 0::2], x[..., 1::2]
    return torch.stack([a * cos - b * sin, a * sin + b * cos], -1).flatten(-2)
"""
RESIDUAL_NORM = """def model(x, r, w):
    y = x + r
    f = y.float()
    return (f * torch.rsqrt(f.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * w, y
"""
GRU = """def model(x, s, w, u, b):
    out = []
    for i in range(x.shape[0]):
        r, z, n = (x[i] @ w.t() + b).chunk(3, -1)
        a, c, d = (s @ u.t()).chunk(3, -1)
        z = torch.sigmoid(z + c)
        s = z * s + (1 - z) * torch.tanh(n + torch.sigmoid(r + a) * d)
        out.append(s)
    return torch.stack(out)
"""
RMS_GRAD = """def model(x, w, g):
    f, d = x.float(), g.float() * w.float()
    inv = torch.rsqrt(f.pow(2).mean(-1, keepdim=True) + 1e-6)
    n = f * inv
    return (inv * (d - n * (d * n).mean(-1, keepdim=True))).to(x.dtype), (g.float() * n).sum(0).to(w.dtype)
"""
UPDATES = """def model(*all):
    n, out = len(all) // 3, []
    for p, g, m in zip(all[:n], all[n : 2 * n], all[2 * n :]):
        m = m * 0.9 + g
        out += [p - 0.01 * (m + 0.0001 * p), m]
    return tuple(out)
"""
SIZES = [(117,), (300, 117), (64, 3, 7, 7), (512,), (77, 1000), (1,), (250, 250), (33, 65)] * 6

UNSEEN = {
    "conv_3x3_16_bits": ("def model(x, w, b):\n    return F.gelu(F.conv2d(x, w, b, 1, 1))\n", None, [h(20, 112, 44, 52), h(176, 112, 3, 3), h(176)]),
    "conv_dilated_16_bits": ("def model(x, w, b):\n    return F.leaky_relu(F.conv2d(x, w, b, 1, 2, 2), 0.1)\n", None, [h(10, 96, 65, 65), h(144, 96, 3, 3), h(144)]),
    "conv_of_sound": ("def model(x, w, b):\n    return F.gelu(F.conv1d(x, w, b, 2, 1))\n", None, [h(16, 384, 3000), h(384, 384, 3), h(384)]),
    "depthwise_5x5": ("def model(x, w, b):\n    return F.silu(F.conv2d(x, w, b, 1, 2, 1, 144))\n", None, [t(20, 144, 40, 44), t(144, 1, 5, 5), t(144)]),
    "kernel_matrix": ("def model(a, b):\n    return torch.exp((a[:, None] - b[None]).square().sum(-1) * -0.05)\n", None, [t(1900, 37), t(2300, 37)]),
    "turned_products": ("def model(x, y, z):\n    return x.transpose(1, 2) + y * z\n", None, [t(24, 700, 333), t(24, 333, 700), t(333, 1)]),
    "causal_80": ("def model(q, k, v):\n    return F.scaled_dot_product_attention(q, k, v, is_causal=True)\n", None, [h(6, 12, 1500, 80)] * 3),
    "attention_bias_900": ("def model(q, k, v, b):\n    return F.scaled_dot_product_attention(q, k, v, attn_mask=b)\n", None, [h(5, 20, 904, 96)] * 3 + [h(1, 20, 904, 904)]),
    "grouped_causal": ("def model(q, k, v):\n    return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)\n", None,
                       [h(3, 24, 1100, 128), h(3, 6, 1100, 128), h(3, 6, 1100, 128)]),
    "cross_attention": ("def model(q, k, v):\n    return F.scaled_dot_product_attention(q, k, v)\n", None, [h(10, 8, 4096, 40), h(10, 8, 77, 40), h(10, 8, 77, 40)]),
    "rotary_pairs": (INTERLEAVED, None, [h(6, 20, 1500, 96), h(1500, 48), h(1500, 48)]),
    "resized_blend": ("def model(x, y):\n    return F.interpolate(x, size=(111, 97), mode='bilinear', align_corners=True) * y\n", None, [t(10, 48, 50, 60), t(10, 48, 111, 97)]),
    "residual_norm": (RESIDUAL_NORM, None, [h(9000, 5120), h(9000, 5120), h(5120)]),
    "modulated_norm": ("def model(x, s, b):\n    return F.layer_norm(x, (1152,)) * (1 + s) + b\n", None, [h(24, 1024, 1152), h(24, 1, 1152), h(24, 1, 1152)]),
    "topk_6007": ("def model(x):\n    return torch.topk(x, 8)\n", None, [t(300, 6007)]),
    "topk_words": ("def model(x):\n    v, i = torch.topk(x, 40)\n    return torch.softmax(v, -1), i\n", None, [t(9, 128256)]),
    "cat_slices": ("def model(x, y):\n    return torch.cat([x[:, 100:], y * 2.0, x[:, :100].tanh()], -1)\n", None, [t(6000, 900), t(6000, 700)]),
    "bag_of_words": ("def model(w, i):\n    return F.embedding(i, w).mean(1)\n", None, [t(30000, 300), index(3000, 61, high=30000)]),
    "deviation_columns": ("def model(x):\n    return x.std(0)\n", None, [t(9001, 1500)]),
    "softmax_bias_401": ("def model(x, b):\n    return torch.softmax(x + b, -1)\n", None, [h(24, 12, 401, 401), h(12, 401, 401)]),
    "smoothed_entropy": ("def model(x, i):\n    return F.cross_entropy(x, i, label_smoothing=0.1)\n", None, [h(3000, 50257), index(3000, high=50257)]),
    "gated_gelu": ("def model(x):\n    a, b = x.chunk(2, -1)\n    return a * F.gelu(b)\n", None, [h(7000, 10922)]),
    "gru": (GRU, None, [t(40, 48, 192), t(48, 200), t(600, 192), t(600, 200), t(600)]),
    "softmax_classes": ("def model(x):\n    return torch.softmax(x, 1)\n", None, [t(50, 21, 90, 110)]),
    "entropy_planes": ("def model(x, y):\n    return F.cross_entropy(x, y)\n", None, [t(12, 21, 200, 210), index(12, 200, 210, high=21)]),
    "scatter_7000": ("def model(x, i, s):\n    return x.scatter_add(0, i, s)\n", None, [t(7000, 80), index(90000, 80, high=7000), t(90000, 80)]),
    "index_add_200": ("def model(x, i, s):\n    return x.index_add(0, i, s * 0.5)\n", None, [t(20000, 200), index(100000, high=20000), t(100000, 200)]),
    "batched_24_40": ("def model(a, b):\n    return torch.sigmoid(torch.bmm(a, b))\n", None, [t(3000, 24, 40), t(3000, 40, 24)]),
    "swiglu": ("def model(x, w, v):\n    return F.silu(x @ w.t()) * (x @ v.t())\n", None, [h(2000, 2048), h(5504, 2048), h(5504, 2048)]),
    "cumsum_before": ("def model(x):\n    return torch.cumsum(x, -1) - x\n", None, [t(3000, 5000)]),
    "batch_norm_train": ("def model(x, w, b):\n    return F.relu(F.batch_norm(x, None, None, w, b, True))\n", None, [t(48, 96, 40, 44), t(96), t(96)]),
    "group_norm_52": ("def model(x, w, b):\n    return F.silu(F.group_norm(x, 32, w, b))\n", None, [h(12, 256, 52, 52), h(256), h(256)]),
    "rms_norm_grad": (RMS_GRAD, None, [h(10000, 2560), h(2560), h(10000, 2560)]),
    "updates_48": (UPDATES, None, [t(*s) for s in SIZES] * 3),
    "linear_few": ("def model(x, w, b):\n    return F.relu(F.linear(x, w, b))\n", None, [t(100, 700), t(1300, 700), t(1300)]),
    "sorted_rows": ("def model(x):\n    return torch.sort(x, -1)[0]\n", None, [t(2000, 1500)]),
}

SEALED = {
    "attention_72": ("def model(q, k, v):\n    return F.scaled_dot_product_attention(q, k, v)\n", None, [h(5, 16, 729, 72)] * 3),
    "stem": ("def model(x, w, m, v, g, b):\n    return F.relu(F.batch_norm(F.conv2d(x, w, None, 2, 3), m, v, g, b))\n", None,
             [h(40, 3, 200, 200), h(64, 3, 7, 7), h(64), {**ones(64), "dtype": "bfloat16"}, h(64), h(64)]),
    "softmax_first": ("def model(x):\n    return torch.softmax(x, 0)\n", None, [t(40, 300, 511)]),
    "norm_of_planes": ("def model(x, w, b):\n    return F.layer_norm(x, (37, 53), w, b)\n", None, [t(6000, 37, 53), t(37, 53), t(37, 53)]),
    "weighted_edges": ("def model(x, e, i, j):\n    return torch.zeros_like(x).index_add(0, i, x[j] * e[:, None])\n", None,
                       [t(25000, 72), t(300000), index(300000, high=25000), index(300000, high=25000)]),
    "largest_five": ("def model(x):\n    return torch.topk(x, 5, 1)[0].sum(1)\n", None, [t(40000, 333)]),
    "shuffled_down": ("def model(x, w):\n    y = F.pixel_unshuffle(x, 2)\n    return y * torch.rsqrt(y.square().mean(1, keepdim=True) + 1e-6) * w\n", None,
                      [t(20, 24, 120, 136), t(96, 1, 1)]),
    "products_norm": ("def model(x, w, b, r, g, c):\n    return F.layer_norm(F.linear(x, w, b) + r, (900,), g, c)\n", None,
                      [h(7000, 1400), h(900, 1400), h(900), h(7000, 900), h(900), h(900)]),
    "halved_sigmoid": ("def model(x):\n    return torch.sigmoid(F.interpolate(x, scale_factor=0.5, mode='bilinear', align_corners=False))\n", None, [t(16, 40, 190, 210)]),
    "log_softmax_grad": ("def model(x, i, g):\n    p = torch.softmax(x.float(), -1)\n    return ((p - F.one_hot(i, 9001)) * g[:, None]).to(x.dtype)\n", None,
                         [h(4000, 9001), index(4000, high=9001), t(4000)]),
}

ATTENTION = """def model(q, k, v, g):
    y = F.scaled_dot_product_attention(q.requires_grad_(), k.requires_grad_(), v.requires_grad_(), is_causal=%s)
    return (y.detach(),) + torch.autograd.grad(y, (q, k, v), g)
"""
ATTENTION_TORCH = """def model(q, k, v, g):
    with torch.enable_grad():
        y = F.scaled_dot_product_attention(q.requires_grad_(), k.requires_grad_(), v.requires_grad_(), is_causal=%s)
        return (y.detach(),) + torch.autograd.grad(y, (q, k, v), g)
"""
DECODE = """def model(q, keys, values, i, k, v):
    keys.index_copy_(2, i, k)
    values.index_copy_(2, i, v)
    return F.scaled_dot_product_attention(q, keys, values)
"""


def attention_grad(causal, *shape):
    return ATTENTION % causal, ATTENTION_TORCH % causal, [h(*shape)] * 4


TRAINED = {
    "attention_grad": attention_grad(False, 6, 12, 1000, 64),
    "attention_grad_causal": attention_grad(True, 4, 16, 1500, 64),
    "attention_grad_128": attention_grad(True, 2, 16, 1100, 128),
    "attention_grad_80": attention_grad(False, 3, 10, 700, 80),
    "odd_hidden": ("def model(x, w, b, u):\n    return F.linear(F.gelu(F.linear(x, w, b)), u)\n", None, [h(6000, 1024), h(3001, 1024), h(3001), h(512, 3001)]),
    "odd_classes": ("def model(x, w, i):\n    return F.cross_entropy(F.linear(x, w), i)\n", None, [h(4000, 1024), h(32003, 1024), index(4000, high=32003)]),
    "decode": (DECODE, None, [h(16, 32, 1, 128), h(16, 32, 900, 128), h(16, 32, 900, 128), index(1, high=900), h(16, 32, 1, 128), h(16, 32, 1, 128)]),
}
