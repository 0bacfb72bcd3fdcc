"""References and calls of the pointwise rows."""
import math

import naive
from naive import ALL, FLOATS, INF, INTS, NAN, Nd, cast, pointwise, result_type
from table import B, C, I, P, PAIRS, S, U, V, X, binary, row, unary


def guarded(f, at_pole=NAN):
    """f of a float, NaN outside its domain, infinite where it overflows."""

    def call(*xs):
        if any(isinstance(x, float) and math.isnan(x) for x in xs):
            return NAN
        try:
            return f(*xs)
        except OverflowError:
            return INF
        except (ValueError, ZeroDivisionError):
            return at_pole
    return call


def finite(f, low, high):
    """f has these limits at -inf and inf."""
    return lambda x: x if math.isnan(x) else low if x == -INF else high if x == INF else guarded(f)(x)


def to_int(f):
    """f of floats; ints are as they are."""
    return lambda x: x if isinstance(x, (int, bool)) or not math.isfinite(x) else math.copysign(f(x), x)


def logarithm(f):
    return lambda x: NAN if math.isnan(x) or x < 0 else -INF if x == 0 else INF if x == INF else f(x)


def exponential(f, low=0.0):
    return finite(f, low, INF)


def real_sinh(x):
    return x if math.isinf(x) else math.copysign(INF, x) if abs(x) > 711 else math.sinh(x)


def sign(x):
    return (x > 0) - (x < 0)  # NaN has none


def sigmoid(x):
    if x != x:
        return x
    return 1 / (1 + math.exp(-x)) if x > -700 else 0.0


def invert(x):
    return not x if isinstance(x, bool) else ~x


f1 = lambda f: pointwise(f, "float")
same = pointwise
NUMBERS = FLOATS + INTS
truth = lambda f: pointwise(f, "bool")

unary("neg", same(lambda a: -a), dtypes=NUMBERS, extra=[C("x", B(2), raises="bool")])
unary("contiguous", same(lambda a: a), inplace=False)
unary("clone", same(lambda a: a), inplace=False)
unary("abs", same(abs), dtypes=NUMBERS)
unary("relu", same(lambda a: a if a != a else max(a, type(a)(0))), dtypes=NUMBERS, modules=[("nn.ReLU()(x)", "x"), ("nn.ReLU(inplace=True)(x.clone())", "x")])
unary("sin", f1(guarded(math.sin)))
unary("cos", f1(guarded(math.cos)))
unary("tan", f1(guarded(math.tan)))
unary("exp", f1(exponential(math.exp)))
unary("exp2", f1(exponential(lambda a: 2.0**a)))
unary("expm1", f1(exponential(math.expm1, -1.0)))
unary("log", f1(logarithm(math.log)))
unary("log2", f1(logarithm(math.log2)))
unary("log1p", f1(lambda a: logarithm(lambda b: math.log1p(b - 1) if b != a + 1 else math.log1p(a))(a + 1)))
unary("log10", f1(logarithm(math.log10)))
unary("sinh", f1(real_sinh))
unary("cosh", f1(guarded(lambda a: INF if math.isinf(a) else math.cosh(a))))
unary("asin", f1(guarded(math.asin)))
unary("acos", f1(guarded(math.acos)))
unary("atan", f1(guarded(math.atan)))
unary("asinh", f1(guarded(math.asinh)))
unary("acosh", f1(guarded(math.acosh)))
unary("atanh", f1(lambda a: math.copysign(INF, a) if abs(a) == 1 else guarded(math.atanh)(a)))
unary("erfc", f1(guarded(math.erfc)), tol=4)
unary("tanh", f1(guarded(math.tanh)), modules=[("nn.Tanh()(x)", "x")])
unary("sigmoid", f1(sigmoid), modules=[("nn.Sigmoid()(x)", "x")])
unary("erf", f1(guarded(math.erf)))
unary("sqrt", f1(guarded(math.sqrt)))
unary("rsqrt", f1(lambda a: NAN if a != a or a < 0 else math.copysign(INF, a) if a == 0 else 1 / math.sqrt(a)))
unary("reciprocal", f1(lambda a: math.copysign(INF, a) if a == 0 else 1 / a))
unary("square", same(lambda a: a * a), dtypes=NUMBERS)
unary("floor", same(to_int(math.floor)), dtypes=NUMBERS)
unary("ceil", same(to_int(math.ceil)), dtypes=NUMBERS)
unary("trunc", same(to_int(math.trunc)), dtypes=NUMBERS)
def rounded(x, decimals=0):
    if not decimals:
        return same(to_int(round))(x)
    power = 10.0 ** abs(decimals)
    up = lambda a: cast(a * power, x.dtype)
    down = lambda a: cast(a / power, x.dtype)
    if decimals < 0:
        up, down = down, up
    return same(lambda a: down(cast(to_int(round)(up(a)), x.dtype)))(x)


