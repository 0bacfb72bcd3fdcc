def count(n):
    i = 0
    while i < n:
        yield i
        i += 1


def both(n):
    yield from count(n)
    yield "then"
    yield from [7, 8]


def guarded(log):
    try:
        yield 1
        yield 2
        raise ValueError("inside")
    except ValueError as e:
        yield str(e)
    finally:
        log.append("done")


def tree(node):
    if node is None:
        return
    left, value, right = node
    yield from tree(left)
    yield value
    yield from tree(right)


def fib():
    a, b = 0, 1
    while True:
        yield a
        a, b = b, a + b


def take(it, n):
    out = []
    for v in it:
        if len(out) == n:
            break
        out.append(v)
    return out


def raising():
    yield 1
    raise KeyError("late")


def caught():
    out = []
    try:
        for v in raising():
            out.append(v)
    except KeyError:
        out.append("caught")
    return out


def handled():
    try:
        raise ValueError("outer")
    except ValueError:
        g = guarded([])
        first = [next(g), next(g), next(g)]
        try:
            raise
        except ValueError as e:
            return first, str(e)


def stopped():
    def g():
        yield next(iter([]))

    try:
        list(g())
    except RuntimeError as e:
        return str(e)


def early():
    def g():
        for i in range(10):
            if i == 2:
                return
            yield i

    return list(g())


def model():
    log = []
    g = count(3)
    first = next(g)
    squares = (x * x for x in range(6) if x % 2)
    return (
        list(both(3)),
        list(guarded(log)),
        log,
        list(tree(((None, 1, None), 2, ((None, 3, None), 4, None)))),
        take(fib(), 10),
        first,
        list(g),
        list(g),
        sum(squares),
        caught(),
        handled(),
        stopped(),
        early(),
        [a + b for a, b in zip(count(3), fib())],
        dict((k, v) for k, v in enumerate(count(2))),
        max(count(5)),
        sorted(x % 3 for x in range(7)),
        any(x > 3 for x in count(10)),
        next(count(0), "empty"),
        iter(g) is g,
    )
