def model(x):
    a = b = x
    a, b = b, a
    (c, [d, e]) = x
    x.y = x[0] = a
    f: int = 3
    x.g: float = 1.0
    h: str
    a = b,
    return a
