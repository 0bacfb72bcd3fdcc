class Odd(Exception):
    pass
seed = [113]
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
    with CM(0) as y, CM(8) as y:
        for i in range(0):
            if (c() if c() else c()):
                return n()
        else:
            assert c(), n()
            a, *b = n(), n(), n(); print(b)
def g():
    try:
        if c() or c():
            assert c(), n()
            x = n(); print(x)
            if c() or c():
                return
        else:
            x = n(); print(x)
        return n()
        if c() and c():
            yield from (n(), n())
        else:
            if not c():
                raise Odd(n())
            raise Odd(n())
    except ValueError as e:
        for i in range(1):
            print(f'{n()}-{n():>3}')
            a, *b = n(), n(), n(); print(b)
            print(repr(e))
        else:
            a, *b = n(), n(), n(); print(b)
        try:
            print(f'{n()}-{n():>3}')
        except ValueError as e:
            print(1)
        for i in range(1):
            print(2)
            if 0 < n() < n():
                break
    except Exception as e:
        try:
            print(f'{n()}-{n():>3}')
        finally:
            print(repr(e))
            print(repr(e))
        try:
            if [q for q in (n(), n()) if c()]:
                raise Odd(n())
            print(2)
        except Exception:
            a, *b = n(), n(), n(); print(b)
            assert c(), n()
        finally:
            a, *b = n(), n(), n(); print(b)
            print(2)
            a, *b = n(), n(), n(); print(b)
    finally:
        with CM(5) as y:
            if 0 < n() < n():
                return
            yield n()
        print(2)
    boom()
    for i in range(2):
        while t() and (not c()):
            a, *b = n(), n(), n(); print(b)
        for i in range(2):
            print(f'{n()}-{n():>3}')
            print(1)
        try:
            assert c(), n()
            return [n() for _ in range(2)]
        except Exception:
            print([a * n() for a in (1, 2) if c()])
        except Exception as e:
            if not c():
                break
            print(repr(e))
            if c() and c():
                raise
        else:
            yield n()
    else:
        while t() and (not c()):
            if c() and c():
                continue
            x = n(); print(x)
            print(2)
        if c() and not (c() or c()):
            assert c(), n()
        else:
            a, *b = n(), n(), n(); print(b)
            return n()
            print([a * n() for a in (1, 2) if c()])
        while t() and (c()):
            print(f'{n()}-{n():>3}')
            break
            boom()
        else:
            if [q for q in (n(), n()) if c()]:
                return [n() for _ in range(2)]
            x = n(); print(x)
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
