class Odd(Exception):
    pass
seed = [73]
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
    assert c(), n()
    while t() and ([q for q in (n(), n()) if c()]):
        while t() and ([q for q in (n(), n()) if c()]):
            print(f'{n()}-{n():>3}')
            print(1)
        else:
            if c() and not (c() or c()):
                continue
        print(2)
def g():
    while t() and (not c()):
        with CM(4), CM(3):
            raise Odd(n())
        with CM(8):
            x = n(); print(x)
            x = n(); print(x)
            print(f'{n()}-{n():>3}')
    else:
        for i in range(3):
            return [n() for _ in range(2)]
            if c() and not (c() or c()):
                continue
            print(2)
    try:
        for i in range(2):
            assert c(), n()
            yield from (n(), n())
        try:
            print(f'{n()}-{n():>3}')
            print(1)
        except Odd as e:
            if not c():
                raise
            if not c():
                return
            if c() and c():
                return n()
        except Exception as e:
            yield n()
            a, *b = n(), n(), n(); print(b)
            print(f'{n()}-{n():>3}')
    except Exception as e:
        try:
            yield from (n(), n())
        except Exception as e:
            if c() and not (c() or c()):
                return [n() for _ in range(2)]
            print([a * n() for a in (1, 2) if c()])
        finally:
            x = n(); print(x)
            x = n(); print(x)
            print(repr(e))
        while t() and (0 < n() < n()):
            return
            if c():
                break
            raise
        else:
            print(repr(e))
    except ValueError as e:
        for i in range(3):
            print(1)
            yield n()
            print(f'{n()}-{n():>3}')
        try:
            yield n()
            a, *b = n(), n(), n(); print(b)
        except Odd:
            if not c():
                raise Odd(n())
            print(2)
        except Exception:
            boom()
            if c() or c():
                return
        finally:
            print(2)
        while t() and (c() or c()):
            print(f'{n()}-{n():>3}')
            if (c() if c() else c()):
                continue
            yield from (n(), n())
    else:
        return
    finally:
        yield from (n(), n())
    for i in range(1):
        with CM(1) as y, CM(8):
            if c() and c():
                raise Odd(n())
            assert c(), n()
            print(1)
    else:
        try:
            x = n(); print(x)
            if c():
                raise Odd(n())
            print(1)
        except (Odd, ValueError) as e:
            if not c():
                return
        if (c() if c() else c()):
            print(1)
            print(2)
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
