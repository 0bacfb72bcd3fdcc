class Odd(Exception):
    pass
seed = [166]
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
    with CM(6), CM(5):
        with CM(4), CM(2):
            boom()
            print(f'{n()}-{n():>3}')
        x = n(); print(x)
def g():
    while t() and (c() or c()):
        with CM(5) as y:
            print([a * n() for a in (1, 2) if c()])
            break
        try:
            if c() and c():
                break
        except ValueError:
            boom()
            x = n(); print(x)
            print(1)
        except Exception:
            yield n()
            if c() or c():
                return
    if c():
        if 0 < n() < n():
            print(f'{n()}-{n():>3}')
            boom()
        else:
            return [n() for _ in range(2)]
        print(f'{n()}-{n():>3}')
        if not c():
            return [n() for _ in range(2)]
    else:
        try:
            assert c(), n()
            print(f'{n()}-{n():>3}')
            print(2)
        except (Odd, ValueError):
            x = n(); print(x)
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
