def show(x):
    print('fn' if callable(x) else x)
a = 1
b = 2
for a in ((b, a),):
    show(a)
try:
    class C:
        def f(c=a):
            for c in ((c := c),):
                show(b)
            show((c := (a := b)))
            a = ([c for c in (b, 5)], (c, b))
            return (lambda c=b: b)()
        try:
            show(f())
        except NameError:
            show('name')
        except TypeError:
            show('type')
        try:
            class C:
                try:
                    show([b for b in (b, 0)])
                except NameError:
                    show('name')
                b = (b := a)
                try:
                    class C:
                        global a
                        show(list([f() for f in [lambda: c for c in (1, 2)]] for a in (b, 2)))
                    if hasattr(C, 'a'): show(('a', C.a))
                    if hasattr(C, 'b'): show(('b', C.b))
                    if hasattr(C, 'c'): show(('c', C.c))
                except (NameError, TypeError):
                    show('class')
                try:
                    raise ValueError
                except ValueError as a:
                    show(1)
            if hasattr(C, 'a'): show(('a', C.a))
            if hasattr(C, 'b'): show(('b', C.b))
            if hasattr(C, 'c'): show(('c', C.c))
        except (NameError, TypeError):
            show('class')
        c = c
        try:
            show(b)
        except NameError:
            show('name')
    if hasattr(C, 'a'): show(('a', C.a))
    if hasattr(C, 'b'): show(('b', C.b))
    if hasattr(C, 'c'): show(('c', C.c))
except (NameError, TypeError):
    show('class')
