def show(x):
    print('fn' if callable(x) else x)
a = 1
b = 2
try:
    del b
except NameError:
    show('del')
def f():
    try:
        raise ValueError
    except ValueError as a:
        show(1)
    try:
        class C:
            try:
                class C:
                    global b
                    try:
                        raise ValueError
                    except ValueError as a:
                        show(1)
                    try:
                        show([(c, a) for a in (1, 2) if c for b in (c,)])
                    except NameError:
                        show('name')
                    try:
                        del b
                    except NameError:
                        show('del')
                    for a in (b,):
                        show(b)
                if hasattr(C, 'a'): show(('a', C.a))
                if hasattr(C, 'b'): show(('b', C.b))
                if hasattr(C, 'c'): show(('c', C.c))
            except (NameError, TypeError):
                show('class')
            a = c
        if hasattr(C, 'a'): show(('a', C.a))
        if hasattr(C, 'b'): show(('b', C.b))
        if hasattr(C, 'c'): show(('c', C.c))
    except (NameError, TypeError):
        show('class')
    def f(*a):
        for b in ([(a, a) for a in (1, 2) if a for b in (a,)],):
            show(a)
        try:
            show(c)
        except NameError:
            show('name')
        try:
            del b
        except NameError:
            show('del')
        show(a)
        return (lambda b=c: a)()
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
            def f(a, b):
                a = list((lambda c=b: b)() for b in (a, 2))
                try:
                    del b
                except NameError:
                    show('del')
                try:
                    raise ValueError
                except ValueError as a:
                    show(1)
                show((b, b))
                return b
            try:
                show(f(1, 2))
            except NameError:
                show('name')
            except TypeError:
                show('type')
            c = a
            show(b)
        if hasattr(C, 'a'): show(('a', C.a))
        if hasattr(C, 'b'): show(('b', C.b))
        if hasattr(C, 'c'): show(('c', C.c))
    except (NameError, TypeError):
        show('class')
    return [a for a in (b, 8)]
try:
    show(f())
except NameError:
    show('name')
except TypeError:
    show('type')
