def show(x):
    print('fn' if callable(x) else x)
a = 1
b = 2
a = a
try:
    class C:
        def f(b):
            def f():
                try:
                    show((c := a))
                except NameError:
                    show('name')
                for c in ([b for c in (c, 7)],):
                    show(b)
                for c in ([c for c in (a, 7)],):
                    show(c)
                for a in ((c := a),):
                    show(b)
                return b
            try:
                show(f())
            except NameError:
                show('name')
            except TypeError:
                show('type')
            a = b
            return [(b, a) for a in (1, 2) if b for a in (b,)]
        try:
            show(f(3))
        except NameError:
            show('name')
        except TypeError:
            show('type')
        c = c
    if hasattr(C, 'a'): show(('a', C.a))
    if hasattr(C, 'b'): show(('b', C.b))
    if hasattr(C, 'c'): show(('c', C.c))
except (NameError, TypeError):
    show('class')
try:
    class C:
        try:
            show([a for a in (a, 6)])
        except NameError:
            show('name')
    if hasattr(C, 'a'): show(('a', C.a))
    if hasattr(C, 'b'): show(('b', C.b))
    if hasattr(C, 'c'): show(('c', C.c))
except (NameError, TypeError):
    show('class')
