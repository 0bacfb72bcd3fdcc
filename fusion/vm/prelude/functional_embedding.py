# torch.nn.functional: rows of a table.  What begins with "One call" is one node to FX.
import torch
import torch.nn.functional as F


def _renorm(weight, input, max_norm, norm_type):
    """The rows that the input names, in place: none longer than max_norm."""
    with torch.no_grad():
        used = torch.zeros(weight.shape[0], dtype=torch.int64).index_fill(0, input.reshape(-1), 1)
        norms = torch.linalg.vector_norm(weight, float(norm_type), 1, True)
        long = (norms > max_norm) & (used.unsqueeze(1) > 0)
        weight.copy_(torch.where(long, weight * (max_norm / (norms + 1e-7)), weight))


def embedding(
    input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False,
    sparse=False,
):
    """One call."""
    if max_norm is not None:
        _renorm(weight, input, max_norm, norm_type)
    return torch._C.embedding(input, weight, padding_idx)


def embedding_bag(
    input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False,
    mode="mean", sparse=False, per_sample_weights=None, include_last_offset=False,
    padding_idx=None,
):
    """One call."""
    if mode not in ("sum", "mean", "max"):
        raise ValueError("mode has to be one of sum, mean or max")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for "
            f"mode='sum' (got mode='{mode}'). Please open a feature request on GitHub."
        )
    if max_norm is not None:
        _renorm(weight, input, max_norm, norm_type)
    if offsets is not None:
        return _bags(input, weight, offsets, mode, per_sample_weights, include_last_offset, padding_idx)
    if input.dim() != 2:
        raise ValueError(f"if input is 1D, offsets has to be given; it has {input.dim()} dimensions")
    rows = F.embedding(input, weight)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(-1)
    kept = None
    if padding_idx is not None:
        kept = (input != padding_idx).unsqueeze(-1)
    if mode == "max":
        return (rows if kept is None else rows.masked_fill(~kept, float("-inf"))).amax(1)
    total = (rows if kept is None else rows * kept).sum(1)
    if mode == "sum":
        return total
    return total / (input.shape[1] if kept is None else kept.sum(1))


def _bags(input, weight, offsets, mode, per_sample_weights, include_last_offset, padding_idx):
    """Bags that follow each other: each index belongs to the last one that has begun."""
    starts = offsets[:-1] if include_last_offset else offsets
    bag = (torch.arange(input.shape[0]).unsqueeze(1) >= starts).sum(1) - 1
    rows = F.embedding(input, weight)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.unsqueeze(-1)
    total = torch.zeros((starts.shape[0], weight.shape[1]), dtype=weight.dtype)
    if padding_idx is not None:
        kept = (input != padding_idx).unsqueeze(-1)
        rows = rows.masked_fill(~kept, float("-inf")) if mode == "max" else rows * kept
    if mode == "max":
        made = torch.index_reduce(total, 0, bag, rows, "amax", include_self=False)
        return torch.where(made == float("-inf"), 0.0, made)
    made = total.index_add(0, bag, rows)
    if mode == "sum":
        return made
    counted = torch.ones(input.shape[0], dtype=weight.dtype)
    counted = counted if padding_idx is None else kept.squeeze(-1).to(weight.dtype)
    counts = torch.zeros(starts.shape[0], dtype=weight.dtype).index_add(0, bag, counted)
    return made / counts.clamp(min=1).unsqueeze(-1)
