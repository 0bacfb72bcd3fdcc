"""Examples, values and signatures for tests/binding/check.py."""

# Parameters that may be given and change nothing, as in PyTorch: "function.parameter", why.
IGNORED = {
    **{f"{f}.{name}": "the result is a module; tests/oracle/library_programs.py tries it" for f, names in (
        ("weight_norm", ("name", "dim")), ("remove_weight_norm", ("name",)), ("remove_spectral_norm", ("name",)),
        ("spectral_norm", ("name", "n_power_iterations", "eps", "dim"))) for name in names},
    "RAdam.eps": "counts from the sixth step on", "ASGD.t0": "counts for the average alone, which the state keeps",
    "DataParallel.device_ids": "a run has one device",
    "DataParallel.output_device": "a run has one device",
    "DataParallel.dim": "a run has one device",
    "*._stacklevel": "says where PyTorch's warning points to",
    "*.device": "placement.h: a run has one device",
    "*.layout": "torch.strided is the only one",
    "*.pin_memory": "where a tensor lies in the host's memory",
    "*.memory_format": "tensors lie row by row; values are the same",
    "*.non_blocking": "whether a copy is waited for",
    "topk.sorted": "False leaves the order open, and sorted is an order",
    "embedding.sparse": "the gradient is the same, dense",
    "embedding_bag.sparse": "the gradient is the same, dense",
    "Embedding.sparse": "the gradient is the same, dense",
    "EmbeddingBag.sparse": "the gradient is the same, dense",
    "lstsq.driver": "another algorithm for the same solution",
    "isin.assume_unique": "allows another algorithm with the same result",
    "sort.stable": "every sort is stable", "argsort.stable": "every sort is stable",
    "unique.sorted": "False leaves the order open, and sorted is an order",
    "*.foreach": "the same sums by other kernels", "*.fused": "the same sums by other kernels",
    "*.capturable": "steps are counted in tensors always", "Variable.volatile": "PyTorch ignores it since 0.4",
    "asarray.copy": "seen by a write into the result alone", "zero_.dtype": "the tensor keeps its own",
    "Identity.no_such_parameter": "PyTorch takes any arguments and ignores them",
    "TransformerEncoder.enable_nested_tensor": "a fast path with the same result", "TransformerEncoder.mask_check": "of that path",
    "Transformer.d_model": "every size follows from it",
    "istft.onesided": "None is what the sizes say, True the same",
}

