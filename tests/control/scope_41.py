def show(x):
    print('fn' if callable(x) else x)
a = 1
b = 2
try:
    class C:
        try:
            del c
        except NameError:
            show('del')
        try:
            raise ValueError
        except ValueError as a:
            show(1)
        try:
            raise ValueError
        except ValueError as a:
            show(1)
        try:
            class C:
                global c
                try:
                    del b
                except NameError:
                    show('del')
                try:
                    class C:
                        try:
                            raise ValueError
                        except ValueError as b:
                            show(1)
                    if hasattr(C, 'a'): show(('a', C.a))
                    if hasattr(C, 'b'): show(('b', C.b))
                    if hasattr(C, 'c'): show(('c', C.c))
                except (NameError, TypeError):
                    show('class')
                show(list(b for c in ([f() for f in [lambda: b for b in (1, 2)]], 2)))
                def f(a):
                    try:
                        del a
                    except NameError:
                        show('del')
                    for c in ((lambda c=b: a)(),):
                        show(a)
                    try:
                        del b
                    except NameError:
                        show('del')
                    try:
                        show(list(c for b in (a, 2)))
                    except NameError:
                        show('name')
                    return c
                try:
                    show(f(3))
                except NameError:
                    show('name')
                except TypeError:
                    show('type')
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
    del c
except NameError:
    show('del')
try:
    class C:
        try:
            class C:
                for b in (b,):
                    show(a)
            if hasattr(C, 'a'): show(('a', C.a))
            if hasattr(C, 'b'): show(('b', C.b))
            if hasattr(C, 'c'): show(('c', C.c))
        except (NameError, TypeError):
            show('class')
        for c in (b,):
            show(c)
        try:
            del a
        except NameError:
            show('del')
    if hasattr(C, 'a'): show(('a', C.a))
    if hasattr(C, 'b'): show(('b', C.b))
    if hasattr(C, 'c'): show(('c', C.c))
except (NameError, TypeError):
    show('class')
def f():
    try:
        raise ValueError
    except ValueError as b:
        show(1)
    return a
try:
    show(f())
except NameError:
    show('name')
except TypeError:
    show('type')
