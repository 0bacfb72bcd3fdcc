"""tests/oracle/own_programs.py -- small programs on the edges of the language and the ops.

Each row: name, inputs of each call, body of the source after `import torch`.
An input is a dtype letter with a shape and a kind ("f 2,3": float32 [2, 3];
d float64, i int64, b bool) or a Python value.  record.py runs them on PyTorch
and writes own_cases.json, which replay.py replays.
"""
import random

LETTERS = {"f": "float32", "d": "float64", "i": "int64", "b": "bool"}


def m(body, args="x"):
    """A model of the given body lines, separated by ';'."""
    return "def model(%s):\n" % args + "".join("    %s\n" % line.strip(" ") for line in body.split(";"))


PROGRAMS = [
    ("unary_many", [["f 3,5"]], m("return (x.sin() + x.cos(), x.exp(), x.abs().log1p(), torch.tanh(x), torch.sigmoid(x), torch.erf(x), torch.exp2(x), torch.expm1(x))")),
    ("unary_steps", [["f 3,5"]], m("y = x * 3; return [y.floor(), y.ceil(), y.round(), y.sign(), torch.relu(y), y.square(), (y * 0.5).round()]")),
    ("unary_float64", [["d 7"]], m("return (x.sin(), x.exp(), x.abs().sqrt(), x.abs().rsqrt(), x.reciprocal(), x.tan(), x.abs().log2())")),
    ("unary_int_to_float", [["i 6"]], m("return (x.sin(), x.exp(), torch.sigmoid(x), torch.sqrt(x * x), x.abs(), -x, x.sign(), x.square())")),
    ("edges_of_float", [[]], m("x = torch.tensor([0.0, -0.0, 1e30, -1e30, float('inf'), -float('inf'), float('nan'), 1e-40]); return (x * 10, x / 0.0, torch.relu(x), x.sign(), x.isnan(), torch.tanh(x), torch.exp(x), x.floor(), x.abs())", "")),
    ("nan_in_minmax", [[]], m("x = torch.tensor([1.0, float('nan'), 3.0]); y = torch.tensor([2.0, 2.0, float('nan')]); return (torch.minimum(x, y), torch.maximum(x, y), x.clamp(0, 2), x.amax(dim=0), y.amin(), x.max(), torch.where(x > y, x, y), x == x)", "")),
    ("sum_all", [["f 4,5"]], m("return x.sum()")),
    ("sum_dims", [["f 2,3,4"]], m("return x.sum(0), x.sum(1), x.sum(2), x.sum(-1), x.sum(-3), x.sum((0, 2)), x.sum(dim=(1, -1)), x.sum(dim=[0, 1, 2])")),
    ("sum_keepdim", [["f 2,3,4"]], m("return x.sum(0, keepdim=True), x.sum((0, 2), True), x.sum(dim=(-1, -2), keepdim=True), x.mean(1, keepdim=True)")),
    ("sum_dtypes", [["i 4,3", "b 4,3", "d 4,3"]], m("return i.sum(), b.sum(0), d.sum(1), i.sum(dtype=torch.float32), b.sum(dtype=torch.float64), d.sum(dim=0, dtype=torch.float32)", "i, b, d")),
    ("mean_var_std", [["f 5,6"]], m("return x.mean(), x.mean(0), x.var(), x.var(1), x.var(dim=1, unbiased=False), x.std(0), x.std(dim=-1, keepdim=True), torch.var(x, dim=0, correction=0), torch.std(x, 1, correction=2)")),
    ("amax_amin", [["f 3,4,2"]], m("return x.amax(), x.amin(0), x.amax((0, 1)), x.amin(dim=(1, 2), keepdim=True), x.max(), x.min(), x.amax(-1)")),
    ("prod_any_all", [["f 3,4", "b 3,4"]], m("return x.prod(), x.prod(1), x.prod(0, keepdim=True), b.any(), b.all(), b.any(0), b.all(dim=1), (x > 0).any(1, keepdim=True), x.any(), b.prod()", "x, b")),
    ("reduce_int", [["i 4,5"]], m("return x.sum(1), x.prod(0), x.amax(1), x.amin(), x.max(), x.any(1), x.all(), x.sum(dim=(0, 1), keepdim=True)")),
    ("norms", [["f 4,5"]], m("return torch.norm(x), x.norm(dim=1), x.norm(1, dim=0), x.norm(p=float('inf'), dim=1, keepdim=True), x.norm(2, (0, 1))")),
    ("softmaxes", [["f 3,7"]], m("return torch.softmax(x, dim=-1), x.softmax(0), F.log_softmax(x, dim=1), F.softmax(x * 50, dim=-1), x.softmax(-1, dtype=torch.float64)").replace("def", "import torch.nn.functional as F\ndef", 1)),
    ("norm_layers", [["f 2,3,8", "f 8", "f 8"]], m("return F.layer_norm(x, (8,), g, b), F.layer_norm(x, [3, 8]), F.rms_norm(x, (8,), g, 1e-6), F.rms_norm(x, (8,)), F.layer_norm(x, (8,), eps=0.1)", "x, g, b").replace("def", "import torch.nn.functional as F\ndef", 1)),
    ("activations", [["f 4,9"]], m("return F.gelu(x), F.gelu(x, approximate='tanh'), F.silu(x), F.relu(x), F.sigmoid(x), F.tanh(x)").replace("def", "import torch.nn.functional as F\ndef", 1)),
    ("broadcast_outer", [["f 4,1", "f 5"]], m("return a + b, a * b - b, torch.maximum(a, b), (a < b).sum(), (a * b).sum(0), (a - b).amax(1, keepdim=True)", "a, b")),
    ("broadcast_ranks", [["f 2,1,4", "f 3,1", "f"]], m("return a + b + c, a * c, (b - c).sum(), (a * b).mean((0, 2)), torch.where(a > c, a, b)", "a, b, c")),
    ("size_one_dims", [["f 1,1", "f 3,1", "f 1,4"]], m("return a + b, b * c, a.sum(0), b.sum(1), c.sum(0, keepdim=True), (a + b + c).mean(), c.softmax(0), a.var(dim=0, unbiased=False)", "a, b, c")),
    ("zero_dim_tensors", [["f", "d", "i"]], m("return x + 1, x + d, x * i, d * i, x.sum(), x.mean(), x.sin(), x.amax(), x.sum(dim=0), i + 1, i / 2, x.softmax(0)", "x, d, i")),
    ("empty_tensors", [["f 0", "f 0,3", "f 3,0"]], m("return a + 1, a.sum(), b.sum(0), b.sum(1), c.sum(1), c.prod(1), a.mean(), (a > 0).all(), (a > 0).any(), b * 2, c.mean(1), b.sin().sum((0, 1))", "a, b, c")),
    ("empty_broadcast", [["f 0,3", "f 3", "f 1,3"]], m("return a + b, a * c, (a + c).sum(0), torch.where(a > 0, a, b), b.softmax(0), a.softmax(-1)", "a, b, c")),
    ("promote_pairs", [["f 3", "d 3", "i 3", "b 3"]], m("return f + d, f + i, f * b, d * i, i + b, b + b, b * b, i / i.abs().clamp(min=1), b / (i * 0 + 1), f == i, i < d", "f, d, i, b")),
    ("promote_scalars", [["f 3", "i 3", "b 3"]], m("return f + 1, f * 2.5, i + 1, i + 1.5, i * True, b + 1, b + 1.5, b * True, i / 2, 1 / f, 2 - i, i ** 2, 2.0 ** i, f ** 2, i // 2, f // 0.5, -i % 3, f % 0.7", "f, i, b")),
    ("promote_zero_dim", [["f 3", "i 3", "d"]], m("return f + d, i + d, d + f.sum(), f * torch.tensor(2), i * torch.tensor(2.5), i + torch.tensor(True), torch.tensor(3) / torch.tensor(2)", "f, i, d")),
    ("floor_and_mod", [["f 8", "i 8"]], m("return x // 0.3, x % 0.3, -x // 2, x % -2, i // 3, i % 3, i // -3, i % -3, torch.remainder(i, 4), torch.floor_divide(i, 2), 7 // (i.abs() + 1), 7 % (i.abs() + 1)", "x, i")),
    ("powers", [["f 6", "i 6"]], m("a = x.abs() + 0.1; return a ** 0.5, a ** -1, a ** 3, x ** 2, x ** 3, 2 ** x, i ** 3, torch.pow(a, a), torch.pow(2, i), a ** x, i ** 0, x ** 0, a ** -0.5, a ** 2.5", "x, i")),
    ("compare_logic", [["f 5", "i 5", "b 5"]], m("c = (f > 0) & b; d = (i >= 1) | ~b; return c, d, c ^ d, torch.logical_and(f, i), torch.logical_not(i), torch.logical_or(c, f), f != 0, 0 < f, i == 2, torch.logical_xor(b, f)", "f, i, b")),
    ("bitwise_ints", [["i 6", "i 6"]], m("return a & b, a | b, a ^ b, ~a, a & 3, a | 1, torch.bitwise_and(a, 6), a ^ True", "a, b")),
    ("where_kinds", [["f 3,4", "f 4", "i 3,4"]], m("return torch.where(x > 0, x, 0.0), torch.where(x > y, x, y), torch.where(i > 0, 1, i), torch.where(i > 0, i, x), torch.where(x > 0, 1.0, -1.0), torch.where(x.isnan(), 0, 1), torch.where(x > 0, y, 2)", "x, y, i")),
    ("clamp_kinds", [["f 3,4", "f 4", "i 5"]], m("return x.clamp(min=0), x.clamp(max=0.5), x.clamp(-0.1, 0.1), torch.clamp(x, min=y), x.clip(y, y + 1), i.clamp(0, 2), i.clamp(min=0.5), x.clamp(1, -1), torch.clip(x, 0, None)", "x, y, i")),
    ("alpha_forms", [["f 3", "i 3"]], m("return torch.add(x, i, alpha=2), torch.sub(x, 1, alpha=0.5), x.add(i), x.sub(i, alpha=3), torch.add(i, i, alpha=2), torch.mul(x, 3), torch.div(x, i.abs() + 1), torch.true_divide(i, 2)", "x, i")),
    ("casts", [["f 5", "i 5", "b 5"]], m("return (x * 3).to(torch.int64), i.to(torch.float32) / 3, b.to(torch.int64), x.to(torch.bool), x.to(torch.float64) * 2, (x > 0).to(torch.float32).sum(), x.double(), i.float(), x.long(), i.bool()", "x, i, b")),
    ("type_as_text", [["f 4"]], m("y = x.to(dtype=torch.float64); return y, y.dtype == torch.float64, x.type(torch.float64), x.to(torch.float32)")),
    ("sizes", [["f 3,4"], ["f 5,4"]], m("n = x.shape[0]; k = x.size(-1); return x * n + k, x.sum() / (n * k), x.numel(), x.dim(), x.ndim, len(x.shape), x.shape[1]")),
    ("sizes_in_python", [["f 3,4"], ["f 6,4"], ["f 7,2"]], m("n, k = x.shape; s = 0.0\n    for i in range(k):\n        s = s + i; y = x * s; y = y / n; return y, n // 2, n * k")),
    ("if_on_size", [["f 3,4"], ["f 30,4"], ["f 40,4"], ["f 2,4"]], "def model(x):\n    if x.shape[0] > 10:\n        return x.sin().sum()\n    return x.cos().sum()\n"),
    ("changing_rank", [["f 3,4"], ["f 4"], ["f 2,3,4"], ["f"], ["f 3,4"]], m("return (x * 2 + 1).sum()")),
    ("changing_dtype", [["f 4"], ["d 4"], ["i 4"], ["b 4"], ["f 4"]], m("return x + 1, x * x")),
    ("sizes_to_one", [["f 4,3"], ["f 1,3"], ["f 0,3"], ["f 5,3"]], m("return (x + 1).sum(0), x * 2")),
    ("two_dims_move", [["f 4,4"], ["f 4,5"], ["f 6,5"], ["f 7,7"]], m("return x.softmax(1) + x.mean(0)")),
    ("two_inputs_equal", [["f 4", "f 4"], ["f 5", "f 5"], ["f 6", "f 1"], ["f 6", "f 6"]], m("return x + y", "x, y")),
    ("scalar_argument", [["f 4", 2], ["f 4", 2], ["f 4", 3], ["f 4", 0], ["f 4", 1]], m("return x * k + 1", "x, k")),
    ("float_argument", [["f 4", 2.5], ["f 4", 2.5], ["f 4", 3.5]], m("return x * k", "x, k")),
    ("bool_argument", [["f 4", True], ["f 4", False], ["f 4", True]], "def model(x, up):\n    if up:\n        return x + 1\n    return x - 1\n"),
    ("string_argument", [["f 4", "a"], ["f 4", "b"], ["f 4", "a"]], "def model(x, how):\n    if how == 'a':\n        return x.sin()\n    else:\n        return x.cos()\n"),
    ("none_argument", [["f 4", None], ["f 4", 2.0], ["f 4", None]], "def model(x, k):\n    if k is None:\n        k = 1.0\n    return x * k\n"),
    ("helpers", [["f 3,4"]], "def f(x, k=2):\n    return x * k\n\ndef g(x, *, scale=0.5, shift=1):\n    return f(x, k=3) * scale + shift\n\ndef model(x):\n    return g(f(x), shift=2) + g(x, scale=2.0)\n"),
    ("closures", [["f 4"]], "def make(k):\n    def inner(x):\n        return x * k + base\n    base = 0.5\n    return inner\n\ndef model(x):\n    fs = [make(1), make(2.0), make(3)]\n    y = x\n    for f in fs:\n        y = f(y)\n    return y\n"),
    ("nonlocal_count", [["f 4"]], "def model(x):\n    n = 0\n    def step(y):\n        nonlocal n\n        n += 1\n        return y * n\n    return step(step(step(x))), n\n"),
    ("lambdas", [["f 4"]], "twice = lambda f, x: f(f(x))\n\ndef model(x):\n    return twice(lambda y: y.sin() + 1, x), (lambda a, b=2: a * b)(x)\n"),
    ("constants", [["f 4"]], "import math\nSCALE = 1 / math.sqrt(8)\nNAMES = ('sin', 'cos')\nTABLE = {'a': 2, 'b': [1.0, 2.0]}\n\ndef model(x):\n    y = x * SCALE + math.pi + TABLE['a']\n    for n in NAMES:\n        y = y + len(n) if n == 'sin' else y * TABLE['b'][1]\n    return y\n"),
    ("loops", [["f 4"]], "def model(x):\n    i = 0\n    y = x\n    while True:\n        i += 1\n        if i == 3:\n            continue\n        if i > 5:\n            break\n        y = y + i\n    else:\n        y = y * 100\n    for a, b in ((1, 2), (3, 4)):\n        y = y * a + b\n    for i in range(10, 0, -3):\n        y = y - i\n    for k in []:\n        pass\n    else:\n        y = y * 2\n    return y\n"),
    ("lists_and_dicts", [["f 4"]], "def model(x):\n    parts = []\n    for i in range(3):\n        parts.append(x * i)\n    d = {'a': parts[0], 'b': parts[-1] + parts[1]}\n    d['c'] = sum(parts)\n    total = x\n    for k, v in d.items():\n        total = total + v\n    return {'total': total, 'parts': parts, 'nested': (d['b'], [x.sum(), {'k': len(d)}])}\n"),
    ("outputs_mixed", [["f 3"]], m("return (x, [x + 1, 2, 2.5, True, None, 'text'], {'y': x * 2, 'n': x.shape[0]}, (), x.sum())")),
    ("output_is_input", [["f 3", "f 3"]], m("return x, y, x", "x, y")),
    ("output_scalar", [["f 3"], ["f 5"]], m("return 7 + x.shape[0]")),
    ("output_none", [["f 3"]], m("y = x + 1; return None")),
    ("no_inputs", [[], []], m("return torch.ones(2, 3) * 2 + torch.zeros(3) + torch.full((2, 1), 0.5)", "")),
    ("creation", [["f 2,3"]], m("return torch.zeros_like(x) + 1, torch.ones_like(x, dtype=torch.int64), torch.full((2,), 3), torch.full([2, 2], 1.5), torch.zeros((2, 3), dtype=torch.bool), torch.ones(3, dtype=torch.float64), torch.tensor([[1, 2], [3, 4]]), torch.tensor([1.0, 2]), torch.tensor([True, False]), torch.tensor(2.5), torch.tensor([1, 2], dtype=torch.float32)")),
    ("constants_folded", [["f 3"]], m("c = torch.tensor([1.0, 2.0, 3.0]) * 2 + 1; return x + c.sum(), x * c, c")),
    ("chained_compare", [["f 4"]], "def model(x):\n    n = x.shape[0]\n    if 0 < n <= 4 and not n == 3 or False:\n        x = x + 1\n    elif n > 10:\n        x = x - 1\n    y = x if n % 2 == 0 else -x\n    return y * (1 if n in (1, 2, 4) else 2)\n"),
    ("unpacking", [["f 4", "f 4"]], "def pair(a, b):\n    return a + b, a - b\n\ndef model(x, y):\n    s, d = pair(x, y)\n    (a, b), c = (s, d), x\n    a, b = b, a\n    return a * 2 + b, c\n"),
    ("same_twice", [["f 4"]], m("a = x.sin() + 1; b = x.sin() + 1; return a * b, a - b, x.sin()")),
    ("dead_code", [["f 4"]], m("y = x.exp(); z = y * 2; y = x + 1; return y")),
    ("reduce_then_broadcast", [["f 6,9"]], m("m = x.mean(dim=1, keepdim=True); v = x.var(dim=1, keepdim=True, unbiased=False); y = (x - m) / (v + 1e-5).sqrt(); z = y - y.amax(0); return z.exp() / z.exp().sum(0), z")),
    ("reduce_of_reduce", [["f 4,5,6"]], m("a = x.sum(2); b = a.amax(1, keepdim=True); c = (a / b).sum(); return a, b, c, (x * c).mean((0, 1)), x.sum(0).sum(0).sum()")),
    ("cumsums", [["f 3,5", "i 4", "b 4"]], m("return x.cumsum(0), x.cumsum(-1), torch.cumsum(i, 0), b.cumsum(0), x.cumsum(1).sin().sum(0), torch.cumsum(x, dim=1, dtype=torch.float64)", "x, i, b")),
    ("long_rows", [["f 3,1100"]], m("return x.sum(1), x.mean(0), x.amax(1), x.softmax(1).sum(1), (x - x.mean(1, keepdim=True)).std(1), x.sum()")),
    ("long_columns", [["f 1100,3"]], m("return x.sum(0), x.var(0), x.softmax(0).amax(0), x.sum(1).mean(), (x > 0).sum(0), x.amin(0, keepdim=True)")),
    ("middle_dim", [["f 3,70,5"]], m("return x.sum(1), x.softmax(1).sum(1), x.mean((0, 2)), x.amax(1, keepdim=True) - x.amin(1, keepdim=True)")),
    ("int_wrap", [["i 4"]], m("big = x * 0 + 9223372036854775807; return big + 1, big * 2, -big - 1, (big // 2) * 3")),
    ("double_precision", [["d 5"]], m("return x + 1e-12 - x, x * 0.1, (x * 1e200) * 1e-200, torch.tensor(0.1) + x, x.sum() / 3")),
    ("float_rounding", [["f 9"]], m("y = x * 0.1 + 0.2; y = y * 3.3333333 - x / 3; return y, (y * 16777217.0).sum(), x * 1e-38 * 1e-5")),
    ("atan2_and_friends", [["f 8", "f 8"]], m("return torch.atan2(x, y), torch.log(x.abs()), torch.log2(x.abs() + 1), torch.tan(x), torch.rsqrt(x * x + 1), torch.reciprocal(y)", "x, y")),
    ("large_arguments", [["f 8"]], m("return (x * 1000).sin(), (x * 100000).cos(), (x * 40).exp(), torch.sigmoid(x * 100), torch.tanh(x * 30), torch.erf(x * 5)")),
    ("augmented_locals", [["f 4"]], m("y = x + 0; y = y * 2; y -= 1; y *= y; y /= 3; n = 2; n **= 3; n //= 3; y = y + n; return y")),
    ("augmented_input", [["f 4", "f 4"]], m("x += 1; x *= y; return x.sum()", "x, y")),
    ("augmented_alias", [["f 4"]], m("y = x; y += 1; z = y * 2; x -= 3; return y, z")),
    ("augmented_twice", [["f 4"], ["f 4"], ["f 6"]], m("x += 1; s = x.sum(); x /= 2; return s + x.sum()")),
    ("print_sizes", [["f 4"]], m("return str(x.shape[0]) + '!', max(3, 5), min([4, 2]), abs(-3), round(2.5), int(3.9), float(2), bool(0), 7 // 2, -7 // 2, -7 % 3, 2 ** 10, 1e3, 5 / 2")),
    ("sizes_as_text", [["f 4,3"], ["f 5,3"]], m("n = x.shape[0]; return str(n * 2) + repr([n, (n,)]), 'a' * n, ','.join([str(n)])")),
    ("sizes_as_keys", [["f 4,3"], ["f 5,3"]], m("n, k = x.shape; d = {4: 'four', 5: 'five', 3: 'three'}; return d[n], d.get(k), n in d, n == 4, [10, 20, 30, 40, 50, 60][n], (1, 2, 3).index(k), x.shape == (4, 3), tuple(x.shape), list(x.shape)")),
    ("sizes_in_math", [["f 4,3"], ["f 9,3"]], "import math\n\ndef model(x):\n    n, k = x.shape\n    return x / math.sqrt(n), max(n, k), min(x.shape), sum(x.shape), abs(-n), n ** 2, n / k, float(n), int(n), bool(n), math.floor(n / 2), n % 2 == 0, n << 1, -n, math.prod(x.shape), round(n / 3, 2)\n"),
    ("sizes_make_tensors", [["f 4,3"], ["f 9,3"]], m("n, k = x.shape; return torch.zeros(n, k) + x, torch.full((k,), n), torch.ones(n).sum(), torch.tensor(n), torch.tensor([n, k]), x * torch.tensor(1.0 * n), F.layer_norm(x, (k,)), x.clamp(-n, n), x.sum(k - 2)").replace("def", "import torch.nn.functional as F\ndef", 1)),
    ("slices_of_shape", [["f 4,3,2"], ["f 5,3,2"]], m("s = x.shape; return s[0], s[1:], s[-1], s[:-1] + (7,), len(s[1:]), x.size(), x.size(dim=1), x.mean(tuple(range(1, x.dim())))")),
    ("default_arguments", [["f 4"]], "K = 3\ndef f(x, k=K, *, flag=None):\n    if flag is not None:\n        return x * flag\n    return x + k\n\ndef model(x, scale=2.0, how='up'):\n    return f(x), f(x, 1), f(x, flag=2), f(k=5, x=x), x * scale, how\n"),
    ("recursion", [["f 4"]], "def f(x, n):\n    return x if n == 0 else f(x * 0.5 + n, n - 1)\n\ndef model(x):\n    return f(x, 20)\n"),
    ("isinstance_checks", [["f 4", 3]], "def model(x, k):\n    if isinstance(x, torch.Tensor) and isinstance(k, int):\n        return x * k\n    return x\n"),
    ("zip_enumerate", [["f 4"]], "def model(x):\n    for i, (a, b) in enumerate(zip([1, 2, 3], (0.5, 0.25))):\n        x = x * a + b * i\n    for j in reversed(range(3)):\n        x = x - j\n    for n in sorted([3, 1, 2]):\n        x = x * n\n    return x\n"),
    ("keywords_out_of_order", [["f 2,3"]], m("return torch.sum(keepdim=True, dim=1, input=x), torch.softmax(dim=0, input=x), torch.clamp(input=x, max=1, min=0), torch.where(condition=x > 0, input=x, other=-x), torch.mul(input=x, other=2)")),
]