DECIMALS = [C("x, decimals=1", X(2, 3), dtypes=FLOATS), C("x, decimals=-1", X(7), dtypes=FLOATS), C("x, decimals=2", S(5), dtypes=("float32", "float64")), C("x, decimals=0", X(3))]
unary("round", rounded, dtypes=NUMBERS, extra=DECIMALS)
unary("sign", same(sign))
unary("isnan", truth(lambda a: a != a), inplace=False)
unary("logical_not", pointwise(lambda a: not a, "logic"))
unary("invert", same(invert), dtypes=INTS + ("bool",), special=False, extra=[C("x", X(2), raises="float32")])
unary("frac", same(lambda a: NAN if not math.isfinite(a) else a - math.trunc(a)), dtypes=FLOATS)
unary("isinf", truth(lambda a: a in (INF, -INF)), inplace=False)
unary("isfinite", truth(lambda a: a == a and a not in (INF, -INF)), inplace=False)
unary("deg2rad", f1(lambda a: a * math.pi / 180), tol=2)
unary("rad2deg", f1(lambda a: a * 180 / math.pi), tol=2)
unary("sinc", f1(lambda a: NAN if math.isinf(a) or a != a else 1.0 if a == 0 else math.sin(math.pi * a) / (math.pi * a)), tol=4)


def logit(x, eps=None):
    def one(a):
        if eps is not None and a == a:
            a = min(max(a, eps), 1 - eps)
        if a == 0:
            return -INF
        return INF if a == 1 else guarded(lambda b: math.log(b / (1 - b)))(a)

    return f1(one)(x)


unary("logit", logit, "unit", extra=[C("x, 0.25", U(2, 3), dtypes=FLOATS), C("x, eps=0.25", S(10), dtypes=FLOATS)], tol=2)


def nan_to_num(x, nan=None, posinf=None, neginf=None):
    most = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38, "float64": 1.7976931348623157e308}.get(x.dtype)
    return same(lambda a: (nan or 0.0) if a != a else (most if posinf is None else posinf) if a == INF else (-most if neginf is None else neginf) if a == -INF else a)(x)


unary("nan_to_num", nan_to_num, extra=[C("x, 1.0, 2.0, -2.0", S(10), dtypes=FLOATS), C("x, posinf=5.0", S(10), dtypes=FLOATS)])

# ---- two operands


def floordiv(a, b):
    if isinstance(a, (int, bool)) and isinstance(b, (int, bool)):
        return a // b if b else 0
    if a != a or b != b:
        return NAN
    if b == 0:
        return NAN if a == 0 else math.copysign(INF, a) * math.copysign(1, b)
    if math.isinf(a):
        return NAN if True and math.isinf(b) else NAN
    if math.isinf(b):
        return -1.0 if a != 0 and (a < 0) != (b < 0) else math.copysign(0.0, a * b if a else b * math.copysign(1, a))
    return float(math.floor(a / b)) if a / b == a // b else a // b


def mod(a, b):
    if isinstance(a, (int, bool)) and isinstance(b, (int, bool)):
        return a % b if b else 0
    if a != a or b != b or b == 0 or math.isinf(a):
        return NAN
    if math.isinf(b):
        return a if a == 0 or (a < 0) == (b < 0) else b
    r = math.fmod(a, b)
    return r + b if r and (r < 0) != (b < 0) else r


