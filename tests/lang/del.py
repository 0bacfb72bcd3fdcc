del x, y[0], (z.a, [u])


def model(x):
    def inner():
        nonlocal n
        del n
    n = 1
    del x, n
