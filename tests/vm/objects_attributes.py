# Attributes of instances and classes in Python's order, and by name.
class Temperature:
    unit = "C"
    readings = []

    def __init__(self, degrees):
        self._degrees = degrees

    @property
    def degrees(self):
        return self._degrees

    @degrees.setter
    def degrees(self, value):
        if value < -273:
            raise ValueError("too cold: %d" % value)
        self._degrees = value

    @degrees.deleter
    def degrees(self):
        self._degrees = 0

    def __getattr__(self, name):
        if name.startswith("as_"):
            return lambda: name[3:] + str(self._degrees)
        raise AttributeError(f"no {name} here")


class Frozen:
    def __init__(self, a):
        object.__setattr__(self, "a", a)

    def __setattr__(self, name, value):
        raise AttributeError("frozen: " + name)


class A:
    def who(self):
        return ["A"]


class B(A):
    def who(self):
        return ["B"] + super().who()


class C(A):
    def who(self):
        return ["C"] + super().who()


class D(B, C):
    def who(self):
        return ["D"] + super().who()


def caught(f, *args):
    try:
        return f(*args)
    except Exception as e:
        return type(e).__name__, str(e)


def set_degrees(t, v):
    t.degrees = v
    return t.degrees


def set_unit(t):
    t.unit = "F"
    return t.unit, Temperature.unit


def properties():
    t = Temperature(20)
    first = set_degrees(t, 25)
    cold = caught(set_degrees, t, -300)
    del t.degrees
    return first, cold, t.degrees, t.as_text(), caught(lambda: t.other)


def by_name():
    t = Temperature(1)
    setattr(t, "x", 5)
    had = hasattr(t, "x"), hasattr(t, "y"), getattr(t, "y", "none"), getattr(t, "x")
    delattr(t, "x")
    return had, hasattr(t, "x"), sorted(vars(t)), t.__dict__["_degrees"]


def shared():
    a, b = Temperature(1), Temperature(2)
    a.readings.append(1)
    b.readings.append(2)
    a.readings = [9]
    return a.readings, b.readings, Temperature.readings


def late():
    Temperature.scale = lambda self, k: self._degrees * k
    return Temperature(4).scale(3)


def frozen():
    f = Frozen(3)

    def change():
        f.a = 4

    return f.a, caught(change)


def bound():
    d = D()
    f = d.who
    return f(), D.who(d), [c.__name__ for c in D.__mro__], f.__name__


def kinds():
    d = D()
    return (
        isinstance(d, A),
        isinstance(d, (int, C)),
        isinstance(A(), D),
        isinstance(d, object),
        issubclass(D, A),
        issubclass(A, D),
        type(d) is D,
        type(d).__name__,
        d.__class__ is D,
        type(1) is int,
        type("") == str,
        isinstance(True, int),
        isinstance(None, type(None)),
        isinstance(1, int | str),
        isinstance(print, type(len)),
        callable(d),
        callable(D),
        callable(d.who),
    )


def missing():
    return caught(lambda: A().whom), caught(lambda: A.nothing), caught(lambda: (3).x), caught(A, 1)


def order_fails():
    def make():
        class X(A, B):
            pass

    return caught(make)[0]


def nested():
    class Outer:
        class Inner:
            value = 3

        x = [Inner.value] * 2

    return Outer.Inner.value, Outer.x


def functions():
    def f():
        f.calls += 1
        return f.calls

    f.calls = 0
    f()
    return f(), f.__name__, hasattr(f, "other")


def model():
    return (
        set_unit(Temperature(1)),
        properties(),
        by_name(),
        shared(),
        late(),
        frozen(),
        bound(),
        kinds(),
        [m[0] for m in missing()],
        order_fails(),
        nested(),
        functions(),
    )
