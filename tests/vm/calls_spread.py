def f(*args, **kwargs):
    return args, sorted(kwargs.items())


def g(a, b=2, *rest, c, d=4, **more):
    return a, b, rest, c, d, sorted(more.items())


def p(a, /, b, **kw):
    return a, b, kw


def refused(h):
    try:
        h()
    except TypeError as e:
        return True
    return False


class Add:
    def __init__(self, *parts):
        self.parts = parts

    def __call__(self, *more, scale=1):
        return (sum(self.parts) + sum(more)) * scale

    def method(self, *args, **kw):
        return len(args), len(kw)


def model():
    xs = [1, 2]
    kw = {"c": 3, "z": 9}
    a = Add(*xs, 3)
    return (
        f(*xs, 3, *(4, 5), k=1, **{"m": 2}),
        f(*[], **{}),
        g(*xs, **kw),
        g(1, c=0),
        g(*range(5), c=1),
        p(1, b=2, a=3),
        a(*xs, scale=2),
        a.method(*xs, **kw),
        Add.method(a, 1),
        max(*xs),
        print(*[], end="") is None,
        refused(lambda: f(**{1: 2})),
        refused(lambda: f(**{"k": 1}, k=2)),
        refused(lambda: f(k=2, **{"k": 1})),
        f(**{"k": 1}, m=2),
        refused(lambda: f(*5)),
        refused(lambda: g(1)),
        refused(lambda: g(1, c=2, **{"c": 3})),
        refused(lambda: p(a=1, b=2)),
    )
