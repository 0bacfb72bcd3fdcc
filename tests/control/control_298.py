class Odd(Exception):
    pass
seed = [298]
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
    while t() and (c() and c()):
        if [q for q in (n(), n()) if c()]:
            break
        with CM(4) as y:
            print(1)
            if (c() if c() else c()):
                continue
            print(2)
        print([a * n() for a in (1, 2) if c()])
    else:
        with CM(2) as y:
            print([a * n() for a in (1, 2) if c()])
        if c() and c():
            a, *b = n(), n(), n(); print(b)
        else:
            if c() and not (c() or c()):
                return [n() for _ in range(2)]
            if c() or c():
                return
        if c() or c():
            return
def g():
    print([a * n() for a in (1, 2) if c()])
    with CM(8), CM(0):
        with CM(6), CM(7) as y:
            yield from (n(), n())
            a, *b = n(), n(), n(); print(b)
            print(f'{n()}-{n():>3}')
        try:
            if c() and c():
                return
        except Exception:
            yield n()
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
