class Odd(Exception):
    pass
seed = [152]
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
    with CM(3), CM(9):
        with CM(5) as y:
            assert c(), n()
            boom()
            a, *b = n(), n(), n(); print(b)
    with CM(9) as y:
        try:
            a, *b = n(), n(), n(); print(b)
            raise Odd(n())
        except Odd:
            print(2)
        finally:
            boom()
        while t() and (not c()):
            print(f'{n()}-{n():>3}')
        else:
            if not c():
                return
            if c() or c():
                return
            print([a * n() for a in (1, 2) if c()])
        with CM(4) as y:
            assert c(), n()
def g():
    try:
        if (c() if c() else c()):
            print(f'{n()}-{n():>3}')
        else:
            assert c(), n()
            yield n()
        try:
            print(2)
            yield n()
        finally:
            print(2)
    finally:
        try:
            if c() and not (c() or c()):
                return n()
            assert c(), n()
            boom()
        except Exception:
            print(1)
            print(2)
            if c() and c():
                raise Odd(n())
        print([a * n() for a in (1, 2) if c()])
        while t() and (c() and c()):
            if (c() if c() else c()):
                raise Odd(n())
    for i in range(3):
        assert c(), n()
        if not c():
            yield from (n(), n())
            a, *b = n(), n(), n(); print(b)
            boom()
        try:
            boom()
            print([a * n() for a in (1, 2) if c()])
            if 0 < n() < n():
                return
        except Exception as e:
            return [n() for _ in range(2)]
            print(f'{n()}-{n():>3}')
        except ValueError:
            print([a * n() for a in (1, 2) if c()])
            a, *b = n(), n(), n(); print(b)
            x = n(); print(x)
    for i in range(3):
        x = n(); print(x)
        for i in range(1):
            continue
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
