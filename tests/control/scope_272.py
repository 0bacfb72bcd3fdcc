def show(x):
    print('fn' if callable(x) else x)
a = 1
b = 2
def f(c=b):
    try:
        raise ValueError
    except ValueError as c:
        show(1)
    try:
        show(c)
    except NameError:
        show('name')
    return (b := c)
try:
    show(f())
except NameError:
    show('name')
except TypeError:
    show('type')
def f(*a):
    def f(a):
        try:
            raise ValueError
        except ValueError as b:
            show(1)
        return b
    try:
        show(f(3))
    except NameError:
        show('name')
    except TypeError:
        show('type')
    try:
        show(c)
    except NameError:
        show('name')
    return (c, b)
try:
    show(f(4))
except NameError:
    show('name')
except TypeError:
    show('type')
show(b)
def f(b):
    global a
    show([f() for f in [lambda: a for a in (1, 2)]])
    for b in (a,):
        show(b)
    return b
try:
    show(f(3))
except NameError:
    show('name')
except TypeError:
    show('type')
