def show(x):
    print('fn' if callable(x) else x)
a = 1
b = 2
def f(*a):
    try:
        raise ValueError
    except ValueError as b:
        show(1)
    try:
        class C:
            a = b
            show((lambda b=[(c, b) for b in (1, 2) if b for a in (c,)]: (c, a))())
        if hasattr(C, 'a'): show(('a', C.a))
        if hasattr(C, 'b'): show(('b', C.b))
        if hasattr(C, 'c'): show(('c', C.c))
    except (NameError, TypeError):
        show('class')
    try:
        class C:
            def f(a, b):
                for b in (b,):
                    show(a)
                return [(b, c) for c in (1, 2) if b for b in (b,)]
            try:
                show(f(1, 2))
            except NameError:
                show('name')
            except TypeError:
                show('type')
            try:
                del b
            except NameError:
                show('del')
            for b in ((lambda c=a: a)(),):
                show(b)
        if hasattr(C, 'a'): show(('a', C.a))
        if hasattr(C, 'b'): show(('b', C.b))
        if hasattr(C, 'c'): show(('c', C.c))
    except (NameError, TypeError):
        show('class')
    return [f() for f in [lambda: b for c in (1, 2)]]
try:
    show(f(4))
except NameError:
    show('name')
except TypeError:
    show('type')
c = b
