def show(x):
    print('fn' if callable(x) else x)
a = 1
b = 2
def f(a):
    def f():
        try:
            show([(b, c) for a in (1, 2) if c for b in (b,)])
        except NameError:
            show('name')
        show(a)
        try:
            del c
        except NameError:
            show('del')
        return b
    try:
        show(f())
    except NameError:
        show('name')
    except TypeError:
        show('type')
    c = [b for a in (b, 6)]
    return (c, b)
try:
    show(f(3))
except NameError:
    show('name')
except TypeError:
    show('type')
