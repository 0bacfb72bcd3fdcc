class Odd(Exception):
    pass
seed = [147]
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
    with CM(7) as y, CM(2) as y:
        try:
            print([a * n() for a in (1, 2) if c()])
            print(f'{n()}-{n():>3}')
            print([a * n() for a in (1, 2) if c()])
        except (Odd, ValueError):
            assert c(), n()
        if c() or c():
            x = n(); print(x)
        else:
            print(f'{n()}-{n():>3}')
            boom()
    while t() and (c() or c()):
        for i in range(1):
            a, *b = n(), n(), n(); print(b)
            if c() and not (c() or c()):
                return n()
            if c():
                return [n() for _ in range(2)]
        else:
            if c() or c():
                return [n() for _ in range(2)]
        try:
            if c():
                break
        except Odd:
            if (c() if c() else c()):
                break
            if (c() if c() else c()):
                continue
            assert c(), n()
        with CM(6):
            if c() and not (c() or c()):
                return n()
    else:
        if 0 < n() < n():
            if c() and c():
                return [n() for _ in range(2)]
        else:
            return
            assert c(), n()
            return
    with CM(4), CM(4) as y:
        try:
            print([a * n() for a in (1, 2) if c()])
            assert c(), n()
            x = n(); print(x)
        except (Odd, ValueError) as e:
            if c():
                raise
            print(f'{n()}-{n():>3}')
        except (Odd, ValueError) as e:
            print(2)
            print([a * n() for a in (1, 2) if c()])
        finally:
            if not c():
                return n()
            x = n(); print(x)
            if [q for q in (n(), n()) if c()]:
                return n()
def g():
    try:
        with CM(3) as y, CM(2):
            print(f'{n()}-{n():>3}')
        try:
            boom()
            boom()
            print([a * n() for a in (1, 2) if c()])
        except Exception:
            print([a * n() for a in (1, 2) if c()])
            print([a * n() for a in (1, 2) if c()])
            a, *b = n(), n(), n(); print(b)
        finally:
            print(1)
    except Odd:
        while t() and (c() and not (c() or c())):
            if 0 < n() < n():
                break
            x = n(); print(x)
            yield n()
        yield n()
    except Odd as e:
        try:
            print(1)
        except Odd:
            print(f'{n()}-{n():>3}')
            a, *b = n(), n(), n(); print(b)
        except Exception as e:
            yield from (n(), n())
            a, *b = n(), n(), n(); print(b)
            if c():
                return [n() for _ in range(2)]
        finally:
            if not c():
                raise Odd(n())
            print([a * n() for a in (1, 2) if c()])
        return n()
        with CM(7):
            raise
    if 0 < n() < n():
        return
    try:
        try:
            print(f'{n()}-{n():>3}')
            x = n(); print(x)
            a, *b = n(), n(), n(); print(b)
        except Exception:
            yield from (n(), n())
            print(f'{n()}-{n():>3}')
            boom()
        else:
            boom()
    except ValueError as e:
        try:
            if c() or c():
                return [n() for _ in range(2)]
        except Exception:
            print(f'{n()}-{n():>3}')
            a, *b = n(), n(), n(); print(b)
            return n()
        if c():
            return
            print([a * n() for a in (1, 2) if c()])
        else:
            a, *b = n(), n(), n(); print(b)
    except ValueError:
        with CM(4):
            a, *b = n(), n(), n(); print(b)
            print(f'{n()}-{n():>3}')
            print([a * n() for a in (1, 2) if c()])
        with CM(5), CM(0) as y:
            assert c(), n()
    finally:
        try:
            print(2)
        except Exception as e:
            if c():
                return
        except Odd:
            assert c(), n()
            boom()
        for i in range(3):
            print(f'{n()}-{n():>3}')
        else:
            if (c() if c() else c()):
                return
            if not c():
                return
            print(f'{n()}-{n():>3}')
        print([a * n() for a in (1, 2) if c()])
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
