class Odd(Exception):
    pass
seed = [254]
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
    while t() and (c() and not (c() or c())):
        if c():
            return
            print([a * n() for a in (1, 2) if c()])
            x = n(); print(x)
        else:
            if 0 < n() < n():
                return n()
        try:
            boom()
        except Odd:
            if [q for q in (n(), n()) if c()]:
                continue
            print([a * n() for a in (1, 2) if c()])
            continue
        else:
            print(1)
            if [q for q in (n(), n()) if c()]:
                break
            print([a * n() for a in (1, 2) if c()])
        finally:
            boom()
            a, *b = n(), n(), n(); print(b)
            a, *b = n(), n(), n(); print(b)
        a, *b = n(), n(), n(); print(b)
    else:
        with CM(0) as y, CM(4):
            print(2)
        assert c(), n()
    print(2)
def g():
    for i in range(2):
        for i in range(3):
            print(f'{n()}-{n():>3}')
            a, *b = n(), n(), n(); print(b)
    else:
        for i in range(0):
            yield n()
        else:
            print(2)
            print([a * n() for a in (1, 2) if c()])
        with CM(7):
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
