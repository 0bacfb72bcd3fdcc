def show(x):
    print('fn' if callable(x) else x)
a = 1
b = 2
try:
    class C:
        b = c
        try:
            show(c)
        except NameError:
            show('name')
        try:
            del b
        except NameError:
            show('del')
        for c in ([b for c in (b, 6)],):
            show(c)
    if hasattr(C, 'a'): show(('a', C.a))
    if hasattr(C, 'b'): show(('b', C.b))
    if hasattr(C, 'c'): show(('c', C.c))
except (NameError, TypeError):
    show('class')
def f(b):
    def f(b):
        try:
            class C:
                show(a)
            if hasattr(C, 'a'): show(('a', C.a))
            if hasattr(C, 'b'): show(('b', C.b))
            if hasattr(C, 'c'): show(('c', C.c))
        except (NameError, TypeError):
            show('class')
        try:
            class C:
                b = (a, c)
                a = b
                show(a)
                c = (c := b)
            if hasattr(C, 'a'): show(('a', C.a))
            if hasattr(C, 'b'): show(('b', C.b))
            if hasattr(C, 'c'): show(('c', C.c))
        except (NameError, TypeError):
            show('class')
        return [f() for f in [lambda: c for c in (1, 2)]]
    try:
        show(f(3))
    except NameError:
        show('name')
    except TypeError:
        show('type')
    try:
        raise ValueError
    except ValueError as b:
        show(1)
    for c in ([(c, a) for b in (1, 2) if a for b in (c,)],):
        show(a)
    return list(a for b in (c, 2))
try:
    show(f(3))
except NameError:
    show('name')
except TypeError:
    show('type')
