def show(x):
    print('fn' if callable(x) else x)
a = 1
b = 2
def f(a):
    try:
        raise ValueError
    except ValueError as c:
        show(1)
    b = (a := c)
    return c
try:
    show(f(3))
except NameError:
    show('name')
except TypeError:
    show('type')
try:
    raise ValueError
except ValueError as c:
    show(1)
b = a
try:
    class C:
        try:
            class C:
                for c in ([(a, c) for b in (1, 2) if a for b in (a,)],):
                    show(c)
            if hasattr(C, 'a'): show(('a', C.a))
            if hasattr(C, 'b'): show(('b', C.b))
            if hasattr(C, 'c'): show(('c', C.c))
        except (NameError, TypeError):
            show('class')
        try:
            class C:
                try:
                    show(a)
                except NameError:
                    show('name')
                def f(a):
                    try:
                        raise ValueError
                    except ValueError as c:
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
                except ValueError as b:
                    show(1)
                try:
                    raise ValueError
                except ValueError as b:
                    show(1)
            if hasattr(C, 'a'): show(('a', C.a))
            if hasattr(C, 'b'): show(('b', C.b))
            if hasattr(C, 'c'): show(('c', C.c))
        except (NameError, TypeError):
            show('class')
    if hasattr(C, 'a'): show(('a', C.a))
    if hasattr(C, 'b'): show(('b', C.b))
    if hasattr(C, 'c'): show(('c', C.c))
except (NameError, TypeError):
    show('class')
