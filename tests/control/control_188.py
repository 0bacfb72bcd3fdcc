class Odd(Exception):
    pass
seed = [188]
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
        if c():
            a, *b = n(), n(), n(); print(b)
        else:
            print(2)
            if [q for q in (n(), n()) if c()]:
                return [n() for _ in range(2)]
    except ValueError as e:
        try:
            boom()
        except Exception:
            boom()
            x = n(); print(x)
            boom()
        except ValueError as e:
            return [n() for _ in range(2)]
            print(1)
        try:
            print(f'{n()}-{n():>3}')
            return [n() for _ in range(2)]
        except (Odd, ValueError) as e:
            if c() and c():
                raise
            print(1)
            return [n() for _ in range(2)]
        except ValueError as e:
            print(repr(e))
            if not c():
                raise
            print(repr(e))
    with CM(3) as y, CM(8) as y:
        if c() and not (c() or c()):
            raise Odd(n())
    try:
        while t() and (c() or c()):
            print(f'{n()}-{n():>3}')
            print(1)
        else:
            a, *b = n(), n(), n(); print(b)
        with CM(9):
            print(f'{n()}-{n():>3}')
            print(2)
            boom()
    finally:
        print(1)
def g():
    while t() and (c()):
        if [q for q in (n(), n()) if c()]:
            return n()
            a, *b = n(), n(), n(); print(b)
            a, *b = n(), n(), n(); print(b)
        else:
            print(f'{n()}-{n():>3}')
            return [n() for _ in range(2)]
    with CM(7), CM(3) as y:
        if c() and not (c() or c()):
            if [q for q in (n(), n()) if c()]:
                return [n() for _ in range(2)]
        try:
            a, *b = n(), n(), n(); print(b)
            yield from (n(), n())
        except (Odd, ValueError) as e:
            if c():
                raise Odd(n())
            if [q for q in (n(), n()) if c()]:
                raise Odd(n())
            x = n(); print(x)
        else:
            return [n() for _ in range(2)]
    if [q for q in (n(), n()) if c()]:
        try:
            a, *b = n(), n(), n(); print(b)
        except ValueError as e:
            raise Odd(n())
            if [q for q in (n(), n()) if c()]:
                raise Odd(n())
            if c():
                return n()
        except ValueError as e:
            print(2)
            a, *b = n(), n(), n(); print(b)
        else:
            print(f'{n()}-{n():>3}')
            a, *b = n(), n(), n(); print(b)
            yield n()
        finally:
            a, *b = n(), n(), n(); print(b)
            print(1)
            if [q for q in (n(), n()) if c()]:
                return n()
        try:
            if c() and c():
                return n()
        finally:
            boom()
            assert c(), n()
        if (c() if c() else c()):
            return
    else:
        if c():
            yield from (n(), n())
            print(f'{n()}-{n():>3}')
            raise Odd(n())
        else:
            return
            boom()
        try:
            yield n()
            return n()
            if not c():
                return n()
        finally:
            yield n()
            return n()
        for i in range(0):
            print(2)
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
