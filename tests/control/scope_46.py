def show(x):
    print('fn' if callable(x) else x)
a = 1
b = 2
def f():
    try:
        del c
    except NameError:
        show('del')
    try:
        raise ValueError
    except ValueError as b:
        show(1)
    def f(a, b):
        try:
            show(b)
        except NameError:
            show('name')
        try:
            class C:
                show(c)
            if hasattr(C, 'a'): show(('a', C.a))
            if hasattr(C, 'b'): show(('b', C.b))
            if hasattr(C, 'c'): show(('c', C.c))
        except (NameError, TypeError):
            show('class')
        try:
            raise ValueError
        except ValueError as a:
            show(1)
        def f():
            try:
                del c
            except NameError:
                show('del')
            show([((b, a), b) for c in (1, 2) if c for a in ((b, a),)])
            return b
        try:
            show(f())
        except NameError:
            show('name')
        except TypeError:
            show('type')
        return (lambda b=b: a)()
    try:
        show(f(1, 2))
    except NameError:
        show('name')
    except TypeError:
        show('type')
    return b
try:
    show(f())
except NameError:
    show('name')
except TypeError:
    show('type')
