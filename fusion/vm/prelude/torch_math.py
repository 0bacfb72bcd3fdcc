# torch: pointwise functions, order statistics and searches that are made of the ops of
# ops.def.  What begins with "One call" is one node to FX.
import math

import _autocast
import _dtypes
import torch


def _float(x):
    return x if x.dtype.is_floating_point else x.float()


def positive(input):
    """One call."""
    if input.dtype == torch.bool:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input.view_as(input)


def signbit(input, *, out=None):
    """One call."""
    if input.dtype.is_floating_point:
        return (input < 0) | ((input == 0) & (torch.reciprocal(input) < 0))
    return input < 0


def isposinf(input, *, out=None):
    """One call."""
    return input == math.inf


def isneginf(input, *, out=None):
    """One call."""
    return input == -math.inf


def lcm(input, other, *, out=None):
    """One call."""
    both = torch.gcd(input, other)
    return torch.where(both == 0, both, torch.abs(input // torch.where(both == 0, 1, both) * other))


def ldexp(input, other, *, out=None):
    """One call."""
    return input * torch.pow(2.0, other)


def logaddexp2(input, other, *, out=None):
    """One call."""
    most = torch.maximum(input, other)
    sum = most + torch.log2(1 + torch.exp2(-torch.abs(input - other)))
    return torch.where(input == other, input + 1, sum)


def digamma(input, *, out=None):
    """One call.  Ten steps up, where the asymptotic series holds; reflected below 0."""
    x = _float(torch._C.kept(input)).double()
    low = x < 0
    y = torch.where(low, 1 - x, x)
    steps = torch.reciprocal(y)
    for _ in range(9):
        y = y + 1
        steps = steps + torch.reciprocal(y)
    y = y + 1
    z = torch.reciprocal(y * y)
    tail = z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132 - z * (691 / 32760 - z / 12))))))
    made = torch.log(y) - 0.5 / y - tail - steps
    mirrored = made - math.pi / torch.tan(math.pi * x)
    made = torch.where(low, torch.where(x == torch.floor(x), math.nan, mirrored), made)
    made = torch.where(x == 0, -torch.reciprocal(x), torch.where(x == math.inf, math.inf, made))
    return made.to(_float(input).dtype)


def erfinv(input, *, out=None):
    """One call.  Winitzki's first guess, then Newton's steps on erfc, exact in the tails."""
    x = _float(torch._C.kept(input)).double()
    a = torch.abs(x)
    l = torch.log1p(-a * a) / 2
    k = 4.330746750799873 + l
    y = torch.sqrt(torch.clamp(torch.sqrt(torch.clamp(k * k - l * 2 / 0.147, min=0)) - k, min=0))
    for _ in range(4):
        miss = torch.where(a > 0.5, (1 - a) - torch.erfc(y), torch.erf(y) - a)
        step = miss * (math.sqrt(math.pi) / 2) * torch.exp(y * y)
        y = y - torch.where(torch.isfinite(step), step / (1 + step * y), 0.0)
    y = torch.where(a == 1, math.inf, torch.where(a > 1, math.nan, torch.where(a == 0, a, y)))
    return torch.copysign(y, x).to(_float(input).dtype)


def i0(input, *, out=None):
    """One call.  The power series below 16, the asymptotic one above."""
    x = torch.abs(_float(torch._C.kept(input)).double())
    q = torch.clamp(x, max=16.0)
    q = q * q / 4
    near = torch.ones_like(q)
    for k in range(48, 0, -1):
        near = 1 + near * q / (k * k)
    r = 1 / (8 * torch.clamp(x, min=16.0))
    far = torch.ones_like(q)
    for k in range(14, 0, -1):
        far = 1 + far * r * ((2 * k - 1) * (2 * k - 1) / k)
    far = far * torch.exp(x) * torch.sqrt(4 * r / math.pi)
    made = torch.where(x < 16, near, torch.where(x == math.inf, math.inf, far))
    return made.to(_float(input).dtype)


def mvlgamma(input, p):
    """One call."""
    made = torch.full_like(input, p * (p - 1) / 4 * math.log(math.pi))
    for j in range(p):
        made = made + torch.lgamma(input - j / 2)
    return made


