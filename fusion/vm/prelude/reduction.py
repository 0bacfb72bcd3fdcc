# How a loss becomes one number, for the losses that are written here.


def legacy(reduction, size_average, reduce):
    """The word for what `size_average` and `reduce` say, where one of them is given."""
    if size_average is None and reduce is None:
        return reduction
    if reduce is None or reduce:
        return "mean" if size_average is None or size_average else "sum"
    return "none"


def reduced(loss, reduction, size_average=None, reduce=None):
    reduction = legacy(reduction, size_average, reduce)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if reduction == "mean":
        return loss.mean()
    return loss.sum() if reduction == "sum" else loss
