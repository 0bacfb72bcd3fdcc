def model(x):
    yield x
    y = yield
    yield from y
    z = [(yield)]


def both(x):
    return [lambda: (yield i) for i in x]
