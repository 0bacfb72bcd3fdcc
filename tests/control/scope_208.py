def show(x):
    print('fn' if callable(x) else x)
a = 1
b = 2
try:
    show((b := c))
except NameError:
    show('name')
try:
    raise ValueError
except ValueError as c:
    show(1)
show([(a, (lambda b=a: b)()) for a in (1, 2) if a for b in (a,)])
