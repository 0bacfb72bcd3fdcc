def show(x):
    print('fn' if callable(x) else x)
a = 1
b = 2
def f():
    try:
        del c
    except NameError:
        show('del')
    show(c)
    try:
        show(list(a for b in (a, 2)))
    except NameError:
        show('name')
    a = b
    return list(b for a in (c, 2))
try:
    show(f())
except NameError:
    show('name')
except TypeError:
    show('type')
try:
    class C:
        def f(c=[(b, a) for b in (1, 2) if b for b in (b,)]):
            show(b)
            return [(b, b) for b in (1, 2) if a for b in (b,)]
        try:
            show(f())
        except NameError:
            show('name')
        except TypeError:
            show('type')
        try:
            show((lambda b=a: b)())
        except NameError:
            show('name')
        try:
            raise ValueError
        except ValueError as a:
            show(1)
    if hasattr(C, 'a'): show(('a', C.a))
    if hasattr(C, 'b'): show(('b', C.b))
    if hasattr(C, 'c'): show(('c', C.c))
except (NameError, TypeError):
    show('class')