def fmod(a, b):
    if isinstance(a, (int, bool)) and isinstance(b, (int, bool)):
        return int(math.fmod(a, b)) if b else 0
    if a != a or b != b or b == 0 or math.isinf(a):
        return NAN
    return math.fmod(a, b)


def power(a, b):
    if isinstance(a, (int, bool)) and isinstance(b, (int, bool)):
        a, b = int(a), int(b)
        return a**b if b >= 0 else {1: 1, -1: 1 if b % 2 == 0 else -1}.get(a, 0)
    if b == 0 or a == 1:
        return 1.0
    if a != a or b != b:
        return NAN
    odd = math.isfinite(b) and b % 2 == 1
    try:
        return math.pow(a, b)
    except OverflowError:
        return -INF if a < 0 and odd else INF
    except ValueError:
        return (math.copysign(INF, a) if odd else INF) if a == 0 else NAN


def divide(a, b):
    if a != a or b != b:
        return NAN
    if b == 0:
        return NAN if a == 0 else math.copysign(INF, a) * math.copysign(1, b)
    return NAN if math.isinf(a) and math.isinf(b) else a / b


def least(a, b):
    return a if a != a else b if b != b else min(a, b)


def most(a, b):
    return a if a != a else b if b != b else max(a, b)


def times(a, b):
    return a * b


def alpha(sign):
    def call(x, y, alpha=1):
        made = result_type(x, y)
        one = (lambda a, b: a or b) if made == "bool" else lambda a, b: a + sign * alpha * b
        return pointwise(one)(x, y)

    return call


plus = pointwise(lambda a, b: (a or b) if isinstance(a, bool) else a + b)
binary("add", plus)
binary("sub", pointwise(lambda a, b: a - b), dtypes=NUMBERS, extra=[C("x, y", B(2), B(2), raises="bool")])
binary("mul", pointwise(times))
binary("truediv", pointwise(divide, "float"))
# Quotients of small dtypes are rounded before they are cut.
NO_ZERO = dict(kind="any", other="positive")
binary("floordiv", pointwise(floordiv), dtypes=("float32", "float64") + INTS, **NO_ZERO)
binary("mod", pointwise(mod), dtypes=NUMBERS, **NO_ZERO)
binary("fmod", pointwise(fmod), dtypes=NUMBERS, **NO_ZERO)
binary("pow", pointwise(power), dtypes=NUMBERS, kind="positive", other="positive", numbers=False, special=True,
       extra=[C("x, 2", X(2, 3)), C("x, 3", X(2, 3)), C("x, 0.5", P(2, 3), dtypes=FLOATS), C("x, -1", P(2, 3), dtypes=FLOATS), C("x, -0.5", P(2, 3), dtypes=FLOATS), C("x, 0", X(2, 3)), C("2, x", X(2, 3), dtypes=FLOATS), C("x, 2.0", S(10), dtypes=FLOATS)], tol=4)
binary("atan2", pointwise(guarded(math.atan2), "float"), numbers=False)
binary("minimum", pointwise(least), numbers=False)
binary("maximum", pointwise(most), numbers=False)
binary("lt", truth(lambda a, b: a < b))
binary("le", truth(lambda a, b: a <= b))
binary("gt", truth(lambda a, b: a > b))
binary("ge", truth(lambda a, b: a >= b))
binary("eq", truth(lambda a, b: a == b))
binary("ne", truth(lambda a, b: a != b))
binary("logical_and", pointwise(lambda a, b: bool(a) and bool(b), "logic"), numbers=False)
binary("logical_or", pointwise(lambda a, b: bool(a) or bool(b), "logic"), numbers=False)
binary("logical_xor", pointwise(lambda a, b: bool(a) != bool(b), "logic"), numbers=False)
BITS = INTS + ("bool",)
BITWISE = dict(dtypes=BITS, special=False, numbers=False)
WRONG = [C("x, y", X(2), X(2), raises="float32")]
binary("and_", pointwise(lambda a, b: a & b), extra=[C("x, 3", X(2, 3))] + WRONG, **BITWISE)
binary("or_", pointwise(lambda a, b: a | b), extra=[C("x, 3", X(2, 3))] + WRONG, **BITWISE)
binary("xor_", pointwise(lambda a, b: a ^ b), extra=[C("x, 3", X(2, 3))] + WRONG, **BITWISE)
binary("add_alpha", alpha(1), extra=[C("x, y, alpha=2", X(2, 3), X(3), dtypes=NUMBERS), C("x, 3, alpha=2", X(2, 3), dtypes=NUMBERS), C("x, y, alpha=0.5", X(2, 3), X(3), dtypes=FLOATS), C("x, y", X(2), X(3), raises="2")])
binary("sub_alpha", alpha(-1), dtypes=NUMBERS, extra=[C("x, y, alpha=2", X(2, 3), X(3)), C("x, 3, alpha=2", X(2, 3))])


