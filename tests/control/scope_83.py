def show(x):
    print('fn' if callable(x) else x)
a = 1
b = 2
def f(c=b):
    def f(b):
        for b in ([f() for f in [lambda: a for b in (1, 2)]],):
            show(b)
        def f(a, b):
            try:
                show(b)
            except NameError:
                show('name')
            try:
                show(c)
            except NameError:
                show('name')
            try:
                raise ValueError
            except ValueError as a:
                show(1)
            return [b for a in (b, 5)]
        try:
            show(f(1, 2))
        except NameError:
            show('name')
        except TypeError:
            show('type')
        return (lambda c=c: a)()
    try:
        show(f(3))
    except NameError:
        show('name')
    except TypeError:
        show('type')
    for a in ((lambda c=c: b)(),):
        show(b)
    return (b := c)
try:
    show(f())
except NameError:
    show('name')
except TypeError:
    show('type')
try:
    raise ValueError
except ValueError as c:
    show(1)
try:
    raise ValueError
except ValueError as c:
    show(1)
def f(*a):
    try:
        show((b, c))
    except NameError:
        show('name')
    try:
        raise ValueError
    except ValueError as a:
        show(1)
    a = [f() for f in [lambda: a for c in (1, 2)]]
    def f(c=list(a for c in (b, 2))):
        global b
        for c in (a,):
            show(c)
        return c
    try:
        show(f())
    except NameError:
        show('name')
    except TypeError:
        show('type')
    return c
try:
    show(f(4))
except NameError:
    show('name')
except TypeError:
    show('type')
