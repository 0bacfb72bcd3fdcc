class Mine(ValueError):
    def __init__(self, code):
        super().__init__(code)
        self.code = code


def of(f):
    try:
        f()
    except Exception as e:
        return type(e).__name__
    return "none"


def unset():
    if False:
        x = 1
    return x


def deep(n):
    return deep(n + 1)


def mine():
    raise Mine(7)


def asserts():
    assert 1 == 2, "no"


def code():
    try:
        mine()
    except ValueError as e:
        return e.code, e.args, isinstance(e, Mine)


def lookup():
    try:
        return {}["a"]
    except LookupError as e:
        return e.args


def text():
    out = []
    for f in (lambda: [].pop(), lambda: 1 + "a", lambda: int("x")):
        try:
            f()
        except (ZeroDivisionError, IndexError, TypeError, ValueError) as e:
            out.append(str(e))
    return out


def model():
    return (
        of(lambda: 1 // 0),
        of(lambda: [][0]),
        of(lambda: {}["k"]),
        of(lambda: "a" + 1),
        of(lambda: int("b")),
        of(lambda: nothing),
        of(lambda: "a".nothing),
        of(lambda: len(1)),
        of(lambda: next(iter([]))),
        of(unset),
        of(lambda: deep(0)),
        of(mine),
        of(asserts),
        of(lambda: (lambda a: a)()),
        of(lambda: [1].index(2)),
        of(lambda: [].pop()),
        code(),
        lookup(),
        text(),
    )
