class Odd(Exception):
    pass
seed = [129]
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
        if c() and not (c() or c()):
            boom()
            if (c() if c() else c()):
                raise Odd(n())
            x = n(); print(x)
        else:
            x = n(); print(x)
            a, *b = n(), n(), n(); print(b)
            a, *b = n(), n(), n(); print(b)
        with CM(6):
            print(2)
        print(1)
    except ValueError as e:
        if not c():
            x = n(); print(x)
            if [q for q in (n(), n()) if c()]:
                raise
            if (c() if c() else c()):
                return [n() for _ in range(2)]
    else:
        if 0 < n() < n():
            if c() or c():
                raise Odd(n())
        else:
            boom()
        while t() and (not c()):
            print([a * n() for a in (1, 2) if c()])
            print(1)
            if c():
                return [n() for _ in range(2)]
        else:
            a, *b = n(), n(), n(); print(b)
            a, *b = n(), n(), n(); print(b)
            print(f'{n()}-{n():>3}')
    finally:
        while t() and ([q for q in (n(), n()) if c()]):
            if c() or c():
                break
    try:
        try:
            print(f'{n()}-{n():>3}')
            print(2)
        except Exception as e:
            print(repr(e))
            raise Odd(n())
        except Odd:
            print(f'{n()}-{n():>3}')
            if 0 < n() < n():
                return
            a, *b = n(), n(), n(); print(b)
        else:
            a, *b = n(), n(), n(); print(b)
            if c() and c():
                return
        while t() and (0 < n() < n()):
            print(f'{n()}-{n():>3}')
            print(1)
            boom()
        else:
            assert c(), n()
            if 0 < n() < n():
                return n()
    finally:
        with CM(0) as y, CM(0):
            print(2)
            a, *b = n(), n(), n(); print(b)
        try:
            a, *b = n(), n(), n(); print(b)
        except ValueError:
            print([a * n() for a in (1, 2) if c()])
            print([a * n() for a in (1, 2) if c()])
            print(f'{n()}-{n():>3}')
        else:
            print([a * n() for a in (1, 2) if c()])
            if c() and c():
                return n()
    try:
        print(1)
        try:
            a, *b = n(), n(), n(); print(b)
        except Exception as e:
            a, *b = n(), n(), n(); print(b)
            print(2)
        except ValueError as e:
            print(1)
            print(2)
        else:
            print(2)
            x = n(); print(x)
            if [q for q in (n(), n()) if c()]:
                raise Odd(n())
        while t() and (c() or c()):
            x = n(); print(x)
            assert c(), n()
    except ValueError as e:
        while t() and (c()):
            x = n(); print(x)
    else:
        for i in range(3):
            assert c(), n()
        try:
            boom()
            print([a * n() for a in (1, 2) if c()])
        except Odd as e:
            print([a * n() for a in (1, 2) if c()])
        except Odd as e:
            if c():
                return [n() for _ in range(2)]
        else:
            x = n(); print(x)
            if c():
                return [n() for _ in range(2)]
        finally:
            if c() and c():
                return [n() for _ in range(2)]
            a, *b = n(), n(), n(); print(b)
            if c():
                return [n() for _ in range(2)]
def g():
    with CM(1) as y, CM(5):
        while t() and (not c()):
            if [q for q in (n(), n()) if c()]:
                return n()
            continue
            print(f'{n()}-{n():>3}')
        else:
            x = n(); print(x)
    try:
        if not c():
            return
    except ValueError as e:
        try:
            print(f'{n()}-{n():>3}')
        finally:
            if not c():
                return n()
            print(1)
        for i in range(0):
            yield n()
    else:
        with CM(0) as y, CM(0):
            print(2)
            if [q for q in (n(), n()) if c()]:
                return n()
            print([a * n() for a in (1, 2) if c()])
        for i in range(3):
            yield n()
            yield from (n(), n())
            if 0 < n() < n():
                raise Odd(n())
        else:
            print(f'{n()}-{n():>3}')
            raise Odd(n())
        if c() and c():
            print([a * n() for a in (1, 2) if c()])
            return [n() for _ in range(2)]
    finally:
        try:
            if c() or c():
                return
        except Exception as e:
            if c() or c():
                return n()
            if c() and c():
                return [n() for _ in range(2)]
            if c() and c():
                raise
    try:
        if c() or c():
            x = n(); print(x)
        else:
            yield n()
            boom()
            if c() and c():
                return [n() for _ in range(2)]
    except ValueError:
        while t() and ((c() if c() else c())):
            return
            if [q for q in (n(), n()) if c()]:
                continue
        else:
            a, *b = n(), n(), n(); print(b)
            yield n()
        with CM(7), CM(3) as y:
            yield n()
            print(1)
            yield from (n(), n())
    except (Odd, ValueError):
        for i in range(3):
            continue
            yield from (n(), n())
        else:
            yield n()
            print(2)
            print(f'{n()}-{n():>3}')
    else:
        if c() and not (c() or c()):
            if c() and not (c() or c()):
                return [n() for _ in range(2)]
            boom()
        try:
            yield n()
        finally:
            yield from (n(), n())
        try:
            print(f'{n()}-{n():>3}')
            if c():
                raise Odd(n())
        except Odd:
            raise Odd(n())
        else:
            x = n(); print(x)
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