# Values to try, by function and parameter, or by parameter alone.
VALUES = {
    "dtype": ["torch.float64", "torch.float16", "torch.int32"],
    "dim": ["0", "1", "-1", "2", "(0,)", "(0, 1)", "(-1,)", "-2", "(-2, -1)", "None"],
    "dims": ["0", "1", "(0, 1)", "(1,)"],
    "reduction": ["'sum'", "'none'"],
    "norm": ["'ortho'", "'forward'"],
    "s": ["(2, 3)", "(3,)"],
    "approximate": ["'tanh'"],
    "interpolation": ["'lower'", "'nearest'"],
    "mode": ["'sum'", "'max'", "'bilinear'"],
    "pad_mode": ["'constant'"],
    "ord": ["1", "float('inf')"],
    "bias": ["torch.tensor([1.5, -2.0])", "torch.tensor([1.5, -2.0, 0.5])", "torch.tensor([1.5])", "torch.ones(4)", "torch.ones(6)"],
    "weight": ["torch.tensor([1.5, -2.0])", "torch.tensor([1.5, -2.0, 0.5])", "torch.tensor([1.5])", "torch.ones(4) * 3", "torch.ones(2, 3) * 3"],
    "pos_weight": ["torch.tensor([1.5, 3.0, 0.5])", "torch.tensor(2.0)"],
    "kernel_size": ["2", "3"],
    "stride": ["1", "2", "3", "4"],
    "output_size": ["2", "(2, 2)", "3", "(5, 5)", "7"],
    "out": ["torch.zeros(())", "torch.zeros(7)", "3"],
    "offset": ["1", "-1"],
    "prepend": ["torch.tensor([1.0])", "torch.zeros(2, 1)"],
    "append": ["torch.tensor([1.0])", "torch.zeros(2, 1)"],
    "lower": ["0.25"],
    "upper": ["0.5"],
    "generator": ["1"],
    "padding_mode": ["'border'"],
    "indexing": ["'xy'"],
    "sorter": ["torch.tensor([1, 2, 0])"],
    "window": ["torch.tensor([0.5, 1.0, 1.0, 0.5])"],
    "x": ["torch.tensor([0.0, 1.0, 3.0, 7.0])", "torch.tensor([0.0, 1.0, 3.0])", "torch.tensor([0.0, 2.0])", "torch.tensor([0.0, 1.0, 3.0, 7.0, 8.0])"],
    "slice_scatter.end": ["2", "3", "4"], "slice_scatter.start": ["0", "1", "2"],
    "rtol": ["0.5"], "running_mean": ["torch.tensor([2.0, -3.0])"], "running_var": ["torch.tensor([2.0, 3.0])"],
    "offsets": ["torch.tensor([0, 1])"],
    "end": ["7"], "high": ["9"], "requires_grad": ["True", "False"],
    "fweights": ["torch.tensor([1, 2, 3, 1])"], "aweights": ["torch.tensor([0.1, 0.5, 1.0, 2.0])"],
    "weights": ["torch.tensor([0.5, 1.0, 2.0])", "torch.ones(6)", "torch.ones(4)", "torch.ones(5)"],
    "index": ["1"],
}
# Signatures of what is bound in C: tests/ops says which there are.
_ONE_DIM = "input, dim=0"
_SAME = "input, other"
_CAST = "input, memory_format=None"
_MADE = "*size, dtype=None, requires_grad=False, device=None, layout=None, pin_memory=False"
_FUNCTIONS = {
    "cat": "tensors, dim=0", "concat": "tensors, dim=0", "concatenate": "tensors, dim=0",
    "stack": "tensors, dim=0", "hstack": "tensors", "vstack": "tensors", "row_stack": "tensors",
    "arange": "start, end=None, step=1, *, dtype=None, requires_grad=False",
    "broadcast_tensors": "*tensors", "is_tensor": "obj", "manual_seed": "seed", "device": "type, index=None",
    "get_default_dtype": "", "promote_types": "type1, type2", "finfo": "type", "iinfo": "type",
    "rand": _MADE, "randn": _MADE, "randint": "low, high, size, *, dtype=None, requires_grad=False, generator=None",
    "rand_like": "input, *, dtype=None, requires_grad=False", "randn_like": "input, *, dtype=None, requires_grad=False",
    "var_mean": "input, dim=None, unbiased=None, keepdim=False, correction=None",
    "std_mean": "input, dim=None, unbiased=None, keepdim=False, correction=None",
}
# A function whose first argument is the method's tensor.
_BOTH = {
    "nonzero": "input, *, as_tuple=False", "argwhere": "input", "masked_select": "input, mask", "equal": _SAME,
    "unique": "input, sorted=True, return_inverse=False, return_counts=False, dim=None",
    "unique_consecutive": "input, return_inverse=False, return_counts=False, dim=None",
    "bincount": "input, weights=None, minlength=0",
    "allclose": "input, other, rtol=1e-05, atol=1e-08, equal_nan=False", "tolist": "input",
    "aminmax": "input, *, dim=None, keepdim=False", "type_as": _SAME, "type": "input, dtype=None, non_blocking=False",
    "half": _CAST, "bfloat16": _CAST, "int": _CAST, "short": _CAST, "char": _CAST, "byte": _CAST,
    "float": "input", "double": "input", "long": "input", "bool": "input", "cpu": _CAST,
    "cuda": "input, device=None, non_blocking=False, memory_format=None",
    "is_floating_point": "input", "is_complex": "input", "size": "input, dim=None", "dim": "input",
    "ndimension": "input", "numel": "input", "nelement": "input", "item": "input", "stride": "input, dim=None",
    "is_contiguous": "input", "storage_offset": "input", "element_size": "input",
    "requires_grad_": "input, requires_grad=True", "chunk": "input, chunks, dim=0", "split": "input, split_size, dim=0",
    "split_with_sizes": "input, split_size, dim=0", "tensor_split": "input, indices, dim=0", "unbind": _ONE_DIM,
    "index_add": "input, dim, index, source, *, alpha=1", "index_add_": "input, dim, index, source, *, alpha=1",
    "index_copy": "input, dim, index, source", "index_copy_": "input, dim, index, source",
    "index_fill": "input, dim, index, value", "index_fill_": "input, dim, index, value",
    "diag": "input, diagonal=0", "rot90": "input, k=1, dims=(0, 1)",
    "pixel_shuffle": "input, upscale_factor", "pixel_unshuffle": "input, downscale_factor",
}
NATIVES = {f"torch.{name}": text for name, text in {**_FUNCTIONS, **_BOTH}.items()}
NATIVES.update({f"torch.Tensor.{name}": text.partition(", ")[2] for name, text in _BOTH.items()})
NATIVES["torch.nn.functional.pad"] = "input, pad, mode='constant', value=None"
NATIVES["torch.nn.functional.pixel_shuffle"] = _BOTH["pixel_shuffle"]
NATIVES["torch.nn.functional.pixel_unshuffle"] = _BOTH["pixel_unshuffle"]

