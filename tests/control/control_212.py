class Odd(Exception):
    pass
seed = [212]
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
    with CM(9):
        while t() and (c() and c()):
            print([a * n() for a in (1, 2) if c()])
        while t() and (c() and c()):
            if c():
                break
        else:
            a, *b = n(), n(), n(); print(b)
            print([a * n() for a in (1, 2) if c()])
    while t() and ([q for q in (n(), n()) if c()]):
        print([a * n() for a in (1, 2) if c()])
        if c():
            print(f'{n()}-{n():>3}')
def g():
    try:
        with CM(0):
            yield n()
            yield from (n(), n())
        with CM(9) as y:
            boom()
        if c() or c():
            a, *b = n(), n(), n(); print(b)
            x = n(); print(x)
            yield from (n(), n())
    finally:
        try:
            x = n(); print(x)
            x = n(); print(x)
            assert c(), n()
        except Exception:
            yield from (n(), n())
            yield from (n(), n())
        except Odd as e:
            assert c(), n()
            x = n(); print(x)
        if c() and not (c() or c()):
            yield from (n(), n())
        else:
            raise Odd(n())
            return n()
    with CM(6) as y:
        if c() and c():
            boom()
            boom()
            x = n(); print(x)
    print(f'{n()}-{n():>3}')
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
