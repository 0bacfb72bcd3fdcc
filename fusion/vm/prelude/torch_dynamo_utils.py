# torch._dynamo.utils: the counters that programs read and clear; captures here are counted elsewhere.
import collections

import torch

counters = collections.defaultdict(collections.Counter)


def clear_compilation_metrics():
    return None


def get_compilation_metrics():
    return []


def same(
    ref, res, fp64_ref=None, cos_similarity=False, tol=1e-4, equal_nan=False, exact_dtype=True, relax_numpy_equality=False,
    ignore_non_fp=False, log_error=None, use_larger_multiplier_for_smaller_tensor=False,
):
    """Whether two results agree; with a result in float64, whether the second is as near to it as the first."""
    options = (cos_similarity, tol, equal_nan, exact_dtype, relax_numpy_equality, ignore_non_fp, log_error, use_larger_multiplier_for_smaller_tensor)
    if isinstance(ref, (list, tuple)):
        if len(ref) != len(res):
            return False
        wide = [None] * len(ref) if fp64_ref is None else fp64_ref
        return all([same(a, b, w, *options) for a, b, w in zip(ref, res, wide)])
    if isinstance(ref, dict):
        if set(ref) != set(res):
            return False
        return all([same(ref[k], res[k], None if fp64_ref is None else fp64_ref[k], *options) for k in ref])
    if not isinstance(ref, torch.Tensor):
        return isinstance(ref, float) and abs(ref - res) <= tol + tol * abs(ref) or ref == res
    if not isinstance(res, torch.Tensor) or ref.shape != res.shape or (exact_dtype and ref.dtype != res.dtype):
        return False
    if ref.dtype == torch.bool:
        return torch.equal(ref, res.to(torch.bool))
    if not ref.dtype.is_floating_point:
        return ignore_non_fp or torch.equal(ref, res.to(ref.dtype))
    wide = (torch.float32 if fp64_ref is None else torch.float64)
    ref, res = ref.to(wide), res.to(wide)
    if cos_similarity:
        near = torch.nn.functional.cosine_similarity(ref.flatten(), res.flatten(), dim=0, eps=1e-6).item()
        return near >= 0.99
    if torch.allclose(ref, res, atol=tol, rtol=tol, equal_nan=equal_nan):
        return True
    return fp64_ref is not None and _as_near(ref, res, fp64_ref, equal_nan, tol, use_larger_multiplier_for_smaller_tensor)


def _distance(a, b):
    return torch.sqrt(torch.mean(torch.square(a - b))).item()


def _as_near(ref, res, exact, equal_nan, tol, larger):
    ours, theirs = _distance(exact, res), _distance(exact, ref)
    factor = 2.0
    n = res.numel()
    if larger and n <= 10 and tol >= 4 * 1e-2:
        factor = 10.0
    elif larger and n <= 500 and tol >= 4 * 1e-2:
        factor = 5.0
    elif n < 1000 or tol >= 2 * 1e-2 or (exact.ndim == 4 and exact.shape[-1] == exact.shape[-2] == 1):
        factor = 3.0
    return ours <= factor * theirs + tol / 10.0 or (equal_nan and ours != ours and theirs != theirs)


def is_compile_supported(device_type):
    return True


def ifdynstaticdefault(when_dynamic, when_static):
    return when_static
