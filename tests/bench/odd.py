"""tests/bench/odd.py -- blocks at odd sizes for limit.py: OPEN ones, which may be tuned for, and KEPT ones,
which are measured once nothing is changed any more; FOLDS and FOLDS_KEPT, of what is folded or looked
for along some dim, likewise.  name: (source, PyTorch's or None, inputs)."""
from blocks import h, index, mask, t

OPEN = {
    "sums_of_many_places": ("def model(i, s):\n    return torch.zeros(70000, 96, device=s.device).scatter_add(0, i, s)\n", None,
                            [index(150000, 96, high=70000), t(150000, 96)]),
    "lookup_backward": ("def model(w, i, g):\n    y = F.embedding(i, w.requires_grad_())\n    return torch.autograd.grad(y, w, g)\n",
                        "def model(w, i, g):\n    return torch.ops.aten.embedding_dense_backward(g, i, 31000, -1, False)\n",
                        [t(31000, 640), index(37, 211, high=31000), t(37, 211, 640)]),
    "grouped_row": ("def model(q, k, v):\n    return F.scaled_dot_product_attention(q, k, v, enable_gqa=True)\n", None,
                    [h(23, 40, 1, 128), h(23, 8, 1777, 128), h(23, 8, 1777, 128)]),
    "softmax_777": ("def model(x):\n    return torch.softmax(x, -1)\n", None, [h(19000, 777)]),
    "rms_norm_2999": ("def model(x, w):\n    f = x.float()\n    return (f * torch.rsqrt(f.pow(2).mean(-1, keepdim=True) + 1e-6)).to(x.dtype) * w\n", None,
                      [h(7001, 2999), h(2999)]),
    "conv_down_80": ("def model(x, w, b):\n    return F.relu(F.conv2d(x, w, b, 2, 1))\n", None, [h(24, 80, 97, 97), h(152, 80, 3, 3), h(152)]),
    "segment_mean": ("def model(i, s):\n    n = torch.zeros(9000, device=s.device).index_add(0, i, torch.ones_like(s[:, 0]))\n"
                     "    return torch.zeros(9000, 48, device=s.device).index_add(0, i, s) / n.clamp(min=1)[:, None]\n", None,
                     [index(210000, high=9000), t(210000, 48)]),
    "group_norm_9": ("def model(x, w, b, y):\n    return F.silu(F.group_norm(x, 9, w, b)) + y\n", None, [t(11, 72, 57, 61), t(72), t(72), t(11, 72, 57, 61)]),
    "cumsum_columns": ("def model(x):\n    return torch.cumsum(x, 0)\n", None, [t(3001, 777)]),
    "transposed_out": ("def model(x, w, b):\n    return F.relu(F.conv_transpose2d(x, w, b, 2, 1, 1))\n", None, [h(9, 112, 45, 51), h(112, 56, 3, 3), h(56)]),
}

KEPT = {
    "sums_along_rows": ("def model(x, i, s):\n    return torch.scatter_add(x, 1, i, s)\n", None, [t(2500, 3000), index(2500, 9000, high=3000), t(2500, 9000)]),
    "put_rows_16_bits": ("def model(w, i, g):\n    return w.index_put((i,), g, accumulate=True)\n", None, [h(20011, 256), index(90001, high=20011), h(90001, 256)]),
    "three_rows_masked": ("def model(q, k, v, m):\n    return F.scaled_dot_product_attention(q, k, v, attn_mask=m)\n", None,
                          [h(5, 16, 3, 96), h(5, 16, 3001, 96), h(5, 16, 3001, 96), mask(5, 1, 1, 3001)]),
    "log_softmax_41": ("def model(x):\n    return torch.log_softmax(x, -1)\n", None, [t(160001, 41)]),
    "layer_norm_129": ("def model(x, w, b):\n    return F.layer_norm(x, (129,), w, b)\n", None, [t(93333, 129), t(129), t(129)]),
    "conv_5x5_down": ("def model(x, w, b):\n    return F.hardswish(F.conv2d(x, w, b, 2, 2))\n", None, [h(40, 48, 75, 75), h(96, 48, 5, 5), h(96)]),
    "moments": ("def model(x):\n    return x.mean((0, 2, 3)), x.var((0, 2, 3), unbiased=False)\n", None, [t(40, 129, 31, 33)]),
    "squares_333": ("def model(x):\n    return x.float().square().sum(-1)\n", None, [h(70001, 333)]),
    "edges_softmax": ("def model(e, i):\n    a = e.exp()\n    d = torch.zeros(30011, 7, device=e.device).index_add(0, i, a)\n    return a / d[i]\n", None,
                      [t(500003, 7), index(500003, high=30011)]),
    "most_of_columns": ("def model(x):\n    return x.max(1)\n", None, [t(257, 300, 333)]),
}

FOLDS = {
    "argmax_middle_16_bits": ("def model(x):\n    return x.argmax(1)\n", None, [h(129, 777, 515)]),
    "least_of_columns": ("def model(x):\n    return x.min(0)\n", None, [t(70001, 77)]),
    "layer_norm_59": ("def model(x, w, b):\n    return F.layer_norm(x, (59,), w, b)\n", None, [t(210007, 59), t(59), t(59)]),
    "argmax_of_all": ("def model(x):\n    return x.argmax()\n", None, [t(41, 999, 777)]),
    "log_sums_201": ("def model(x):\n    return torch.logsumexp(x.float(), -1)\n", None, [h(90001, 201)]),
}

FOLDS_KEPT = {
    "nearest_centre": ("def model(x, c):\n    return (x[:, None] - c[None]).square().sum(-1).argmin(1)\n", None, [t(4001, 33), t(517, 33)]),
    "most_of_columns_16_bits": ("def model(x):\n    return x.max(1)\n", None, [h(91, 417, 300)]),
    "softmax_dim_1": ("def model(x):\n    return torch.softmax(x, 1)\n", None, [t(333, 19, 4099)]),
    "unit_rows_95": ("def model(x):\n    return F.normalize(x, dim=-1)\n", None, [t(123457, 95)]),
    "accuracy": ("def model(x, y):\n    return (x.argmax(-1) == y).float().mean()\n", None, [h(50021, 1003), index(50021, high=1003)]),
}
