# What distributions share: their parameters, and what holds for these.
import torch


def tensors(*values):
    """The parameters, of one shape and floats."""
    kept = [v for v in values if isinstance(v, torch.Tensor)]
    dtype = kept[0].dtype if kept else torch.get_default_dtype()
    made = [v if isinstance(v, torch.Tensor) else torch.tensor(float(v), dtype=dtype) for v in values]
    return list(torch.broadcast_tensors(*made))


def positive(x):
    return x > 0


def unit(x):
    return (x >= 0) & (x <= 1)


def real(x):
    return x == x


constraints = {positive: "GreaterThan(lower_bound=0.0)", unit: "Interval(lower_bound=0.0, upper_bound=1.0)", real: "Real()"}
