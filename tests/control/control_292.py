class Odd(Exception):
    pass
seed = [292]
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
        with CM(3) as y, CM(4):
            if c():
                return
            raise Odd(n())
            boom()
    except Exception:
        with CM(0) as y:
            if c() and c():
                return n()
        while t() and ((c() if c() else c())):
            if c():
                raise Odd(n())
            x = n(); print(x)
            print(1)
        try:
            a, *b = n(), n(), n(); print(b)
            print([a * n() for a in (1, 2) if c()])
        finally:
            assert c(), n()
            boom()
            print(2)
    except Exception:
        raise Odd(n())
        try:
            if c() and c():
                return [n() for _ in range(2)]
            x = n(); print(x)
        except Exception:
            boom()
            print(f'{n()}-{n():>3}')
        except ValueError as e:
            boom()
            print(1)
        finally:
            x = n(); print(x)
        try:
            print([a * n() for a in (1, 2) if c()])
            print(f'{n()}-{n():>3}')
            assert c(), n()
        except (Odd, ValueError):
            print([a * n() for a in (1, 2) if c()])
        except (Odd, ValueError) as e:
            print(1)
        else:
            return n()
            boom()
            x = n(); print(x)
        finally:
            assert c(), n()
            a, *b = n(), n(), n(); print(b)
    finally:
        print([a * n() for a in (1, 2) if c()])
        try:
            if (c() if c() else c()):
                return [n() for _ in range(2)]
        except (Odd, ValueError):
            if c() and not (c() or c()):
                raise Odd(n())
        else:
            return
            print([a * n() for a in (1, 2) if c()])
            boom()
        while t() and (0 < n() < n()):
            if 0 < n() < n():
                return n()
            return n()
            print(1)
def g():
    try:
        try:
            print(2)
            assert c(), n()
        except (Odd, ValueError) as e:
            if [q for q in (n(), n()) if c()]:
                return [n() for _ in range(2)]
            return
            boom()
        except Odd:
            a, *b = n(), n(), n(); print(b)
            print(2)
        finally:
            a, *b = n(), n(), n(); print(b)
            print([a * n() for a in (1, 2) if c()])
    except (Odd, ValueError):
        with CM(5), CM(4):
            print(2)
        if not c():
            a, *b = n(), n(), n(); print(b)
        else:
            return
            yield from (n(), n())
            return
    except ValueError:
        a, *b = n(), n(), n(); print(b)
    try:
        with CM(6), CM(8):
            assert c(), n()
            x = n(); print(x)
            x = n(); print(x)
        try:
            return n()
            x = n(); print(x)
        except ValueError as e:
            print([a * n() for a in (1, 2) if c()])
            a, *b = n(), n(), n(); print(b)
        except Odd:
            raise Odd(n())
            return
            print(2)
        else:
            if (c() if c() else c()):
                raise Odd(n())
            return
            boom()
        try:
            yield from (n(), n())
            yield from (n(), n())
        finally:
            print(1)
    finally:
        if 0 < n() < n():
            print(f'{n()}-{n():>3}')
        if c() or c():
            print([a * n() for a in (1, 2) if c()])
            if (c() if c() else c()):
                raise Odd(n())
        try:
            if 0 < n() < n():
                raise Odd(n())
        except Exception as e:
            raise
            print(repr(e))
        except ValueError:
            a, *b = n(), n(), n(); print(b)
            if c() and not (c() or c()):
                return
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
