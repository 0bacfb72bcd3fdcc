class Odd(Exception):
    pass
seed = [31]
left = [60]
def rnd():
    seed[0] = (seed[0] * 1103515245 + 12345) % 2147483648
    return seed[0] // 65536
def c():
    return rnd() % 2 == 0
def n():
    return rnd() % 5
def t():
    left[0] = left[0] - 1
    return left[0] > 0
def boom():
    r = rnd() % 6
    if r == 0:
        raise Odd("boom")
    if r == 1:
        raise ValueError("v")
class CM:
    def __init__(self, k):
        self.k = k
    def __enter__(self):
        print("enter", self.k)
        return self
    def __exit__(self, kind, error, trace):
        print("exit", self.k, repr(error))
        return self.k == 3
def f():
    for i in range(3):
        with CM(1):
            a, *b = n(), n(), n(); print(b)
            print(2)
            a, *b = n(), n(), n(); print(b)
    else:
        for i in range(3):
            x = n(); print(x)
        else:
            boom()
            print([a * n() for a in (1, 2) if c()])
        while t() and (c() or c()):
            if c():
                continue
        try:
            x = n(); print(x)
            print(f'{n()}-{n():>3}')
        finally:
            assert c(), n()
def g():
    try:
        try:
            print([a * n() for a in (1, 2) if c()])
            boom()
            a, *b = n(), n(), n(); print(b)
        except ValueError as e:
            return
            boom()
        finally:
            raise Odd(n())
    except Odd as e:
        try:
            boom()
            return n()
            print(f'{n()}-{n():>3}')
        finally:
            if c():
                return
            boom()
    else:
        boom()
        x = n(); print(x)
        with CM(7):
            if 0 < n() < n():
                raise Odd(n())
            assert c(), n()
    print(2)
    for i in range(3):
        if [q for q in (n(), n()) if c()]:
            boom()
            if c():
                return n()
        else:
            print(2)
            print(f'{n()}-{n():>3}')
            return n()
    if 0:
        yield 0
for k in range(4):
    try:
        print("=", f())
    except Exception as e:
        print("!", repr(e))
    try:
        print("=", list(g()))
    except Exception as e:
        print("!", repr(e))
