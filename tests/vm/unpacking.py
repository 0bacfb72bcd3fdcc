def refused(f):
    try:
        f()
    except ValueError as e:
        return str(e)


def few():
    a, *b, c = [1]


def many():
    a, b = 1, 2, 3


def model():
    a, *b, c = range(5)
    *d, e = "xy"
    (f, g), [h, *i] = (1, 2), (3, 4, 5)
    out = []
    for j, (k, *l) in [(1, (2, 3)), (4, (5,))]:
        out.append((j, k, l))
    m = n = [0]
    m.append(1)
    x, y = y, x = 1, 2
    return (
        (a, b, c, d, e, f, g, h, i, out, n, x, y),
        [*range(3), *"ab"],
        (*[1], 2),
        {*[1, 2], 2, 3} == {1, 2, 3},
        {**{"a": 1, "b": 2}, "a": 3},
        refused(few),
        refused(many),
    )
