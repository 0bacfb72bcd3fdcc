class Odd(Exception):
    pass
seed = [101]
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
        try:
            if c() or c():
                raise Odd(n())
            assert c(), n()
        except (Odd, ValueError) as e:
            boom()
            assert c(), n()
        except ValueError as e:
            if c() or c():
                raise
            assert c(), n()
        else:
            return n()
        try:
            boom()
            print(f'{n()}-{n():>3}')
        except Exception as e:
            print(2)
            print(1)
        except ValueError:
            x = n(); print(x)
        finally:
            x = n(); print(x)
            return [n() for _ in range(2)]
        try:
            assert c(), n()
            if c() and c():
                raise Odd(n())
            return
        finally:
            print([a * n() for a in (1, 2) if c()])
    except Exception:
        with CM(2), CM(3) as y:
            x = n(); print(x)
    except ValueError as e:
        raise Odd(n())
    else:
        return
    finally:
        if c() or c():
            print([a * n() for a in (1, 2) if c()])
            a, *b = n(), n(), n(); print(b)
    try:
        print(f'{n()}-{n():>3}')
    except Exception:
        try:
            assert c(), n()
        except (Odd, ValueError):
            print(1)
            a, *b = n(), n(), n(); print(b)
            print([a * n() for a in (1, 2) if c()])
        except Exception as e:
            if c() and c():
                raise Odd(n())
        finally:
            assert c(), n()
    except (Odd, ValueError):
        try:
            if [q for q in (n(), n()) if c()]:
                raise Odd(n())
            print([a * n() for a in (1, 2) if c()])
            a, *b = n(), n(), n(); print(b)
        except ValueError as e:
            a, *b = n(), n(), n(); print(b)
            boom()
        except Odd:
            assert c(), n()
            print(1)
        else:
            print(1)
            assert c(), n()
            return n()
        finally:
            if c() and c():
                return
            if (c() if c() else c()):
                return
        with CM(1) as y:
            print(2)
            return [n() for _ in range(2)]
        print(1)
    else:
        with CM(3):
            return [n() for _ in range(2)]
            return [n() for _ in range(2)]
            print(1)
    try:
        try:
            boom()
            raise Odd(n())
            raise Odd(n())
        except Exception:
            print(1)
        except Exception:
            return n()
            print(f'{n()}-{n():>3}')
            if (c() if c() else c()):
                return [n() for _ in range(2)]
        finally:
            boom()
        print(f'{n()}-{n():>3}')
        with CM(2) as y, CM(0):
            boom()
            boom()
    except (Odd, ValueError):
        for i in range(1):
            print(f'{n()}-{n():>3}')
            print(2)
        else:
            print(f'{n()}-{n():>3}')
            return n()
            return
        try:
            a, *b = n(), n(), n(); print(b)
            print(1)
        except ValueError as e:
            assert c(), n()
            print(1)
            print(f'{n()}-{n():>3}')
        else:
            print(f'{n()}-{n():>3}')
        finally:
            if [q for q in (n(), n()) if c()]:
                return [n() for _ in range(2)]
            if (c() if c() else c()):
                return [n() for _ in range(2)]
    finally:
        while t() and ([q for q in (n(), n()) if c()]):
            continue
            print(2)
def g():
    with CM(4) as y, CM(5) as y:
        if [q for q in (n(), n()) if c()]:
            yield n()
        else:
            return n()
    if [q for q in (n(), n()) if c()]:
        raise Odd(n())
    if 0 < n() < n():
        print(2)
        while t() and (c() or c()):
            continue
            print(2)
            boom()
        else:
            x = n(); print(x)
            raise Odd(n())
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