def rsub(x, y, alpha=1):
    return pointwise(lambda a, b: b - alpha * a)(x, y)


binary("rsub", rsub, dtypes=NUMBERS, inplace=False, extra=[C("x, y, alpha=2", X(2, 3), X(3)), C("x, 3", X(2, 3))])


def div(x, y, rounding_mode=None):
    if rounding_mode is None:
        return pointwise(divide, "float")(x, y)
    cut = floordiv if rounding_mode == "floor" else lambda a, b: (int(a / b) if b else 0) if isinstance(a, (int, bool)) else divide(a, b) if not math.isfinite(divide(a, b)) else float(math.trunc(a / b))
    return pointwise(cut)(x, y)


binary("div", div, extra=[C(f"x, y, rounding_mode={m!r}", X(2, 3), P(3), dtypes=("float32", "float64") + INTS) for m in ("floor", "trunc")] + [C("x, 2, rounding_mode='floor'", X(2, 3), dtypes=("float32", "float64") + INTS), C("x, y, rounding_mode='up'", X(2), X(2), raises="rounding_mode")])


def clamp(x, min=None, max=None):
    operands = [o for o in (x, min, max) if o is not None]

    def one(a, *bounds):
        bounds = list(bounds)
        if min is not None:
            a = most(a, bounds.pop(0))
        return least(a, bounds.pop(0)) if max is not None else a

    return pointwise(one)(*operands)


CLAMPS = [C("x, -1, 1", X(2, 3), dtypes=FLOATS + ("int32", "int8")), C("x, min=0", X(37)), C("x, max=1", X(2, 1, 3)), C("x, 1, 0", X(5)), C("x, -0.5, 0.5", S(10), dtypes=FLOATS), C("x, 0.5", X(2, 3), dtypes=("int32",), inplace=False),
          C("x, y, z", X(2, 3), X(3), X(2, 1)), C("x, y", X(2, 3), X(3)), C("x, max=y", S(10), X(1), dtypes=FLOATS), C("x, 0, 1", X()), C("x, 0, 1", X(0, 3)), C("x", X(2), raises="min")]
row("clamp", clamp, *CLAMPS, dtypes=NUMBERS, inplace=True)
binary("clamp_min", lambda x, y: pointwise(most)(x, y), dtypes=NUMBERS)
binary("clamp_max", lambda x, y: pointwise(least)(x, y), dtypes=NUMBERS)


def isclose(x, y, rtol=1e-5, atol=1e-8, equal_nan=False):
    return truth(lambda a, b: a == b or (equal_nan and a != a and b != b) or (math.isfinite(a) and math.isfinite(b) and abs(a - b) <= atol + rtol * abs(b)))(x, y)


row("isclose", isclose, C("x, y", X(2, 3), X(3)), C("x, x", S(10)), C("x, x, equal_nan=True", S(10)), C("x, y, 0.5, 0.5", X(37), X(37)), C("x, y", X(0), X(0)), C("x, y", X(2, 3), X(2, 3), dtypes=("int32",)), dtypes=("float32", "float64"))