def polygamma(n, input):
    """One call."""
    if n == 0:
        return torch.digamma(input)
    x = _float(input).double()
    sign = 1.0 if n % 2 else -1.0
    total = torch.zeros_like(x)
    for _ in range(16):
        total = total + torch.pow(x, -(n + 1.0))
        x = x + 1
    f = math.factorial(n - 1)
    tail = f * torch.pow(x, -float(n)) + math.factorial(n) / 2 * torch.pow(x, -(n + 1.0))
    for k, b in enumerate((1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66)):
        m = 2 * (k + 1)
        tail = tail + b * math.factorial(m + n - 1) / math.factorial(m) * torch.pow(x, -float(m + n))
    return (sign * (math.factorial(n) * total + tail)).to(_float(input).dtype)


def dist(input, other, p=2):
    """One call."""
    return torch.linalg.vector_norm(torch._C.kept(input) - torch._C.kept(other), p)


def renorm(input, p, dim, maxnorm):
    """One call."""
    dim = dim % input.dim()
    rest = [d for d in range(input.dim()) if d != dim]
    sizes = torch.linalg.vector_norm(input, p, rest, True)
    return input * torch.where(sizes > maxnorm, maxnorm / (sizes + 1e-7), 1.0)


# ---- statistics


def nanmean(input, dim=None, keepdim=False, *, dtype=None, out=None):
    """One call."""
    x = input if dtype is None else input.to(dtype)
    if not x.dtype.is_floating_point:
        raise RuntimeError("nanmean(): expected input to have floating point or complex dtype but got " + str(x.dtype))
    counts = (~torch.isnan(x)).sum(dim, keepdim)
    return torch.nansum(x, dim, keepdim) / counts


def _pick(kind, sorted_, places, at, dim, keepdim):
    """What stands at the place `at` of sorted rows, and where it came from."""
    values, indices = torch.gather(sorted_, dim, at), torch.gather(places, dim, at)
    if not keepdim:
        values, indices = values.squeeze(dim), indices.squeeze(dim)
    return torch._C.pair(kind, torch._C.getitem(values), torch._C.getitem(indices))


def _scalar(kind, input):
    zero = torch.zeros((), dtype=torch.int64)
    return torch._C.pair(kind, torch._C.getitem(input.clone()), torch._C.getitem(zero))


def _numbers(sorted_, dim):
    """How many of each sorted row are no NaN; NaN is sorted after them."""
    if not sorted_.dtype.is_floating_point:
        return torch.full_like(sorted_.narrow(dim, 0, 1), sorted_.shape[dim], dtype=torch.int64)
    return (~torch.isnan(sorted_)).sum(dim, True)


