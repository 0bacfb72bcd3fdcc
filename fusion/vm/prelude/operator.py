# The module operator.

_abs = abs


def add(a, b):
    return a + b


def sub(a, b):
    return a - b


def mul(a, b):
    return a * b


def truediv(a, b):
    return a / b


def floordiv(a, b):
    return a // b


def mod(a, b):
    return a % b


def pow(a, b):
    return a**b


def matmul(a, b):
    return a @ b


def neg(a):
    return -a


def pos(a):
    return +a


def not_(a):
    return not a


def and_(a, b):
    return a & b


def or_(a, b):
    return a | b


def xor(a, b):
    return a ^ b


def invert(a):
    return ~a


def lt(a, b):
    return a < b


def le(a, b):
    return a <= b


def eq(a, b):
    return a == b


def ne(a, b):
    return a != b


def gt(a, b):
    return a > b


def ge(a, b):
    return a >= b


def is_(a, b):
    return a is b


def is_not(a, b):
    return a is not b


def contains(a, b):
    return b in a


def getitem(a, b):
    return a[b]


def setitem(a, b, c):
    a[b] = c


def iadd(a, b):
    a += b
    return a


def imul(a, b):
    a *= b
    return a


def lshift(a, b):
    return a << b


def rshift(a, b):
    return a >> b


def concat(a, b):
    return a + b


def countOf(a, b):
    return sum([x is b or x == b for x in a])


def indexOf(a, b):
    for at, kept in enumerate(a):
        if kept is b or kept == b:
            return at
    raise ValueError("sequence.index(x): x not in sequence")


def delitem(a, b):
    del a[b]


def truth(a):
    return True if a else False


def inv(a):
    return ~a


def index(a):
    return a if isinstance(a, int) else a.__index__()


def isub(a, b):
    a -= b
    return a


def itruediv(a, b):
    a /= b
    return a


def ifloordiv(a, b):
    a //= b
    return a


def imod(a, b):
    a %= b
    return a


def ipow(a, b):
    a **= b
    return a


def imatmul(a, b):
    a @= b
    return a


def iand(a, b):
    a &= b
    return a


def ior(a, b):
    a |= b
    return a


def ixor(a, b):
    a ^= b
    return a


def iconcat(a, b):
    a += b
    return a


def itemgetter(*keys):
    if len(keys) == 1:
        return lambda o: o[keys[0]]
    return lambda o: tuple([o[key] for key in keys])


def _reached(o, path):
    for part in path.split("."):
        o = getattr(o, part)
    return o


def attrgetter(*names):
    if len(names) == 1:
        return lambda o: _reached(o, names[0])
    return lambda o: tuple([_reached(o, name) for name in names])


def methodcaller(name, *args, **keywords):
    return lambda o: getattr(o, name)(*args, **keywords)


def abs(a):
    return _abs(a)


def call(obj, /, *args, **kwargs):
    return obj(*args, **kwargs)


def length_hint(obj, default=0):
    return len(obj) if hasattr(obj, "__len__") else default
