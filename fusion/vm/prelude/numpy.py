# Of numpy, what is about plain numbers; its arrays are left out.
import math

pi = math.pi
e = math.e
inf = math.inf
nan = math.nan
newaxis = None


def _number(x):
    if not isinstance(x, (int, float)):
        raise TypeError("numpy's functions take plain numbers here; write it with torch")
    return x


def sqrt(x):
    return math.sqrt(_number(x))


def exp(x):
    return math.exp(_number(x))


def log(x):
    return math.log(_number(x))


def log2(x):
    return math.log2(_number(x))


def log10(x):
    return math.log10(_number(x))


def sin(x):
    return math.sin(_number(x))


def cos(x):
    return math.cos(_number(x))


def ceil(x):
    return float(math.ceil(_number(x)))


def floor(x):
    return float(math.floor(_number(x)))


def prod(items):
    result = 1
    for x in items:
        result = result * _number(x)
    return result