def median(input, dim=None, keepdim=False, *, out=None):
    """One call."""
    if dim is None:
        x = torch._C.kept(input).reshape(-1)
        if x.numel() == 0:
            return torch.full((), math.nan, dtype=input.dtype)
        row = torch.sort(x, 0)[0]
        at = (row.shape[0] - 1) // 2
        made = row.select(0, at)
        if not input.dtype.is_floating_point:
            return made.clone()
        last = row.select(0, row.shape[0] - 1)
        return torch.where(torch.isnan(last), last, made)
    if input.dim() == 0:
        return _scalar("median", input)
    row, places = torch.sort(input, dim, stable=True)
    n = row.shape[dim]
    numbers = _numbers(row, dim)
    at = torch.where(numbers < n, numbers, (n - 1) // 2)
    return _pick("median", row, places, at, dim, keepdim)


def nanmedian(input, dim=None, keepdim=False, *, out=None):
    """One call."""
    x = torch._C.kept(input).reshape(-1) if dim is None else input
    d = 0 if dim is None else dim
    if x.dim() == 0:
        return _scalar("nanmedian", x)
    row, places = torch.sort(x, d, stable=True)
    at = torch.clamp((_numbers(row, d) - 1) // 2, min=0)
    if dim is None:
        return torch.gather(row, 0, at).squeeze(0)
    return _pick("nanmedian", row, places, at, d, keepdim)


def kthvalue(input, k, dim=-1, keepdim=False, *, out=None):
    """One call."""
    n = input.shape[dim] if input.dim() else 1
    if k < 1 or k > n:
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {dim}: k is {k}, and may be 1 to {n}")
    if input.dim() == 0:
        return _scalar("kthvalue", input)
    row, places = torch.sort(input, dim, stable=True)
    values, indices = row.narrow(dim, k - 1, 1), places.narrow(dim, k - 1, 1)
    if not keepdim:
        values, indices = values.squeeze(dim), indices.squeeze(dim)
    return torch._C.pair("kthvalue", torch._C.getitem(values), torch._C.getitem(indices))


def mode(input, dim=-1, keepdim=False, *, out=None):
    """One call.  The longest run of equals among sorted rows; the smallest value wins."""
    if input.dim() == 0:
        return _scalar("mode", input)
    dim = dim % input.dim()
    row, places = torch.sort(input, dim, stable=True)
    same = (row.unsqueeze(dim + 1) == row.unsqueeze(dim)).sum(dim + 1)
    first = same.argmax(dim, True)
    at = first + torch.gather(same, dim, first) - 1
    return _pick("mode", row, places, at, dim, keepdim)


def cross(input, other, dim=None, *, out=None):
    """One call."""
    input, other = _autocast.on_cpu(_autocast.unchanged, input, other)
    _dtypes.alike(input, other)
    shape = torch.broadcast_shapes(input.shape, other.shape)
    if dim is None:
        dim = ([d for d, n in enumerate(shape) if n == 3] + [-1])[0]
    a, b = torch._C.kept(input).expand(shape), torch._C.kept(other).expand(shape)
    if a.shape[dim] != 3:
        raise RuntimeError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {a.shape[dim]} and {b.shape[dim]}")
    return torch.roll(a, -1, dim) * torch.roll(b, 1, dim) - torch.roll(a, 1, dim) * torch.roll(b, -1, dim)


def _quantile(input, q, dim, keepdim, interpolation, skip_nan):
    if interpolation not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise RuntimeError(
            "quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, "
            f"but got {interpolation}"
        )
    if not isinstance(q, torch.Tensor):
        if q < 0 or q > 1:
            raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q}")
        q = torch.tensor(q, dtype=input.dtype)
    if input.dtype not in (torch.float32, torch.float64):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if q.dtype != input.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    x = input.reshape(-1) if dim is None else input
    d = 0 if dim is None else dim % input.dim()
    row = torch.movedim(torch.sort(x, d)[0], d, -1)
    n = row.shape[-1]
    numbers = _numbers(row, -1)
    qs = q.reshape(-1)
    at = qs * torch.clamp(numbers - 1, min=0).to(input.dtype) if skip_nan else qs * (n - 1)
    at = at.expand(list(row.shape[:-1]) + [qs.shape[0]])
    low = torch.floor(at).long()
    if interpolation == "nearest":
        low = torch.round(at).long()
    high = torch.ceil(at).long()
    if interpolation == "higher":
        low = high
    a, b = torch.gather(row, -1, low), torch.gather(row, -1, high)
    if interpolation == "linear":
        made = torch.lerp(a, b, at - low.to(at.dtype))
    else:
        made = (a + b) / 2 if interpolation == "midpoint" else a
    empty = numbers == 0 if skip_nan else numbers < n
    made = torch.movedim(torch.where(empty, math.nan, made), -1, 0)
    if keepdim:
        made = made.reshape([qs.shape[0]] + [1] * input.dim()) if dim is None else made.unsqueeze(d + 1)
    return made.squeeze(0) if q.dim() == 0 else made


# torch.compile ends the graph at what asks whether its values are in order.
@torch._C._reads
def quantile(input, q, dim=None, keepdim=False, *, interpolation="linear", out=None):
    """One call."""
    return _quantile(*_autocast.on_cpu(_autocast.float32, input), q, dim, keepdim, interpolation, False)


@torch._C._reads
def nanquantile(input, q, dim=None, keepdim=False, *, interpolation="linear", out=None):
    """One call."""
    return _quantile(*_autocast.on_cpu(_autocast.float32, input), q, dim, keepdim, interpolation, True)


def msort(input, *, out=None):
    """One call."""
    return torch.sort(input, 0)[0]


# ---- searches


def searchsorted(sorted_sequence, input, *, out_int32=False, right=False, side=None, out=None, sorter=None):
    """One call.  How many edges lie before each value."""
    if side is not None and side not in ("left", "right"):
        raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    edges = sorted_sequence if sorter is None else torch.gather(sorted_sequence, -1, sorter)
    values = input if isinstance(input, torch.Tensor) else torch.tensor(input)
    at, v = (edges.unsqueeze(-2) if edges.dim() > 1 else edges), values.unsqueeze(-1)
    before = at <= v if right or side == "right" else ~(at >= v)
    return before.sum(-1, dtype=torch.int32 if out_int32 else torch.int64)


def bucketize(input, boundaries, *, out_int32=False, right=False, out=None):
    """One call."""
    return torch.searchsorted(boundaries, input, out_int32=out_int32, right=right)


def histc(input, bins=100, min=0, max=0, *, out=None):
    """One call."""
    if min > max:
        raise RuntimeError("torch.histc: max must be larger than min")
    x = input.reshape(-1)
    of_elements = min == max and x.numel() > 0
    if of_elements and not torch.compiler.is_compiling():
        min, max = torch.amin(x).item(), torch.amax(x).item()
    if not (math.isfinite(min) and math.isfinite(max)):
        raise RuntimeError(f"torch.histc: range of [{min}, {max}] is not finite")
    if of_elements:
        low, high = torch.amin(x), torch.amax(x)
    else:
        low, high = torch.full((), float(min), dtype=x.dtype), torch.full((), float(max), dtype=x.dtype)
    same = low == high
    low, high = torch.where(same, low - 1, low), torch.where(same, high + 1, high)
    at = torch.clamp(((x - low) / (high - low) * bins).long(), 0, bins - 1)
    at = torch.where(torch.isfinite(high - low), at, bins)  # a graph, which has not asked, is refused by its index
    inside = ((x >= low) & (x <= high)).to(x.dtype)
    return torch.zeros(bins, dtype=x.dtype).scatter_add(0, at, inside)


def isin(elements, test_elements, *, assume_unique=False, invert=False):
    """One call."""
    if not isinstance(test_elements, torch.Tensor):
        test_elements = torch.tensor(test_elements)
    if not isinstance(elements, torch.Tensor):
        elements = torch.tensor(elements)
    found = (elements.unsqueeze(-1) == test_elements.reshape(-1)).any(-1)
    return ~found if invert else found


# ---- new tensors, types


def logspace(start, end, steps, base=10.0, *, dtype=None, device=None, requires_grad=False, out=None):
    """One call."""
    places = torch.linspace(start, end, steps, dtype=torch.float64)
    return torch.pow(base, places).to(torch.get_default_dtype() if dtype is None else dtype)


def randint_like(input, low, high=None, *, dtype=None, device=None, requires_grad=False):
    """One call."""
    low, high = (0, low) if high is None else (low, high)
    return torch.randint(low, high, input.shape).to(input.dtype if dtype is None else dtype)


def vander(x, N=None, increasing=False):
    """One call."""
    if x.dim() != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    n = x.shape[0] if N is None else N
    powers = torch.arange(n) if increasing else torch.arange(n - 1, -1, -1)
    return torch.pow(x.unsqueeze(-1), powers)


def _rank(dtype):
    return 2 if dtype.is_floating_point else 0 if dtype == torch.bool else 1


def can_cast(from_, to):
    return _rank(from_) <= _rank(to)


@torch._C._skip
def result_type(tensor1, tensor2):
    found = [None, None, None]
    for x in (tensor1, tensor2):
        if isinstance(x, torch.Tensor):
            at, dtype = (0 if x.dim() else 1), x.dtype
        else:
            at = 2
            dtype = torch.bool if isinstance(x, bool) else torch.int64 if isinstance(x, int) else torch.get_default_dtype()
        found[at] = dtype if found[at] is None else torch.promote_types(found[at], dtype)
    made = None
    for dtype in found:
        if dtype is not None and (made is None or _rank(dtype) > _rank(made)):
            made = dtype
    return made


def is_nonzero(input):
    if input.numel() != 1:
        raise RuntimeError(f"Boolean value of Tensor with {'no values' if input.numel() == 0 else 'more than one value'} is ambiguous")
    return bool(input.reshape(()).item())
