def show(x):
    print('fn' if callable(x) else x)
a = 1
b = 2
try:
    class C:
        try:
            show([(b, b) for a in (1, 2) if b for c in (b,)])
        except NameError:
            show('name')
        def f(*a):
            global b
            for a in ((b, a),):
                show(c)
            for a in (list(c for c in (a, 2)),):
                show(a)
            show(a)
            return (lambda a=b: b)()
        try:
            show(f(4))
        except NameError:
            show('name')
        except TypeError:
            show('type')
        c = a
    if hasattr(C, 'a'): show(('a', C.a))
    if hasattr(C, 'b'): show(('b', C.b))
    if hasattr(C, 'c'): show(('c', C.c))
except (NameError, TypeError):
    show('class')
def f():
    try:
        show(a)
    except NameError:
        show('name')
    return a
try:
    show(f())
except NameError:
    show('name')
except TypeError:
    show('type')
show(a)
