class Odd(Exception):
    pass
seed = [216]
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
    with CM(7), CM(6):
        print([a * n() for a in (1, 2) if c()])
        try:
            x = n(); print(x)
            a, *b = n(), n(), n(); print(b)
            print(1)
        finally:
            print(1)
            if (c() if c() else c()):
                return [n() for _ in range(2)]
            if [q for q in (n(), n()) if c()]:
                return
        print([a * n() for a in (1, 2) if c()])
def g():
    a, *b = n(), n(), n(); print(b)
    try:
        with CM(4), CM(9) as y:
            yield n()
            x = n(); print(x)
        try:
            print(2)
            boom()
        except ValueError:
            assert c(), n()
        else:
            a, *b = n(), n(), n(); print(b)
            print(2)
        finally:
            assert c(), n()
        while t() and ((c() if c() else c())):
            if [q for q in (n(), n()) if c()]:
                continue
            return
    except Exception as e:
        if [q for q in (n(), n()) if c()]:
            if (c() if c() else c()):
                raise Odd(n())
            assert c(), n()
            if [q for q in (n(), n()) if c()]:
                raise
        print(f'{n()}-{n():>3}')
        try:
            print(1)
        except Exception as e:
            boom()
    except (Odd, ValueError):
        print([a * n() for a in (1, 2) if c()])
        for i in range(0):
            continue
            a, *b = n(), n(), n(); print(b)
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
