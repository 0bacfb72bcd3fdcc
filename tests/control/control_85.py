class Odd(Exception):
    pass
seed = [85]
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
    with CM(5):
        for i in range(2):
            if c() or c():
                break
            break
            x = n(); print(x)
def g():
    with CM(3), CM(2) as y:
        try:
            print(1)
            x = n(); print(x)
        except (Odd, ValueError) as e:
            print([a * n() for a in (1, 2) if c()])
            boom()
        except Exception as e:
            print([a * n() for a in (1, 2) if c()])
        finally:
            yield from (n(), n())
            a, *b = n(), n(), n(); print(b)
            assert c(), n()
        print(1)
        with CM(3), CM(0) as y:
            yield n()
            x = n(); print(x)
    try:
        try:
            a, *b = n(), n(), n(); print(b)
            a, *b = n(), n(), n(); print(b)
            return [n() for _ in range(2)]
        finally:
            if (c() if c() else c()):
                raise Odd(n())
            return [n() for _ in range(2)]
            print([a * n() for a in (1, 2) if c()])
    except (Odd, ValueError) as e:
        for i in range(3):
            continue
            yield n()
        for i in range(2):
            print(f'{n()}-{n():>3}')
            print(f'{n()}-{n():>3}')
        else:
            if c():
                return
        with CM(1), CM(0):
            print(repr(e))
            print(1)
    except Odd as e:
        try:
            print(1)
            yield n()
        finally:
            a, *b = n(), n(), n(); print(b)
    else:
        with CM(4):
            yield from (n(), n())
        with CM(2), CM(8):
            print(2)
        try:
            yield n()
            a, *b = n(), n(), n(); print(b)
            return [n() for _ in range(2)]
        except (Odd, ValueError) as e:
            print(f'{n()}-{n():>3}')
            x = n(); print(x)
        except Exception as e:
            yield from (n(), n())
    try:
        with CM(6) as y, CM(3) as y:
            print([a * n() for a in (1, 2) if c()])
    except Exception as e:
        with CM(6), CM(4):
            if c():
                return
        while t() and ([q for q in (n(), n()) if c()]):
            boom()
        else:
            print(f'{n()}-{n():>3}')
        a, *b = n(), n(), n(); print(b)
    else:
        try:
            raise Odd(n())
        except Odd:
            if c() and c():
                return
        finally:
            if 0 < n() < n():
                raise Odd(n())
            a, *b = n(), n(), n(); print(b)
        if c() and c():
            raise Odd(n())
            if 0 < n() < n():
                return n()
            print(1)
        raise Odd(n())
    finally:
        if c():
            print(f'{n()}-{n():>3}')
            print(f'{n()}-{n():>3}')
            assert c(), n()
        else:
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
