def show(x):
    print('fn' if callable(x) else x)
a = 1
b = 2
try:
    show(c)
except NameError:
    show('name')
def f(a, b):
    try:
        class C:
            try:
                class C:
                    show([(c, b) for b in (1, 2) if b for c in (c,)])
                    try:
                        del a
                    except NameError:
                        show('del')
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
    try:
        raise ValueError
    except ValueError as b:
        show(1)
    try:
        raise ValueError
    except ValueError as c:
        show(1)
    try:
        show((a := a))
    except NameError:
        show('name')
    return list(c for a in (c, 2))
try:
    show(f(1, 2))
except NameError:
    show('name')
except TypeError:
    show('type')
show((a, a))
