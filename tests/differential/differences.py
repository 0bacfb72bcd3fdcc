"""Where PyTorch's own compiled mode differs from its eager: ours follows it, under both policies.

Each entry: what the case is, the release of PyTorch it was seen in, and the program of
found/ that shows it.  `allows` says whether a difference that the tester met is that case.
"""
import re


def zeros(value):
    data = value and value.get("tensor", {}).get("data")
    return data is not None and all(x == 0 for x in data)


def zero_gradient(path, ours, eager):
    """An input that a graph reads and the result does not: zeros, where eager has no gradient.

    The backward of a graph gives a gradient to each of its inputs.  `agrees` of a timed run
    takes it so too (profiler/allclose/allclose.c).
    """
    return "grads" in path and eager is None and zeros(ours)


DIFFERENCES = [
    {"case": "zero gradient instead of none", "release": "2.6, 2.11", "program": "zero_gradient.json", "allows": zero_gradient},
]

# Where a compiled mode fails and eager does not, in PyTorch too: what the error says.  With
# --torch the tester asks PyTorch's compiled mode whether it fails on the same program.
ERRORS = [
    {"case": "the gradient of a gradient, through a piece whose argument was written; PyTorch's compiled mode has none at all", "release": "2.6", "program": "gradient_of_gradient_written.json", "says": r"its gradient is to have a gradient"},
    {"case": "the program writes to an argument of a piece after it, from which the piece computes its gradient, though eager had saved another value", "release": "2.6", "program": "argument_written_after.json", "says": r"has been modified by an inplace operation: a tensor that a compiled piece"},
    {"case": "the result of a piece is kept, and a later call's backward pass goes through the piece's again", "release": "2.6", "program": "kept_by_a_global.json", "says": r"Trying to backward through the graph a second time"},
    {"case": "an op of a piece fails where it runs; a try of the program in that piece does not catch it", "release": "2.6", "program": "caught_in_try.json", "says": r"ZeroDivisionError|is out of bounds for a dim", "text": r"\btry:"},
]


# What only a compiled mode gives (`ours`), in PyTorch too: where the values part.
VALUES = [
    {"case": "a result of a graph that nothing depends on passes zeros on; times an infinite derivative they are NaN", "release": "2.6", "program": "zeros_meet_infinity.json", "shows": r"^call \d+: (param_)?grads.*: (?P<ours>nan) for -?[\d.]"},
    {"case": "the same in a gradient that the program itself asks for: a result of a graph that nothing depends on passes zeros on; times an infinite derivative they are NaN", "release": "2.6", "program": "zeros_meet_infinity.json", "shows": r"^call \d+: output.*: (?P<ours>nan) for -?[\d.]", "text": r"backward\(|autograd\.grad"},
    {"case": "a gradient that the program keeps, of an input that a graph reads and what is differentiated does not", "release": "2.6", "program": "zero_gradient_kept.json", "shows": r"^call \d+: output.*: (?P<ours>zeros) for None", "text": r"backward\("},
    {"case": "a result of a graph has the graph's own node of the backward pass", "release": "2.6", "program": "named_node.json", "shows": r"(?P<ours>CompiledFunctionBackward)", "text": r"grad_fn"},
    {"case": "a break in nested blocks of autocast leaves them, which forgets the casts that an inner block of another dtype would take over", "release": "2.6", "program": "nested_autocast_left.json", "shows": r"dtype (?P<ours>float16|bfloat16) for b?float16", "text": r"(?s)autocast.*autocast"},
]


def allowed_value(found, source):
    """What PyTorch's compiled mode has to give somewhere, too; None: no such case."""
    shown = (re.search(d["shows"], found) for d in VALUES if re.search(d.get("text", ""), source))
    return next((m["ours"] for m in shown if m), None)


def allowed_error(text, source):
    return next((d["case"] for d in ERRORS if re.search(d["says"], text) and re.search(d.get("text", ""), source)), None)


def fails_ahead(text):
    """Policy native: a graph holds a `raise` as a condition, and an op after it fails where it runs, before that."""
    return re.search(r"ZeroDivisionError|is out of bounds for a dim", text) is not None


# Where eager fails and a compiled mode runs, in PyTorch too.
RUNS_ON = [
    {"case": "an op that writes what it reads in part: a graph computes it first", "release": "2.6", "program": "read_while_written.json", "says": r"some elements of the input tensor and the written-to tensor", "lazy": True, "any graph": True},
    {"case": "the backward pass of a graph computes again what eager had saved, and the program has written to that", "release": "2.6", "program": "computed_again.json", "says": r"has been modified by an inplace operation: \["},
    {"case": "an op whose result nothing uses is left out of a graph: its index or divisor is not looked at", "release": "2.6", "program": "unused_lookup.json", "says": r"is out of bounds for a dim|ZeroDivisionError"},
]


