total = 0


def bump(k):
    global total, made
    total += k
    made = total
    return total


def counter():
    n = 0

    def up(by=1):
        nonlocal n
        n += by
        return n

    def get():
        return n

    return up, get


def loops():
    fs = []
    for i in range(3):
        fs.append(lambda: i)
    gs = [lambda: j for j in range(3)]
    hs = [lambda j=j: j for j in range(3)]
    return [f() for f in fs], [g() for g in gs], [h() for h in hs]


def comprehension():
    x = "outer"
    inner = [x for x in range(3)]
    return x, inner, {k: v for k, v in zip("ab", inner)}, sorted({i % 2 for i in range(5)})


def nested():
    return [[i * j for j in range(i)] for i in range(4)], [
        (i, j) for i in range(3) if i for j in range(i) if j != 1
    ]


def delete():
    x = [1, 2, 3, 4]
    del x[0], x[1:2]
    d = {"a": 1, "b": 2}
    del d["a"]
    y = 1
    del y
    try:
        y
    except NameError:
        return x, d, "deleted"


def walrus():
    out = []
    while (n := bump(5)) < 30:
        out.append(n)
    return out, [m for k in range(4) if (m := k * k) > 1], m


def model():
    bump(1)
    up, get = counter()
    up()
    up(5)
    return made, get(), loops(), comprehension(), nested(), delete(), walrus(), total