def f(body, args="x"):
    """As m(), with F and math."""
    return "import math\nimport torch.nn.functional as F\n" + m(body, args)


PROGRAMS += [
    ("matmul_shapes", [["f 3,4", "f 4,5", "f 4", "f 2,3,4", "f 2,4,3"]], m("return a @ b, a @ v, v @ b, v @ v, torch.matmul(c, d), c @ b, torch.mm(a, b), torch.bmm(c, d), torch.mv(a, v), torch.dot(v, v), a.matmul(b)", "a, b, v, c, d")),
    ("matmul_broadcast", [["f 2,1,3,4", "f 5,4,2"]], m("return a @ b, (a @ b).shape, torch.matmul(b.transpose(-1, -2), a.transpose(-1, -2))", "a, b")),
    ("matmul_transposed", [["f 17,9", "f 17,13"]], m("return a.t() @ b, b.T @ a, a.transpose(0, 1).matmul(b), (a.t() @ b).t()", "a, b")),
    ("matmul_dtypes", [["d 3,4", "d 4,2", "i 3,4", "i 4,2"]], m("return a @ b, i @ j, torch.addmm(torch.ones(3, 2, dtype=torch.float64), a, b, alpha=2, beta=3)", "a, b, i, j")),
    ("matmul_large", [["f 65,130", "f 130,67"]], m("return (a @ b).sum(0), (a @ b)[3, :5]", "a, b")),
    ("linear_forms", [["f 2,3,8", "f 5,8", "f 5"]], f("return F.linear(x, w, b), F.linear(x, w), F.relu(F.linear(x[0], w, b)), F.linear(x[0, 0], w, b)", "x, w, b")),
    ("outer_einsum", [["f 3", "f 4", "f 2,3,4", "f 2,4,5"]], m("return torch.outer(a, b), torch.einsum('i,j->ij', a, b), torch.einsum('bij,bjk->bik', c, d), torch.einsum('bij->bj', c), torch.einsum('bij,bij->b', c, c)", "a, b, c, d")),
    ("activations_all", [["f 4,5"]], f("return F.elu(x), F.selu(x), F.leaky_relu(x, 0.1), F.relu6(x * 4), F.hardtanh(x), F.hardswish(x * 3), F.hardsigmoid(x * 3), F.mish(x), F.softplus(x), F.logsigmoid(x), F.silu(x), F.gelu(x, approximate='tanh'), F.softsign(x), F.tanhshrink(x), F.celu(x)")),
    ("softmax_forms", [["f 3,4,5"]], f("return F.softmax(x, -1), torch.log_softmax(x, 1), F.softmin(x, dim=0), torch.logsumexp(x, dim=(0, 2)), x.logsumexp(-1, keepdim=True), F.softmax(x, dim=2, dtype=torch.float64)")),
    ("norm_forms", [["f 4,6,5", "f 6", "f 6"]], f("return F.group_norm(x, 3, w, b), F.batch_norm(x, torch.zeros(6), torch.ones(6), w, b, False), F.normalize(x, dim=1), F.layer_norm(x, (6, 5)), F.cosine_similarity(x[0], x[1], dim=1), F.instance_norm(x)", "x, w, b")),
    ("batch_norm_training", [["f 5,3,4", "f 3", "f 3"]], f("m = torch.zeros(3); v = torch.ones(3); y = F.batch_norm(x, m, v, w, b, True, 0.1); return y, m, v", "x, w, b")),
    ("losses", [["f 4,5", "f 4,5"]], f("p = torch.sigmoid(x); t = torch.sigmoid(y); return F.mse_loss(x, y), F.l1_loss(x, y, reduction='sum'), F.smooth_l1_loss(x, y), F.huber_loss(x, y, delta=0.5), F.binary_cross_entropy(p, t), F.binary_cross_entropy_with_logits(x, t), F.kl_div(torch.log(p), t, reduction='batchmean'), F.mse_loss(x, y, reduction='none')", "x, y")),
    ("cross_entropy_forms", [["f 4,5", "i 4"]], f("t = i.abs() % 5; return F.cross_entropy(x, t), F.cross_entropy(x, t, reduction='none'), F.cross_entropy(x, t, label_smoothing=0.1), F.nll_loss(F.log_softmax(x, 1), t), F.cross_entropy(x, t, weight=torch.tensor([1.0, 2.0, 0.5, 1.0, 3.0])), F.cross_entropy(x, t, ignore_index=2, reduction='sum'), F.cross_entropy(x, torch.softmax(x, 1))", "x, i")),
    ("embedding_forms", [["i 2,3", "f 10,4"]], f("i = ids.abs(); return F.embedding(i, w), F.one_hot(i, 10), w[i], w[i[0]], F.embedding(i, w).sum(1)", "ids, w")),
    ("attention_sdpa", [["f 2,2,5,4", "f 2,2,5,4", "f 2,2,5,4"]], f("return F.scaled_dot_product_attention(q, k, v), F.scaled_dot_product_attention(q, k, v, is_causal=True), F.scaled_dot_product_attention(q, k, v, attn_mask=torch.zeros(5, 5))", "q, k, v")),
    ("dropout_off", [["f 3,4"]], f("return F.dropout(x, 0.5, training=False), F.dropout(x, 0.0), F.dropout(x, p=0.3, training=False) + 1")),
    ("views_many", [["f 2,3,4"]], m("return x.view(6, 4), x.reshape(-1, 2), x.permute(2, 0, 1), x.transpose(0, 2), x.flatten(), x.flatten(1), x.unsqueeze(1), x.unsqueeze(-1).squeeze(-1), x[None].squeeze(), x.movedim(0, 2), x.swapaxes(0, 1), x.unflatten(2, (2, 2)), x.view(2, -1).t(), x.mT")),
    ("expands", [["f 3,1", "f 4"]], m("return a.expand(3, 5), a.expand(-1, 2) + 1, a.expand(2, 3, 4), b.expand_as(torch.ones(2, 4)), torch.broadcast_to(b, (3, 4)), a.repeat(2, 3), b.repeat(2, 1), b.tile(2), a.expand(3, 4) * b, torch.broadcast_tensors(a, b)[0]", "a, b")),
    ("subscripts", [["f 4,5,6"]], m("return x[0], x[-1, 2], x[1:3], x[:, ::2], x[..., -1], x[:, None, 1], x[1, 2, 3], x[..., 1:4:2], x[2:, :3, -2:], x[:, -3:-1], x[5:], x[0, ...], x[None, ..., None].shape, x[1:2, 0], x[(1, 2)]")),
    ("index_tensors", [["f 5,6", "i 4", "i 4"]], m("i = i % 5; j = j % 6; return x[i], x[i, j], x[:, j], x[i[:2], 1:3], x[[0, 2]], x[i.view(2, 2)], x[-1, j], x[i][:, j].shape", "x, i, j")),
    ("joins", [["f 2,3", "f 2,3"]], m("return torch.cat([a, b]), torch.cat((a, b, a), dim=1), torch.stack([a, b]), torch.stack([a, b], dim=-1), torch.hstack([a, b]), torch.vstack([a, b]), torch.concat([a, b], -1), torch.cat([a, b * 2 + 1], 0).sum(0)", "a, b")),
    ("splits", [["f 6,4"]], m("a, b, c = x.chunk(3); return a + b * c, x.split(4)[1], x.split([1, 2, 3])[2], torch.chunk(x, 4, dim=0)[-1], x.unbind(1)[2], torch.split(x, 3, dim=1)[1], [p.sum() for p in x.chunk(2, dim=1)], x.tensor_split(4)[0]")),
    ("rearrange", [["f 3,4"]], m("return x.flip(0), torch.flip(x, (0, 1)), x.roll(1, 0), x.roll(2), torch.roll(x, (1, -1), (0, 1)), x.tril(), x.triu(1), x.diagonal(), torch.diag(x[0]), torch.tril(torch.ones(3, 3), -1), x.rot90(), x.T.contiguous()")),
    ("gathers", [["f 4,5", "i 4,2", "i 3"]], m("i = i.abs() % 5; j = j.abs() % 5; return x.gather(1, i), torch.index_select(x, 1, j), x.index_select(0, j % 4), torch.take_along_dim(x, i, 1), x.masked_fill(x > 0, -1.0), x.scatter(1, i, 9.0), torch.zeros(4, 5).scatter_add(1, i, x[:, :2]), x.index_fill(0, j % 4, 0.0)", "x, i, j")),
    ("creations", [["f 2,3"]], m("return torch.arange(5), torch.arange(1, 10, 3), torch.arange(0, 1, 0.25), torch.linspace(0, 1, 5), torch.eye(3), torch.eye(2, 3), x.new_zeros(2), x.new_ones((2, 2)), x.new_full((3,), 7.0), torch.full_like(x, 2), torch.zeros_like(x, dtype=torch.int64), torch.arange(3, dtype=torch.float32), torch.tensor([[1, 2], [3, 4]]), torch.ones(2, 3).to(torch.int64), torch.empty(0)")),
    ("max_with_dim", [["f 4,5"]], m("v, i = x.max(dim=1); w = x.min(0); return v, i, w.values, w.indices, x.max(1, keepdim=True)[0], torch.max(x, x * 2), x.argmax(), x.argmax(1), x.argmin(dim=0, keepdim=True), torch.max(x, dim=0).values, torch.aminmax(x)[1]")),
    ("sorts", [["f 4,6"]], m("v, i = x.sort(); t = x.topk(3); return v, i, torch.sort(x, dim=0, descending=True)[0], t.values, t.indices, x.argsort(1), x.topk(2, dim=0, largest=False)[0], torch.argsort(x, descending=True), x.median(), x.kthvalue(2, dim=1).values")),
    ("scans", [["f 3,5"]], m("return x.cumsum(1), x.cumprod(0), x.cummax(1)[0], torch.cumsum(x, 0), x.logcumsumexp(1), torch.diff(x), x.cumsum(-1)[:, -1]")),
    ("elementwise_more", [["f 4", "f 4", "f 4"]], m("return torch.lerp(x, y, 0.3), torch.addcmul(x, y, z, value=2), torch.addcdiv(x, y, z.abs() + 1), torch.fmod(x, 0.7), torch.hypot(x, y), torch.copysign(x, y), torch.sinh(x), torch.cosh(x), torch.atan(x), torch.asin(x.clamp(-1, 1)), torch.acos(x.clamp(-1, 1)), torch.asinh(x), torch.trunc(x * 3), torch.frac(x * 3), torch.nan_to_num(x / 0), torch.isfinite(x / 0), torch.isinf(x / 0), torch.isclose(x, x + 1e-9), torch.log10(x.abs()), torch.erfc(x), torch.sinc(x), torch.logaddexp(x, y), torch.xlogy(x.abs(), y.abs()), torch.heaviside(x, y), torch.float_power(x.abs(), 2), torch.sgn(x), torch.deg2rad(x), torch.logit(torch.sigmoid(x))", "x, y, z")),
    ("compare_functions", [["f 4", "f 4"]], m("return torch.eq(x, y), x.ne(y), torch.lt(x, y), x.ge(0), torch.gt(x, 0), x.le(y), torch.count_nonzero(x > 0), torch.fmax(x, y), torch.fmin(x, y), x.eq(x).all(), (x > 0).sum(), torch.where(x > y, 1, 0)", "x, y")),
    ("small_dtypes", [["i 6"]], m("return i.to(torch.int32) + 1, i.to(torch.int8) * 100, i.abs().to(torch.uint8) + 250, i.int().sum(), i.short() / 2, i.to(torch.int32) + i, i.to(torch.int8) + i.to(torch.uint8), i.to(torch.int16) * 2.5, i.to(torch.float16) / 3, i.to(torch.bfloat16) + 0.1, i.char() // 2, i.to(torch.int32) % 3, -i.to(torch.int8), i.to(torch.int32) & 3", "i")),
    ("half_math", [["f 8", "f 8"]], m("a = x.half(); b = y.bfloat16(); return a + a * 3, a.sin(), b * b + 1, str((a + y).dtype), a.sum(), b.mean(), (a * 1000) * 1000, b + a, (b @ b), a.softmax(0), a.float() - x, torch.exp(b), b.var(), a > 0.5, (b * 1.5).to(torch.float32)", "x, y")),
    ("inplace_methods", [["f 4", "f 4"]], m("a = x.clone(); a.add_(y); a.mul_(2).sub_(1); a.clamp_(-1, 1); b = torch.zeros(4); b.copy_(y); b.fill_(3); c = y.clone(); c.zero_(); c += a; c.div_(3).neg_().exp_(); return a, b, c, x", "x, y")),
    ("inplace_views", [["f 3,4"]], m("a = x.clone(); a[0] = 1; a[:, 1] += 5; a[1:, 2:] = a[:2, :2] * 2; a.t()[3] = 7; r = a.view(-1); r[5] = -1; a.select(0, 2).mul_(3); a[a > 6] = 0; return a, r, a.diagonal()")),
    ("index_put", [["f 5,3", "i 2"]], m("a = x.clone(); i = i.abs() % 5; a[i] = 0; b = x.clone(); b[i, 1] = 9.0; c = x.clone(); c[:, [0, 2]] = c[:, [2, 0]]; d = x.clone(); d[1:3, None] = 2.0; e = x.clone(); e.index_add_(0, torch.tensor([0, 1]), torch.ones(2, 3)); return a, b, c, d, e", "x, i")),
    ("where_and_masks", [["f 3,4"]], m("k = x > 0; return x * k, x.masked_fill(~k, 0.0), torch.where(k, x, torch.zeros(())), k.float().mean(), (k & (x < 1)).any(1), torch.where(k, x.half(), x)")),
    ("attributes_of_tensor", [["f 3,4"]], m("return x.shape[1], x.ndim, x.size(), x.stride(), x.t().stride(), x.is_contiguous(), x.t().is_contiguous(), x.numel(), x.element_size(), x.T.shape, str(x.dtype), str(x.device), x.requires_grad, x.is_floating_point(), x.t().contiguous().stride(), x[:, 1].stride(), x.dtype is torch.float32, x.storage_offset(), x[1].storage_offset(), len(x), x.data.sum()")),
    ("iterate_tensor", [["f 3,2"]], m("t = 0\n    for row in x:\n        t = t + row * 2; a, b, c = x; return t, a - b + c, [r.sum() for r in x], list(x)[1], sum(x), max([r.shape[0] for r in x])")),
    ("pooling_convs", [["f 2,3,8,8", "f 4,3,3,3", "f 4"]], f("y = F.conv2d(x, w, b, padding=1); return y, F.max_pool2d(F.relu(y), 2), F.avg_pool2d(y, 2), F.adaptive_avg_pool2d(y, 1), F.conv2d(x, w, stride=2), F.interpolate(x, scale_factor=2), F.pad(x, (1, 1), value=2.0)", "x, w, b")),
    ("conv1d_forms", [["f 2,3,10", "f 4,3,3", "f 6,1,3"]], f("return F.conv1d(x, w), F.conv1d(x, w, padding=2, dilation=2), F.conv1d(x, v, groups=3), F.max_pool1d(x, 2), F.avg_pool1d(x, 3, stride=1)", "x, w, v")),
    ("reductions_more", [["f 3,4,2"]], m("return x.sum((0, 2)), x.std(dim=1, unbiased=False), torch.var_mean(x, dim=0)[1], x.norm(dim=2), torch.linalg.norm(x[0]), x.prod(1), x.mean((1, 2), keepdim=True), x.all(), torch.any(x > 1, dim=0), x.nansum(), torch.std_mean(x)[0], x.abs().max(), torch.linalg.vector_norm(x, dim=-1), torch.cdist(x[0], x[1]), torch.trace(x[:, :, 0])")),
    ("broadcast_batch_views", [["f 2,3,4", "f 4,3"]], m("y = x.permute(0, 2, 1); z = y * w; return z.reshape(2, -1), (z + 1).transpose(1, 2).contiguous().view(6, 4), z[:, ::2].sum(-1), y.reshape(8, 3) @ w.t()", "x, w")),
]


def value(spec, rng):
    """An input as the recorded JSON spells it."""
    if not isinstance(spec, str) or spec[0] not in LETTERS or not (spec[1:] == "" or spec[1] == " ") or spec in ("a", "b"):
        return {"value": spec}
    shape = [int(n) for n in spec[2:].split(",")] if spec[1:] else []
    count = 1
    for n in shape:
        count *= n
    draw = {
        "f": lambda: round(rng.gauss(0, 1), 4),
        "d": lambda: rng.gauss(0, 1),
        "i": lambda: rng.randint(-4, 5),
        "b": lambda: rng.random() < 0.5,
    }[spec[0]]
    return {"tensor": {"shape": shape, "dtype": LETTERS[spec[0]], "data": [draw() for _ in range(count)]}}


def cases():
    """Every program with its source and its inputs."""
    for name, calls, body in PROGRAMS:
        rng = random.Random(name)
        yield {"name": name, "source": "import torch\n" + body, "inputs": [[value(v, rng) for v in call] for call in calls]}
