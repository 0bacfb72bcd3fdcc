class Odd(Exception):
    pass
seed = [217]
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
    a, *b = n(), n(), n(); print(b)
    with CM(5):
        with CM(8), CM(1):
            print(1)
            print([a * n() for a in (1, 2) if c()])
        try:
            print([a * n() for a in (1, 2) if c()])
        except Exception:
            if c() and c():
                raise Odd(n())
def g():
    try:
        with CM(0) as y, CM(7):
            print([a * n() for a in (1, 2) if c()])
            print([a * n() for a in (1, 2) if c()])
            print(f'{n()}-{n():>3}')
    except ValueError as e:
        with CM(9) as y, CM(2):
            print(repr(e))
            print(f'{n()}-{n():>3}')
        try:
            yield n()
        finally:
            print(f'{n()}-{n():>3}')
        return
    except (Odd, ValueError) as e:
        yield from (n(), n())
        with CM(9) as y:
            if (c() if c() else c()):
                raise
            return [n() for _ in range(2)]
            yield from (n(), n())
        for i in range(3):
            if c():
                return [n() for _ in range(2)]
            yield from (n(), n())
    yield from (n(), n())
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
