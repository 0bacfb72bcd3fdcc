def show(x):
    print('fn' if callable(x) else x)
a = 1
b = 2
def f(b):
    def f():
        nonlocal c
        try:
            show([(c, c) for c in (1, 2) if a for b in (c,)])
        except NameError:
            show('name')
        def f(*a):
            c = [f() for f in [lambda: (b, c) for b in (1, 2)]]
            try:
                raise ValueError
            except ValueError as a:
                show(1)
            for b in (list(c for a in (b, 2)),):
                show(b)
            return c
        try:
            show(f(4))
        except NameError:
            show('name')
        except TypeError:
            show('type')
        try:
            class C:
                try:
                    del c
                except NameError:
                    show('del')
                show(((lambda c=c: b)(), [a for c in (c, 5)]))
            if hasattr(C, 'a'): show(('a', C.a))
            if hasattr(C, 'b'): show(('b', C.b))
            if hasattr(C, 'c'): show(('c', C.c))
        except (NameError, TypeError):
            show('class')
        for b in ([(c, a) for a in (1, 2) if c for b in (c,)],):
            show(c)
        return (lambda a=c: b)()
    try:
        show(f())
    except NameError:
        show('name')
    except TypeError:
        show('type')
    try:
        show(c)
    except NameError:
        show('name')
    for c in (a,):
        show(b)
    return a
try:
    show(f(3))
except NameError:
    show('name')
except TypeError:
    show('type')
