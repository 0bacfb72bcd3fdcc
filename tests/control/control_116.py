class Odd(Exception):
    pass
seed = [116]
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
    while t() and ((c() if c() else c())):
        try:
            continue
        finally:
            continue
            if 0 < n() < n():
                break
    try:
        print(f'{n()}-{n():>3}')
        for i in range(2):
            x = n(); print(x)
        with CM(8) as y, CM(5) as y:
            if c() or c():
                return
    except Odd as e:
        if c() or c():
            x = n(); print(x)
            return [n() for _ in range(2)]
        with CM(6), CM(0) as y:
            print(repr(e))
    else:
        try:
            if c() and c():
                raise Odd(n())
        except (Odd, ValueError):
            raise Odd(n())
            print(f'{n()}-{n():>3}')
        finally:
            if (c() if c() else c()):
                return [n() for _ in range(2)]
            print([a * n() for a in (1, 2) if c()])
            assert c(), n()
        if (c() if c() else c()):
            boom()
            assert c(), n()
            print(2)
        else:
            x = n(); print(x)
            raise Odd(n())
            return n()
    finally:
        with CM(6), CM(8):
            print(f'{n()}-{n():>3}')
            assert c(), n()
            a, *b = n(), n(), n(); print(b)
        try:
            if not c():
                return [n() for _ in range(2)]
        finally:
            if c() and not (c() or c()):
                return [n() for _ in range(2)]
            print(f'{n()}-{n():>3}')
    try:
        for i in range(0):
            a, *b = n(), n(), n(); print(b)
            print(1)
            if (c() if c() else c()):
                return [n() for _ in range(2)]
    finally:
        if [q for q in (n(), n()) if c()]:
            return
            boom()
        else:
            print(1)
            return [n() for _ in range(2)]
        with CM(8) as y:
            print([a * n() for a in (1, 2) if c()])
            assert c(), n()
        boom()
def g():
    with CM(9) as y:
        try:
            return [n() for _ in range(2)]
            assert c(), n()
            if (c() if c() else c()):
                return
        finally:
            a, *b = n(), n(), n(); print(b)
    try:
        if c() or c():
            print(1)
        else:
            boom()
        try:
            a, *b = n(), n(), n(); print(b)
        finally:
            print(1)
    except Exception as e:
        while t() and (c() and not (c() or c())):
            print(repr(e))
            x = n(); print(x)
            yield from (n(), n())
        with CM(7):
            boom()
        try:
            print([a * n() for a in (1, 2) if c()])
        except ValueError:
            print([a * n() for a in (1, 2) if c()])
        except Exception as e:
            return [n() for _ in range(2)]
        else:
            yield n()
            a, *b = n(), n(), n(); print(b)
        finally:
            a, *b = n(), n(), n(); print(b)
            yield n()
            if [q for q in (n(), n()) if c()]:
                return
    except Odd:
        if c() and c():
            raise Odd(n())
        while t() and (c() and not (c() or c())):
            if c() and c():
                continue
            break
            x = n(); print(x)
        else:
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
