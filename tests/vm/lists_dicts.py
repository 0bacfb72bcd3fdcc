# Lists and dicts: slices that are assigned, deleted items, rarer methods.
def caught(f):
    try:
        return f()
    except Exception as e:
        return type(e).__name__, str(e)


def slices():
    a = list(range(8))
    a[1:3] = ["x", "y", "z"]
    b = list(range(8))
    b[::2] = [0, 0, 0, 0]
    c = list(range(8))
    del c[2:5]
    d = list(range(8))
    del d[::3]
    e = list(range(3))
    e[1:1] = [7, 8]
    e[len(e) :] = [9]
    f = [1, 2, 3]
    f[:] = []
    g = [1, 2, 3]
    g[1:] = g
    h = []
    h[:] = []
    del h[2:]
    del a[0], a[-1]
    return a, b, c, d, e, f, g, h


def bad(a):
    a[::2] = [1]


def dicts():
    d = {"a": 1, "b": 2, "c": 3}
    del d["b"]
    e = dict.fromkeys("xy", 0)
    e.update(z=5)
    f = {**d, "a": 9}
    g = d | {"q": 1}
    k = d.keys()
    last = e.popitem()
    return (
        d,
        e,
        last,
        f,
        g,
        list(k),
        "a" in k,
        len(k),
        list(d.items()),
        d.get("z"),
        d.get("z", 4),
        d.setdefault("n", 7),
        d.pop("a"),
        d.pop("zz", None),
        sorted(d, reverse=True),
        {v: k for k, v in d.items()},
        dict(zip("ab", [1, 2])),
        dict([("k", 1)], m=2),
        {1: "i", 1.0: "f", True: "b"},
        {(1, 2): 3}[(1, 2)],
        list(reversed(d)),
    )


def model():
    l = [3, 1, 2]
    return (
        slices(),
        caught(lambda: bad([1, 2, 3])),
        dicts(),
        caught(lambda: {}["k"]),
        caught(lambda: {}.pop("k")),
        caught(lambda: [].pop()),
        caught(lambda: [1].index(2)),
        [1, 2, 1, 2].index(2, 2),
        caught(lambda: [1, 2][2]),
        caught(lambda: {[]: 1}),
        caught(lambda: (1, 2)[0:1].append),
        l.copy() is l,
        [[0] * 2 for _ in range(2)],
        list.append(l, 5),
        l,
        sorted(l, key=lambda v: -v),
        [1, 2] + [3],
        (1,) + (2,),
        [1, [2]] == [1, [2]],
        [1, 2] < [1, 3],
        list(map(max, [1, 5], [3, 2])),
        list(zip([1, 2], "ab", (True, False))),
        list(enumerate("ab", 1)),
        any([]),
        all([]),
        divmod(-7, 2),
        divmod(7.5, 2),
        abs(-3),
        pow(2, 10),
        pow(3, 4, 5),
        sum([[1], [2]], []),
        min([], default=0),
        max("a", "b", key=ord),
        slice(1, 5, 2),
        [0, 1, 2, 3, 4, 5][slice(1, 5, 2)],
        next(iter([]), "end"),
        list(iter("ab")),
        hash(1) == hash(1.0) == hash(True),
        int("ff", 16),
        int(" -7 "),
        float("1e3"),
        (5).bit_length(),
        (2.0).is_integer(),
        bool([]) or "x",
    )