def lerp(x, end, weight):
    # weight * (end - x) is taken from the nearer end: |weight| < 0.5 or not.
    return pointwise(lambda a, b, w: a + w * (b - a) if abs(w) < 0.5 else b - (b - a) * (1 - w))(x, end, weight)


row("lerp", lerp, C("x, y, 0.25", X(2, 3), X(3)), C("x, y, 0.75", X(37), X(37)), C("x, y, z", X(2, 3), X(2, 3), U(2, 3)), C("x, y, 0.5", X(), X()), C("x, y, 0.5", X(0, 3), X(0, 3)), C("x, y, 0.25", S(10), X(10)), inplace=True)
row("addcmul", lambda x, a, b, value=1: pointwise(lambda p, q, r: p + value * q * r)(x, a, b), C("x, y, z", X(2, 3), X(3), X(2, 1)), C("x, y, z, value=2", X(37), X(37), X(37)), C("x, y, z", X(), X(), X()), C("x, y, z, value=0.5", X(2, 3), X(2, 3), X(1), dtypes=FLOATS), C("x, y, z", X(0), X(1), X(1)), C("x, y, z", S(10), X(10), X(10), dtypes=FLOATS), inplace=True, dtypes=NUMBERS)
row("addcdiv", lambda x, a, b, value=1: pointwise(lambda p, q, r: p + value * divide(q, r))(x, a, b), C("x, y, z", X(2, 3), X(3), P(2, 1)), C("x, y, z, value=2", X(37), X(37), P(37)), C("x, y, z", X(), X(), P()), C("x, y, z", X(0), X(1), P(1)), C("x, y, z", S(10), X(10), P(10)), inplace=True)
binary("hypot", pointwise(lambda a, b: INF if INF in (abs(a), abs(b)) else math.hypot(a, b)), numbers=False, dtypes=FLOATS)


def logaddexp(a, b):
    if a != a or b != b:
        return NAN
    m = max(a, b)
    return m if math.isinf(m) else m + math.log(math.exp(a - m) + math.exp(b - m))


binary("logaddexp", pointwise(logaddexp), numbers=False, dtypes=FLOATS, inplace=False)
binary("xlogy", pointwise(lambda a, b: NAN if b != b else 0.0 if a == 0 else NAN if a != a else guarded(lambda p, q: p * logarithm(math.log)(q))(a, b), "float"), other="positive")
binary("fmax", pointwise(lambda a, b: b if a != a else a if b != b else max(a, b)), numbers=False, inplace=False)
binary("fmin", pointwise(lambda a, b: b if a != a else a if b != b else min(a, b)), numbers=False, inplace=False)
binary("copysign", pointwise(lambda a, b: math.copysign(a, b) if a == a else NAN, "float"))
binary("heaviside", pointwise(lambda a, b: type(a)(0) if a != a else type(a)(0) if a < 0 else type(a)(1) if a > 0 else b), numbers=False, mixed=False)
POW = lambda x, y: Nd(*(lambda s, c: (s, "float64", [power(float(a), float(b)) for a, b in zip(*c)]))(*naive.tensors(x, y)))
row("float_power", POW, C("x, y", P(2, 3), X(3)), C("x, 2", X(37)), C("x, 0.5", P(2, 1)), C("2.0, x", X(3)), C("x, y", X(0, 3), X(1)), C("x, y", S(10), S(10), dtypes=FLOATS), dtypes=ALL, tol=1)

# ---- three operands, dtypes


def where(c, x, y):
    made = result_type(x, y)
    shape, columns = naive.tensors(c, x, y)
    return Nd(shape, made, [cast(a if k else b, made) for k, a, b in zip(*columns)])


