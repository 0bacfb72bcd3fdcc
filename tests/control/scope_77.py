def show(x):
    print('fn' if callable(x) else x)
a = 1
b = 2
def f(a):
    def f(a):
        try:
            class C:
                try:
                    raise ValueError
                except ValueError as c:
                    show(1)
                a = b
                show(a)
            if hasattr(C, 'a'): show(('a', C.a))
            if hasattr(C, 'b'): show(('b', C.b))
            if hasattr(C, 'c'): show(('c', C.c))
        except (NameError, TypeError):
            show('class')
        try:
            class C:
                nonlocal a
                try:
                    show(b)
                except NameError:
                    show('name')
                a = c
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
            show(c)
            try:
                raise ValueError
            except ValueError as c:
                show(1)
            return [(c, b) for a in (1, 2) if b for b in (c,)]
        try:
            show(f())
        except NameError:
            show('name')
        except TypeError:
            show('type')
        return [(b, c) for c in (1, 2) if b for b in (b,)]
    try:
        show(f(3))
    except NameError:
        show('name')
    except TypeError:
        show('type')
    return [f() for f in [lambda: c for a in (1, 2)]]
try:
    show(f(3))
except NameError:
    show('name')
except TypeError:
    show('type')
try:
    del b
except NameError:
    show('del')
def f(b):
    try:
        class C:
            nonlocal b
            def f(c=c):
                try:
                    raise ValueError
                except ValueError as c:
                    show(1)
                for c in (c,):
                    show(b)
                return [(b, b) for b in (1, 2) if c for b in (b,)]
            try:
                show(f())
            except NameError:
                show('name')
            except TypeError:
                show('type')
            def f(*a):
                nonlocal b
                for a in (a,):
                    show(a)
                return [a for b in (c, 5)]
            try:
                show(f(4))
            except NameError:
                show('name')
            except TypeError:
                show('type')
            try:
                class C:
                    b = [([b for c in (c, 2)], c) for a in (1, 2) if c for b in ([b for c in (c, 2)],)]
                    for c in ([f() for f in [lambda: a for c in (1, 2)]],):
                        show(c)
                    for a in ([(b, b) for a in (1, 2) if a for c in (b,)],):
                        show(c)
                    try:
                        raise ValueError
                    except ValueError as b:
                        show(1)
                if hasattr(C, 'a'): show(('a', C.a))
                if hasattr(C, 'b'): show(('b', C.b))
                if hasattr(C, 'c'): show(('c', C.c))
            except (NameError, TypeError):
                show('class')
            try:
                del a
            except NameError:
                show('del')
        if hasattr(C, 'a'): show(('a', C.a))
        if hasattr(C, 'b'): show(('b', C.b))
        if hasattr(C, 'c'): show(('c', C.c))
    except (NameError, TypeError):
        show('class')
    return b
try:
    show(f(3))
except NameError:
    show('name')
except TypeError:
    show('type')
