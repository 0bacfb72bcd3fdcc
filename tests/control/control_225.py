class Odd(Exception):
    pass
seed = [225]
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
        with CM(3) as y:
            if c():
                return n()
    except ValueError:
        while t() and ((c() if c() else c())):
            if c() and c():
                continue
    except ValueError:
        if 0 < n() < n():
            print([a * n() for a in (1, 2) if c()])
            return [n() for _ in range(2)]
            raise Odd(n())
        with CM(2), CM(5):
            if (c() if c() else c()):
                return
            if 0 < n() < n():
                return [n() for _ in range(2)]
            print(2)
        boom()
    else:
        with CM(1), CM(0):
            print(2)
            return
    try:
        with CM(5) as y, CM(0) as y:
            print(2)
            x = n(); print(x)
    except (Odd, ValueError) as e:
        try:
            print(2)
            return n()
            boom()
        except ValueError:
            print(1)
        except Odd as e:
            if (c() if c() else c()):
                return n()
        x = n(); print(x)
    with CM(1) as y:
        with CM(5) as y:
            x = n(); print(x)
        return
def g():
    with CM(1) as y, CM(2):
        with CM(4), CM(6):
            if 0 < n() < n():
                return [n() for _ in range(2)]
            if 0 < n() < n():
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
