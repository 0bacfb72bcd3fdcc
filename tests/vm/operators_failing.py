# Comparisons and formats whose own methods fail half way.
class Bad:
    def __bool__(self):
        raise ValueError("no truth")


class A:
    def __eq__(self, o):
        return Bad()

    def __lt__(self, o):
        return Bad()

    def __abs__(self):
        raise ValueError("no size")

    def __format__(self, spec):
        return 3


def caught(f):
    try:
        return f()
    except (ValueError, TypeError) as e:
        return type(e).__name__


def model():
    return [
        caught(lambda: A() != 1),
        caught(lambda: [A()] == [1]),
        caught(lambda: sorted([A(), A()])),
        caught(lambda: (A(), 1) < (2, 1)),
        caught(lambda: f"{A()}"),
        caught(lambda: 1 in [A()]),
        caught(lambda: abs(A()) < abs(A())),
    ]
