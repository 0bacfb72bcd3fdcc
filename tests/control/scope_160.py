def show(x):
    print('fn' if callable(x) else x)
a = 1
b = 2
try:
    class C:
        for c in ([a for c in (b, 9)],):
            show(c)
        c = [f() for f in [lambda: c for c in (1, 2)]]
        try:
            raise ValueError
        except ValueError as a:
            show(1)
    if hasattr(C, 'a'): show(('a', C.a))
    if hasattr(C, 'b'): show(('b', C.b))
    if hasattr(C, 'c'): show(('c', C.c))
except (NameError, TypeError):
    show('class')
