def show(x):
    print('fn' if callable(x) else x)
a = 1
b = 2
show((list(b for c in (a, 2)), [f() for f in [lambda: b for a in (1, 2)]]))
show(list([c for a in (a, 6)] for c in (list(a for a in (a, 2)), 2)))
