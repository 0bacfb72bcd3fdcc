class Odd(Exception):
    pass
seed = [191]
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
        while t() and (c() and not (c() or c())):
            print(2)
            print(2)
            if c():
                return [n() for _ in range(2)]
        with CM(0) as y, CM(0) as y:
            boom()
            return [n() for _ in range(2)]
        try:
            raise Odd(n())
        except (Odd, ValueError) as e:
            assert c(), n()
            if not c():
                raise
        finally:
            x = n(); print(x)
            a, *b = n(), n(), n(); print(b)
    except Odd:
        if not c():
            if c():
                return n()
            if c():
                raise Odd(n())
        for i in range(3):
            if 0 < n() < n():
                return
        else:
            print(f'{n()}-{n():>3}')
        try:
            a, *b = n(), n(), n(); print(b)
            if 0 < n() < n():
                return [n() for _ in range(2)]
        except Odd as e:
            a, *b = n(), n(), n(); print(b)
        except (Odd, ValueError):
            if [q for q in (n(), n()) if c()]:
                return n()
            print(2)
            a, *b = n(), n(), n(); print(b)
        finally:
            if not c():
                return [n() for _ in range(2)]
            print(1)
            if c() or c():
                return [n() for _ in range(2)]
    except Exception:
        return n()
        print(2)
        if c() or c():
            return n()
    finally:
        try:
            print(1)
            print(f'{n()}-{n():>3}')
        except (Odd, ValueError):
            assert c(), n()
            print(2)
        else:
            boom()
            x = n(); print(x)
            a, *b = n(), n(), n(); print(b)
        if not c():
            a, *b = n(), n(), n(); print(b)
            boom()
            a, *b = n(), n(), n(); print(b)
        else:
            raise Odd(n())
            x = n(); print(x)
            print([a * n() for a in (1, 2) if c()])
    for i in range(2):
        try:
            continue
        finally:
            return n()
    if c():
        return [n() for _ in range(2)]
def g():
    try:
        try:
            if c() and c():
                return n()
            x = n(); print(x)
        finally:
            print(1)
            print([a * n() for a in (1, 2) if c()])
            yield from (n(), n())
        for i in range(0):
            assert c(), n()
            continue
            continue
    except Odd as e:
        try:
            boom()
        finally:
            print(repr(e))
            print(f'{n()}-{n():>3}')
    except ValueError as e:
        with CM(8), CM(9):
            if c() and not (c() or c()):
                raise
            if 0 < n() < n():
                return [n() for _ in range(2)]
            return n()
        for i in range(3):
            yield n()
            raise Odd(n())
        else:
            assert c(), n()
        with CM(1), CM(7):
            print(2)
    else:
        if (c() if c() else c()):
            if c() and c():
                raise Odd(n())
            yield n()
            print(1)
    with CM(1) as y:
        for i in range(1):
            print(1)
            a, *b = n(), n(), n(); print(b)
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
