# Operators that classes define.
class V:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __repr__(self):
        return f"V({self.x}, {self.y})"

    def __add__(self, o):
        if not isinstance(o, V):
            return NotImplemented
        return V(self.x + o.x, self.y + o.y)

    def __mul__(self, k):
        return V(self.x * k, self.y * k)

    def __rmul__(self, k):
        return self * k

    def __neg__(self):
        return V(-self.x, -self.y)

    def __abs__(self):
        return (self.x**2 + self.y**2) ** 0.5

    def __bool__(self):
        return bool(self.x or self.y)

    def __eq__(self, o):
        return isinstance(o, V) and (self.x, self.y) == (o.x, o.y)

    def __lt__(self, o):
        return abs(self) < abs(o)

    def __iter__(self):
        yield self.x
        yield self.y

    def __getitem__(self, i):
        return (self.x, self.y)[i]

    def __contains__(self, v):
        return v == self.x or v == self.y

    def __call__(self, *args, **kw):
        return args, kw

    def __float__(self):
        return float(self.x)

    def __int__(self):
        return self.x

    def __index__(self):
        return self.x

    def __len__(self):
        return 2

    def __format__(self, spec):
        return "<" + spec + ">"

    def __iadd__(self, o):
        self.x += o.x
        self.y += o.y
        return self

    def __matmul__(self, o):
        return self.x * o.x + self.y * o.y


class Sub(V):
    def __radd__(self, o):
        return "sub"

    def __hash__(self):
        return 7


class Store:
    def __init__(self):
        self.log = []

    def __setitem__(self, k, v):
        self.log.append((k, v))

    def __delitem__(self, k):
        self.log.append(("del", k))

    def __enter__(self):
        self.log.append("in")
        return self

    def __exit__(self, kind, error, trace):
        self.log.append("out" if kind is None else kind.__name__)
        return True


class Count:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        return self.n


class Text:
    def __str__(self):
        return "str"

    def __repr__(self):
        return "repr"


class Plain:
    pass


def caught(f):
    try:
        return f()
    except Exception as e:
        return type(e).__name__, str(e)


def store():
    s = Store()
    s[1] = 2
    s["a", 0] = 3
    del s[4]
    with s as t:
        t[5] = 6
        raise KeyError("k")
    return s.log


def model():
    a, b = V(3, 4), V(1, 2)
    c = a
    c += b
    x, y = a
    p = Plain()
    return repr((
        a + b,
        caught(lambda: a + 1),
        2 * a,
        -b,
        a @ b,
        c is a,
        a,
        (x, y),
        bool(V(0, 0)),
        not V(0, 1),
        a == V(4, 6),
        a != V(4, 6),
        a == 3,
        sorted([V(3, 3), V(1, 1), V(2, 2)]),
        max(V(1, 1), V(0, 5)),
        a[0],
        a[-1],
        4 in a,
        5 in a,
        list(a),
        [*a, *b],
        a(1, k=2),
        float(a),
        int(a),
        [10, 20, 30, 40, 50][b],
        len(a),
        f"{a:>5}",
        f"{a!r:>12}",
        a < b,
        caught(lambda: p < p),
        p == p,
        p != p,
        p == Plain(),
        p in [p],
        b + Sub(0, 0),
        hash(Sub(1, 1)),
        store(),
        list(Count(3)),
        sum(Count(4)),
        next(Count(2)),
        str(Text()),
        repr(Text()),
        [Text()],
        f"{Text()} {Text()!r}",
        "%s %r" % (Text(), Text()),
        "{} {!r}".format(Text(), Text()),
        caught(lambda: len(p)),
        caught(lambda: p[0]),
        caught(lambda: p()),
        caught(lambda: -p),
        caught(lambda: iter(p)),
        caught(lambda: {V(1, 2): 3}),
    ))
