# Complex numbers of Python: complex(a, b), 2j.
import math

_NAN = float("nan")


def _parts(v):
    """The two parts of a number; None of what is none."""
    if isinstance(v, number):
        return v.real, v.imag
    return (float(v), 0.0) if isinstance(v, (int, float)) else None


def _text(v):
    made = repr(v)
    return made[:-2] if made.endswith(".0") else made


class number:
    __builtin__ = complex

    def __init__(self, real=0.0, imag=None):
        if isinstance(real, str):
            if imag is not None:
                raise TypeError("complex() can't take second arg if first is a string")
            try:
                real = _read(real)
            except ValueError:
                raise ValueError("complex() arg is a malformed string") from None
        elif isinstance(imag, str):
            raise TypeError("complex() second arg can't be a string")
        imag = 0.0 if imag is None else imag
        re, im = _parts(real), _parts(imag)
        if re is None or im is None:
            name = type(real if re is None else imag).__name__
            what = "first argument must be a string or a number" if re is None else "second argument must be a number"
            raise TypeError(f"complex() {what}, not '{name}'")
        self.real = re[0] - im[1]
        self.imag = re[1] + im[0]

    def conjugate(self):
        return number(self.real, -self.imag)

    def __abs__(self):
        return math.hypot(self.real, self.imag)

    def __neg__(self):
        return number(-self.real, -self.imag)

    def __pos__(self):
        return self

    def __bool__(self):
        return self.real != 0 or self.imag != 0

    def __hash__(self):
        return hash(self.real) if self.imag == 0 else hash((self.real, self.imag))

    def __eq__(self, other):
        parts = _parts(other)
        return NotImplemented if parts is None else (self.real, self.imag) == parts

    def __ne__(self, other):
        parts = _parts(other)
        return NotImplemented if parts is None else (self.real, self.imag) != parts

    def __add__(self, other):
        parts = _parts(other)
        if parts is None:
            return _with_tensor("add", self, other)
        return number(self.real + parts[0], self.imag + parts[1])

    def __radd__(self, other):
        return self + other

    def __sub__(self, other):
        parts = _parts(other)
        if parts is None:
            return _with_tensor("sub", self, other)
        return number(self.real - parts[0], self.imag - parts[1])

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        parts = _parts(other)
        if parts is None:
            return _with_tensor("mul", self, other)
        re, im = parts
        return number(self.real * re - self.imag * im, self.real * im + self.imag * re)

    def __rmul__(self, other):
        return self * other

    def __truediv__(self, other):
        parts = _parts(other)
        if parts is None:
            return _with_tensor("div", self, other)
        return _divided(self, *parts)

    def __rtruediv__(self, other):
        parts = _parts(other)
        if parts is None:
            return _with_tensor("div", other, self)
        return _divided(number(*parts), self.real, self.imag)

    def __pow__(self, other):
        if isinstance(other, int) and 0 <= other <= 100:
            made = number(1.0)
            for _ in range(other):
                made = made * self
            return made
        parts = _parts(other)
        if parts is None:
            return _with_tensor("pow", self, other)
        return _power(self, *parts)

    def __rpow__(self, other):
        parts = _parts(other)
        if parts is None:
            return _with_tensor("pow", other, self)
        return _power(number(*parts), self.real, self.imag)

    def __repr__(self):
        sign = "-" if self.imag < 0 or (self.imag == 0 and math.copysign(1.0, self.imag) < 0) else "+"
        if self.real == 0 and math.copysign(1.0, self.real) > 0:
            return f"{_text(self.imag)}j"
        return f"({_text(self.real)}{sign}{_text(abs(self.imag))}j)"

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        import torch

        return torch._complex_call(func, args, kwargs or {})


def _read(text):
    text = text.strip().strip("()")
    if not text.endswith("j"):
        return float(text)
    body = text[:-1]
    for i in range(len(body) - 1, 0, -1):
        if body[i] in "+-" and body[i - 1] not in "eE":
            return number(float(body[:i]), float(body[i:] + "1" if body[i:] in "+-" else body[i:]))
    return number(0.0, float(body + "1" if body in ("", "+", "-") else body))


def _with_tensor(name, a, b):
    import torch

    if not isinstance(a, torch.Tensor) and not isinstance(b, torch.Tensor):
        return NotImplemented
    return torch._complex_named(name, (a, b), {})


def _divided(a, re, im):
    size = re * re + im * im
    if size == 0:
        raise ZeroDivisionError("complex division by zero")
    return number((a.real * re + a.imag * im) / size, (a.imag * re - a.real * im) / size)


def _power(a, re, im):
    size = abs(a)
    if size == 0:
        return number(1.0 if re == 0 and im == 0 else 0.0)
    angle = math.atan2(a.imag, a.real)
    length = size**re * math.exp(-im * angle)
    turn = re * angle + im * math.log(size)
    return number(length * math.cos(turn), length * math.sin(turn))


# ---- cmath

pi, e = math.pi, math.e


def phase(x):
    re, im = _parts(x)
    return math.atan2(im, re)


def polar(x):
    return abs(x), phase(x)


def rect(r, phi):
    return number(r * math.cos(phi), r * math.sin(phi))


def exp(x):
    re, im = _parts(x)
    return rect(math.exp(re), im)


def log(x):
    return number(math.log(abs(x)), phase(x))


def sqrt(x):
    return rect(math.sqrt(abs(x)), phase(x) / 2)
