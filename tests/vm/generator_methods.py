from contextlib import contextmanager

log = []


def echo():
    got = None
    while True:
        try:
            got = yield got
        except ValueError as e:
            got = "caught " + str(e)
        finally:
            log.append("turn")


def until_closed(stubborn=False):
    try:
        yield 1
        yield 2
    except GeneratorExit:
        log.append("exit")
        if stubborn:
            yield 3
        raise
    else:
        log.append("closed")


@contextmanager
def scope(name, swallow=False):
    log.append("enter " + name)
    try:
        yield name.upper()
    except KeyError as e:
        log.append("error " + str(e))
        if not swallow:
            raise
    finally:
        log.append("leave " + name)


def name_of(f):
    try:
        return f()
    except Exception as e:
        return type(e).__name__, str(e)


def inside(swallow):
    with scope("s", swallow) as name:
        log.append(name)
        raise KeyError("k")
    return "went on"


def other():
    with scope("o"):
        raise TypeError("t")


def early():
    with scope("e") as name:
        return name


def model():
    g = echo()
    first = [next(g), g.send(1), g.throw(ValueError("v")), g.send(None)]
    g.close()
    c = until_closed()
    next(c)
    c.close()
    c.close()
    s = until_closed(True)
    next(s)
    return (
        first,
        name_of(lambda: g.send(1))[0],
        list(c),
        name_of(s.close),
        name_of(lambda: until_closed().send(5))[0],
        name_of(lambda: until_closed().throw(KeyError("unstarted"))),
        inside(True),
        name_of(lambda: inside(False)),
        name_of(other),
        early(),
        log,
    )
