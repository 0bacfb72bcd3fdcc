def show(x):
    print('fn' if callable(x) else x)
a = 1
b = 2
def f(b):
    def f(a, b):
        def f(*a):
            show(([(a, c) for a in (1, 2) if c for c in (a,)], b))
            return [a for c in (b, 0)]
        try:
            show(f(4))
        except NameError:
            show('name')
        except TypeError:
            show('type')
        return b
    try:
        show(f(1, 2))
    except NameError:
        show('name')
    except TypeError:
        show('type')
    def f(b):
        for c in (c,):
            show(b)
        return b
    try:
        show(f(3))
    except NameError:
        show('name')
    except TypeError:
        show('type')
    try:
        del b
    except NameError:
        show('del')
    try:
        raise ValueError
    except ValueError as a:
        show(1)
    return b
try:
    show(f(3))
except NameError:
    show('name')
except TypeError:
    show('type')
try:
    raise ValueError
except ValueError as a:
    show(1)
def f(b):
    a = c
    return [(c, c) for c in (1, 2) if a for b in (c,)]
try:
    show(f(3))
except NameError:
    show('name')
except TypeError:
    show('type')