row("where", where, C("x, y, z", B(2, 3), X(3), X(2, 1)), C("x, y, 0.5", B(37), X(37), dtypes=FLOATS), C("x, 1, y", B(2, 3), X(2, 3)), C("x, y, z", B(), X(), X()), C("x, y, z", B(0, 3), X(3), X(3)), C("x, y, z", B(10), S(10), S(10), dtypes=FLOATS), C("x, y, z", B(2), X(2, dtype="int32"), X(2, dtype="float32"), dtypes=("float32",)), C("x, 1, 0", B(3)), C("x, 1.0, 0.0", B(3)), C("x, y, z", X(2, dtype="int64"), X(2), X(2), raises="bool"), dtypes=ALL)
row("to", lambda x, d: x.to(d), *[C(f"x, torch.{d}", X(2, 3)) for d in ALL], C("x, torch.int32", X(0)), C("x, torch.float16", V([65504.0, 65519.0, 65520.0, 1e-8, INF, NAN]), dtypes=("float32", "float64")), C("x, torch.bfloat16", S(10), dtypes=FLOATS), C("x, torch.bool", S(10), dtypes=FLOATS), dtypes=ALL)

# ---- bits and whole numbers


def shifted(left):
    def one(a, b):
        return a << b if left else a >> b

    return pointwise(one)


SHIFT = dict(dtypes=INTS, special=False, numbers=False, kind="any", other="positive")
BOOLS = [C("x, y", B(2), B(2), raises="bool")]
binary("lshift", shifted(True), extra=[C("x, 2", X(2, 3))] + BOOLS, **SHIFT)
binary("rshift", shifted(False), extra=[C("x, 2", X(2, 3))] + BOOLS, **SHIFT)
WHOLE = dict(dtypes=INTS, special=False, numbers=False)
binary("gcd", pointwise(math.gcd), **WHOLE)
binary("lcm", pointwise(math.lcm), **WHOLE)

# ---- special functions


def lgamma(x):
    return INF if math.isinf(x) or (x <= 0 and x == math.floor(x)) else math.lgamma(x)


def digamma(x):
    if x != x or x == -INF:
        return NAN
    if x == INF:
        return x
    if x == 0:
        return -math.copysign(INF, x)
    if x < 0:
        return NAN if x == math.floor(x) else digamma(1 - x) - math.pi / math.tan(math.pi * math.fmod(x, 1))
    made = 0.0
    while x < 30:
        made -= 1 / x
        x += 1
    return made + math.log(x) - 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4) - 1 / (252 * x**6)


def erfinv(x):
    if x != x or abs(x) > 1:
        return NAN
    if abs(x) == 1:
        return math.copysign(INF, x)
    low, high = 0.0, 6.0
    for _ in range(200):  # halving: erfc says more of the tail
        mid = (low + high) / 2
        low, high = (mid, high) if math.erfc(mid) > 1 - abs(x) else (low, mid)
    return math.copysign(mid if x else 0.0, x)


def i0(x):
    x = abs(x)
    if x != x or x == INF:
        return x
    made, term = 0.0, 1.0
    for k in range(1, 400):
        made += term
        term *= (x / 2 / k) ** 2
    return made


unary("lgamma", f1(guarded(lgamma)), tol=4)
unary("digamma", f1(digamma), tol=20, inplace=True)
unary("erfinv", f1(erfinv), "small", tol=20, inplace=True, extra=[C("x", V([0.999, -0.9999, 1e-3, 0.5, -0.25]), dtypes=("float32", "float64"))])
unary("i0", f1(i0), tol=8, inplace=False, extra=[C("x", V([15.5, 17.0, 30.0, -80.0, 0.0]), dtypes=("float32", "float64"))])
for name in ("mvlgamma", "multigammaln"):
    row(name, lambda x, p: pointwise(lambda a: p * (p - 1) / 4 * math.log(math.pi) + sum(math.lgamma(a - j / 2) for j in range(p)), "float")(x), C("x, 2", V([1.5, 2.0, 3.25])), C("x, 1", P(3)), dtypes=("float32", "float64"), tol=8)


def polygamma(n, x):
    def one(a):
        made = 0.0
        for k in range(100):
            made += (a + k) ** -(n + 1)
        a += 100
        f = math.factorial
        tail = f(n - 1) * a**-n + f(n) / 2 * a ** -(n + 1) + 1 / 12 * f(n + 1) * a ** -(n + 2)
        return (-1) ** (n + 1) * (f(n) * made + tail)

    return f1(digamma if n == 0 else one)(x)


