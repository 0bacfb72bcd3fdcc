class Odd(Exception):
    pass
seed = [2]
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
    print([a * n() for a in (1, 2) if c()])
def g():
    with CM(4), CM(9):
        with CM(6) as y, CM(8) as y:
            print(1)
            print([a * n() for a in (1, 2) if c()])
            print([a * n() for a in (1, 2) if c()])
        try:
            if c() and c():
                raise Odd(n())
            print(1)
        finally:
            if c() and c():
                raise Odd(n())
            assert c(), n()
        try:
            yield n()
            if [q for q in (n(), n()) if c()]:
                return n()
            yield n()
        except Exception:
            assert c(), n()
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