_X = "x = torch.arange(24.0).reshape(2, 3, 4) / 7 - 1"
_IMAGE = "x = torch.arange(50.0).reshape(1, 2, 5, 5) / 7 - 1"
_LINE = "x = torch.arange(10.0).reshape(1, 2, 5) / 7 - 1"
_TABLE = ["i = torch.tensor([[0, 2], [1, 1]])", "w = torch.arange(6.0).reshape(3, 2)"]
_BAGS = ["i = torch.tensor([0, 2, 1, 1])", "w = torch.arange(6.0).reshape(3, 2)", "o = torch.tensor([0, 2, 4])"]
_DROPPED = [([_IMAGE], "x, 0.5, True"), ([_IMAGE], "x, 0.5")]
_WINDOWS = [([_IMAGE], "x, 2")]
_LINES = [([_LINE], "x, 2")]
# More examples: spelling -> (lines, arguments); the inputs are what the lines assign.
CALLS = {
    "torch.nn.functional.instance_norm": [([_LINE, "m = torch.ones(2)", "v = torch.ones(2)"], "x, m, v"), ([_LINE, "m = torch.ones(2)", "v = torch.ones(2)"], "x, None, None, use_input_stats=False"), ([_LINE, "v = torch.ones(2)"], "x, None, v"), ([_LINE, "v = torch.ones(2)"], "x, v, None")],
    "torch.nn.functional.scaled_dot_product_attention": [(["x = torch.ones(1, 4, 2, 3)", "y = torch.arange(12.0).reshape(1, 2, 2, 3)"], "x, y, y")],
    "torch.nn.functional.embedding": [(_TABLE, "i, w, max_norm=1.0"), (_TABLE, "i, w")],
    "torch.nn.functional.embedding_bag": [(_BAGS, "i, w, o, include_last_offset=False, max_norm=1.0"), (_BAGS, "i, w, o")],
    **{name: _WINDOWS for name in ("torch.max_pool2d", "torch.nn.functional.max_pool2d", "torch.nn.functional.avg_pool2d")},
    **{name: _LINES for name in ("torch.max_pool1d", "torch.nn.functional.max_pool1d", "torch.nn.functional.avg_pool1d")},
    "torch.nn.functional.lp_pool2d": [([_IMAGE], "x, 2, 2")],
    "torch.nn.functional.lp_pool1d": [([_LINE], "x, 2, 2")],
    "torch.nn.functional.interpolate": [([_IMAGE], "x, scale_factor=1.5, mode='bilinear'")],
    "torch.nn.functional.fold": [(["x = torch.arange(36.0).reshape(1, 4, 9)"], "x, (4, 4), 2, padding=0"), (["x = torch.arange(4.0).reshape(1, 4, 1)"], "x, (4, 4), 2, stride=5"), (["x = torch.arange(16.0).reshape(1, 4, 4)"], "x, (7, 7), 2, stride=3"), (["x = torch.arange(36.0).reshape(1, 4, 9)"], "x, (5, 5), 2, 2"), (["x = torch.arange(16.0).reshape(1, 4, 4)"], "x, (4, 4), 2, stride=2"), (["x = torch.arange(16.0).reshape(1, 4, 4)"], "x, (3, 3), 2")],
    **{f"torch.nn.functional.{name}": _DROPPED for name in ("dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")},
    **{name: [(["x = torch.zeros(2, 1, 3)", "t = torch.tensor([[1, 2, 1, 2]])"], "x, t, torch.tensor([2]), torch.tensor([4])")] for name in ("torch.ctc_loss", "torch.nn.functional.ctc_loss")},
    "torch.nn.functional.grid_sample": [([_IMAGE, "g = torch.arange(8.0).reshape(1, 2, 2, 2) / 3 - 1.2"], "x, g")],
    "torch.meshgrid": [(["x = torch.arange(2.0)", "y = torch.arange(3.0)"], "x, y")],
    "torch.randperm": [([], "5, dtype=torch.float32")],
    "torch.randint": [([], "3, (5,), dtype=torch.float32")],
    **{name: [(["x = torch.ones(2)", "y = torch.tensor([1.0, 1.3])"], "x, y" if "Tensor" not in name else "y")] for name in ("torch.allclose", "torch.Tensor.allclose")},
    "torch.slice_scatter": [(["x = torch.zeros(4, 4)", "y = torch.ones(2, 4)"], "x, y, 0, 2"), (["x = torch.zeros(4, 4)", "y = torch.ones(2, 4)"], "x, y, 0, 1, 3"), (["x = torch.zeros(4, 4)", "y = torch.ones(2, 4)"], "x, y, end=1")],
    "torch.Tensor.slice_scatter": [(["x = torch.zeros(4, 4)", "y = torch.ones(2, 4)"], "y, 0, 2"), (["x = torch.zeros(4, 4)", "y = torch.ones(2, 4)"], "y, end=1")],
    "torch.diagonal_scatter": [(["x = torch.zeros(3, 4)", "y = torch.ones(3)"], "x, y")],
    "torch.Tensor.diagonal_scatter": [(["x = torch.zeros(3, 4)", "y = torch.ones(3)"], "y")],
    **{name: [([_X], "x")] for name in ("torch.trapezoid", "torch.trapz", "torch.cumulative_trapezoid")},
    **{name: [(["x = torch.arange(9.0).reshape(3, 3)", "y = torch.arange(9.0).reshape(3, 3) ** 2"], "x, y" if "Tensor" not in name else "y")] for name in ("torch.cross", "torch.linalg.cross", "torch.Tensor.cross")},
    "torch.searchsorted": [(["x = torch.tensor([3.0, 1.0, 2.0])", "y = torch.tensor([1.5, 2.5])"], "x, y")],
    "torch.bucketize": [(["x = torch.tensor([1.0, 2.0])", "y = torch.tensor([1.0, 2.0, 3.0])"], "x, y")],
    "torch.stft": [(["x = torch.arange(12.0)"], "x, 4, return_complex=False"), (["x = torch.arange(12.0)"], "x, 4, window=torch.ones(4), return_complex=False")],
}


def of(full):
    found = []
    for lines, text in CALLS.get(full, ()):
        names = [line.split(" = ")[0] for line in lines]
        method = full.startswith("torch.Tensor.")
        found.append((lines, f"{names[0]}.{full[13:]}({{}})" if method else full + "({})", text, names))
    return found