row("polygamma", lambda *a: polygamma(*(a if isinstance(a[0], int) else a[::-1])), C("1, x", P(5)), C("2, x", P(3)), C("0, x", P(3)), C("x, 1", P(3), spellings=("Tensor.polygamma",)), dtypes=("float32", "float64"), tol=30)
unary("positive", same(lambda a: a), dtypes=NUMBERS, inplace=False)
unary("signbit", truth(lambda a: math.copysign(1, a) < 0 if a == a else False), dtypes=NUMBERS, inplace=False)
unary("isposinf", truth(lambda a: a == INF), inplace=False)
unary("isneginf", truth(lambda a: a == -INF), inplace=False)
unary("isreal", truth(lambda a: True), inplace=False)
row("ldexp", pointwise(lambda a, b: a * 2.0**b, "float"), C("x, y", X(2, 3), I(3)), C("x, y", X(5), I(1, low=-3)), dtypes=("float32", "float64"))
binary("logaddexp2", pointwise(lambda a, b: NAN if a != a or b != b else max(a, b) if math.isinf(max(a, b)) else max(a, b) + math.log2(1 + 2.0 ** -abs(a - b))), numbers=False, dtypes=FLOATS, inplace=False, mixed=False)
row("dist", lambda x, y, p=2: Nd((), x.dtype, [(sum(abs(a - b) ** p for a, b in zip(*naive.tensors(x, y)[1]))) ** (1 / p)]), C("x, y", X(2, 3), X(2, 3)), C("x, y, 1", X(5), X(5)), tol=4)


def renorm(x, p, dim, maxnorm):
    made = x.contiguous()
    for i in range(x.shape[dim]):
        part = made.select(dim, i)
        size = sum(abs(v) ** p for v in part.flat()) ** (1 / p)
        if size > maxnorm:
            part.copy_(Nd(part.shape, x.dtype, [v * maxnorm / (size + 1e-7) for v in part.flat()]))
    return made


row("renorm", renorm, C("x, 2, 0, 1.5", X(3, 4)), C("x, 1, 1, 2.0", X(2, 3, 2)), tol=4, inplace=True)

for name, f in (("expit", sigmoid), ("psi", digamma), ("gammaln", guarded(lgamma))):
    row(name, f1(f), C("x", X(2, 3)), C("x", S(10)), tol=20)
row("entr", f1(lambda a: a if a != a else -INF if a < 0 or a == INF else 0.0 if a == 0 else -a * math.log(a)), C("x", X(7)), C("x", S(10)), tol=4)
row("ndtr", f1(lambda a: 0.5 * math.erfc(-a / math.sqrt(2))), C("x", X(7)), C("x", S(10)), tol=20)


def erfcx(a):
    """exp(a * a) * erfc(a), by a continued fraction where that is nothing times infinity."""
    if a != a or a == INF:
        return a if a != a else 0.0
    if a < 5:
        return INF if a < -26 else math.exp(a * a) * math.erfc(a)
    made = a
    for k in range(60, 0, -1):
        made = a + k / 2 / made
    return 1 / made / math.sqrt(math.pi)


def log_ndtr(a):
    if a != a:
        return a
    return math.log1p(-0.5 * math.erfc(a / math.sqrt(2))) if a > -1 else -INF if a == -INF else math.log(erfcx(-a / math.sqrt(2)) / 2) - a * a / 2


FAR = C("x", V([-30.0, -12.5, 4.5, 24.0, 25.5, 80.0]))
row("erfcx", f1(erfcx), C("x", X(7)), C("x", S(10)), FAR, dtypes=("float32", "float64"), tol=200)
row("log_ndtr", f1(log_ndtr), C("x", X(7)), C("x", S(10)), FAR, dtypes=("float32", "float64"), tol=40)
row("ndtri", f1(lambda a: erfinv(2 * a - 1) * math.sqrt(2)), C("x", U(7)), tol=40)
row("xlog1py", pointwise(lambda a, b: NAN if b != b else 0.0 if a == 0 else a * math.log1p(b)), C("x, y", X(5), P(5)), C("x, y", V([0.0, 0.0]), V([NAN, -1.0])), tol=4)
