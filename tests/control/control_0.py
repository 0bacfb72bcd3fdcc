class Odd(Exception):
    pass
seed = [0]
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
    try:
        if (c() if c() else c()):
            raise Odd(n())
        try:
            boom()
            a, *b = n(), n(), n(); print(b)
        finally:
            a, *b = n(), n(), n(); print(b)
    except (Odd, ValueError) as e:
        print(repr(e))
        with CM(8), CM(5) as y:
            boom()
            assert c(), n()
        for i in range(2):
            print(repr(e))
    except Odd:
        with CM(9) as y:
            print([a * n() for a in (1, 2) if c()])
            print(2)
        if c() and c():
            return n()
    finally:
        try:
            assert c(), n()
            if not c():
                raise Odd(n())
            if (c() if c() else c()):
                raise Odd(n())
        except Odd:
            boom()
            boom()
        finally:
            print(2)
            x = n(); print(x)
            print(1)
    try:
        try:
            if c() or c():
                return [n() for _ in range(2)]
            if c() and not (c() or c()):
                return
            assert c(), n()
        except ValueError as e:
            return n()
            boom()
            a, *b = n(), n(), n(); print(b)
        else:
            x = n(); print(x)
        finally:
            x = n(); print(x)
        try:
            return n()
        except Odd as e:
            print(repr(e))
            print(f'{n()}-{n():>3}')
            print(repr(e))
        except Odd as e:
            x = n(); print(x)
        finally:
            if c() and not (c() or c()):
                return
            a, *b = n(), n(), n(); print(b)
            print(2)
        with CM(6), CM(0) as y:
            return [n() for _ in range(2)]
    finally:
        if [q for q in (n(), n()) if c()]:
            if c():
                return
            x = n(); print(x)
            print([a * n() for a in (1, 2) if c()])
        assert c(), n()
def g():
    assert c(), n()
    with CM(5) as y, CM(4):
        with CM(1) as y, CM(0) as y:
            assert c(), n()
        if (c() if c() else c()):
            return
            a, *b = n(), n(), n(); print(b)
            print(f'{n()}-{n():>3}')
        if 0 < n() < n():
            return n()
    boom()
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
