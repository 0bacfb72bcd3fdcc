def show(x):
    print('fn' if callable(x) else x)
a = 1
b = 2
def f(c=a):
    def f(c=(lambda a=b: a)()):
        try:
            raise ValueError
        except ValueError as b:
            show(1)
        try:
            show((lambda b=a: c)())
        except NameError:
            show('name')
        try:
            raise ValueError
        except ValueError as a:
            show(1)
        return b
    try:
        show(f())
    except NameError:
        show('name')
    except TypeError:
        show('type')
    for c in ([f() for f in [lambda: a for c in (1, 2)]],):
        show(a)
    return c
try:
    show(f())
except NameError:
    show('name')
except TypeError:
    show('type')
try:
    show(b)
except NameError:
    show('name')