def allowed_run(text, mode):
    return next((d for d in RUNS_ON if re.search(d["says"], text) and (mode != "lazy" or d.get("lazy"))), None)


def missing_kernel(device, why):
    """Whether PyTorch has no kernel of the op for this dtype on a GPU: nothing to compare with."""
    return device != "cpu" and why is not None and re.search(r"not implemented for '\w+'", why) is not None


# Where the language itself is another: no fault of eager's.  `text` is of the program, `shows`
# of what parts.
LANGUAGE = [
    {"case": "no complex numbers: a last dim of 2 holds them", "text": r"istft\(|stft\(|view_as_real|view_as_complex|polar\(|fft\.", "shows": ""},
    {"case": "a write to a view whose elements share memory, which PyTorch leaves open", "text": r"\.unfold\(", "shows": r"^call"},
    {"case": "results lie row by row, whatever the strides of operands", "text": r"\.view\(", "shows": r"view size is not compatible"},
    {"case": "an LSTM of oneDNN keeps its output for the backward pass", "text": r"nn\.(LSTM|GRU|RNN)", "shows": r"MkldnnRnnLayerBackward"},
    {"case": "values of indices may lie in the memory that they are written to", "text": r"\] = |index_\w+_\(|out=", "shows": r"unsupported operation: some elements of the input tensor"},
    {"case": "fill_() of an expanded tensor is refused as any write to one", "text": r"expand|autograd\.grad|backward", "shows": r"an expanded tensor is written"},
    {"case": "einsum wants one dtype, also where every dim that it sums has one element, which PyTorch multiplies", "text": r"einsum", "shows": r"einsum: the operands are"},
    {"case": "a loss of two dtypes has a gradient", "text": r"_loss|Loss", "shows": r"Found dtype \w+ but expected \w+"},
    {"case": "a scatter's source that is larger than its index has a gradient: zeros for what is not read", "text": r"scatter", "shows": r"Function Scatter\w*Backward0 returned an invalid gradient"},
    {"case": "out= of another size is refused, which PyTorch resizes", "text": r"out=", "shows": r"out has other sizes than the result"},
    {"case": "narrow_copy, heaviside and aminmax have a gradient", "text": r"narrow_copy|heaviside|aminmax", "shows": r"aten::(narrow_copy|heaviside|aminmax) is not implemented"},
    {"case": "trace and average pools of three dims of float16 run", "text": r"trace|avg_pool3d|AvgPool3d", "shows": r"\"(trace|avg_pool3d\w*)\" not implemented for 'Half'"},
    {"case": "index_put casts its values", "text": r"index_put", "shows": r"Index put requires the source and destination dtypes match"},
    {"case": "a number that a float16 tensor cannot hold is infinite there", "text": r"fill", "shows": r"value cannot be converted to type .* without overflow"},
    {"case": "a cast that autocast kept under no_grad is made again where a gradient is recorded", "text": r"(?s)autocast.*no_grad|no_grad.*autocast", "shows": r"grads.*: something for nothing"},
    {"case": "take_along_dim refuses a negative index, as PyTorch did at 2.6; 2.11 counts it from the end", "text": r"take_along_dim", "shows": r"printed '.*out of bounds|is out of bounds"},
    {"case": "a whole number divided by 0 on a GPU, which CUDA leaves open", "text": r"//|%|remainder|floor_divide|fmod", "shows": r"^call .*: -?\d+ for -?\d{9,}$"},
    {"case": "a view that was made where no gradient is recorded may be written where one is", "text": r"no_grad|set_grad_enabled|inference_mode", "shows": r"A view was created in no_grad mode|a view of a view which was created in no_grad"},
]


def of_language(source, found):
    return next((d["case"] for d in LANGUAGE if re.search(d["text"], source) and re.search(d["shows"], found)), None)


GRAD_FN = re.compile(r",?\s*(grad_fn=<\w+>|device='cuda:0')")


def text(printed):
    """A printed tensor names what computed it: one backward node for a whole graph; not where it lies."""
    return GRAD_FN.sub("", printed)


def allowed(path, ours, eager):
    return next((d["case"] for d in DIFFERENCES if d["allows"](path, ours, eager)), None)
