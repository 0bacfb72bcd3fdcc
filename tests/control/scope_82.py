def show(x):
    print('fn' if callable(x) else x)
a = 1
b = 2
show((lambda b=a: list(a for a in (b, 2)))())
def f(c=a):
    try:
        show(b)
    except NameError:
        show('name')
    try:
        raise ValueError
    except ValueError as b:
        show(1)
    try:
        del b
    except NameError:
        show('del')
    return [c for c in (c, 2)]
try:
    show(f())
except NameError:
    show('name')
except TypeError:
    show('type')
