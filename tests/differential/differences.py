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
    takes it so too (profiler/agree/agree.c).
    """
    return "grads" in path and eager is None and zeros(ours)


DIFFERENCES = [
    {"case": "zero gradient instead of none", "release": "2.6, 2.11", "program": "zero_gradient.json", "allows": zero_gradient},
]

GRAD_FN = re.compile(r",?\s*grad_fn=<\w+>")


def text(printed):
    """A printed tensor names what computed it: one backward node for a whole graph."""
    return GRAD_FN.sub("", printed)


def allowed(path, ours, eager):
    return next((d["case"] for d in DIFFERENCES if d["allows"](path, ours, eager)), None)
