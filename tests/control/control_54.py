class Odd(Exception):
    pass
seed = [54]
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
    for i in range(2):
        try:
            if c() and not (c() or c()):
                break
            print(f'{n()}-{n():>3}')
        except (Odd, ValueError) as e:
            x = n(); print(x)
            if c() and not (c() or c()):
                raise
            a, *b = n(), n(), n(); print(b)
        except Odd:
            if c():
                break
            print(1)
        else:
            print(1)
        finally:
            if c():
                break
            if c() and c():
                break
            assert c(), n()
        print(1)
def g():
    print([a * n() for a in (1, 2) if c()])
    try:
        for i in range(2):
            continue
            if [q for q in (n(), n()) if c()]:
                return n()
            x = n(); print(x)
        with CM(3) as y, CM(2) as y:
            a, *b = n(), n(), n(); print(b)
            yield n()
            yield n()
    finally:
        with CM(6) as y, CM(6):
            assert c(), n()
            if not c():
                return [n() for _ in range(2)]
    if (c() if c() else c()):
        raise Odd(n())
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
