# The rarer functions of the module math.
import math

import torch


def _whole(n, name):
    if not isinstance(n, int):
        raise TypeError(f"'{type(n).__name__}' object cannot be interpreted as an integer")
    if n < 0:
        raise ValueError(f"{name} must be a non-negative integer")
    return n


def lcm(*numbers):
    result = 1
    for n in numbers:
        if n == 0:
            return 0
        result = abs(result // math.gcd(result, n) * n)
    return result


def comb(n, k):
    _whole(n, "n")
    _whole(k, "k")
    if k > n:
        return 0
    result = 1
    for i in range(min(k, n - k)):
        result = result * (n - i) // (i + 1)
    return result


def perm(n, k=None):
    _whole(n, "n")
    k = n if k is None else _whole(k, "k")
    result = 1 if k <= n else 0
    for i in range(k if k <= n else 0):
        result = result * (n - i)
    return result


def dist(p, q):
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    return math.hypot(*[a - b for a, b in zip(p, q)]) if len(p) == 2 else math.sqrt(
        fsum([(a - b) ** 2 for a, b in zip(p, q)])
    )


def fsum(numbers):
    # Shewchuk's: what rounding loses is kept in parts that do not overlap.
    parts = []
    for x in numbers:
        kept = 0
        for y in parts:
            if abs(x) < abs(y):
                x, y = y, x
            high = x + y
            low = y - (high - x)
            if low:
                parts[kept] = low
                kept += 1
            x = high
        parts[kept:] = [x]
    return float(sum(parts[::-1]))


def lgamma(x):
    return torch.lgamma(torch.tensor(float(x), dtype=torch.float64)).item()


def gamma(x):
    if x == math.floor(x):
        if x <= 0:
            raise ValueError("math domain error")
        if x <= 171:
            return float(math.factorial(int(x) - 1))
    sign = -1.0 if x < 0 and math.floor(x) % 2 else 1.0
    return sign * math.exp(lgamma(x))
