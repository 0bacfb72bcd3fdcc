# One use of each construct at least, by hand.
class CM:
    def __init__(self, n, eat=False): self.n, self.eat = n, eat
    def __enter__(self):
        print("enter", self.n); return self
    def __exit__(self, t, e, tb):
        print("exit", self.n, t and t.__name__, e); return self.eat
def f(k):
    for i in range(3):
        with CM(i) as a, CM(10 + i, k == 3) as b:
            if k == 0: return i
            if k == 1: break
            if k == 2: continue
            if k == 3: raise ValueError("x")
            if k == 4: raise KeyError("y")
    return "end"
for k in range(6):
    try: print(f(k))
    except KeyError as e: print("caught", e)
class A:
    x = 1
    def __init__(self, *a, k=2, **kw): self.a = [x * k for x in a]; self.kw = kw
    def who(self): return "A"
    @property
    def p(self): return self.a[0]
    @staticmethod
    def s(v): return v + 1
class B(A):
    y = [i for i in range(3)]
    z = {i: j for i, j in zip(y, y)}
    def who(self): return "B" + super().who()
    def __init__(self): super().__init__(1, 2, k=3, q=4); self.c = __class__.__name__
b = B(); print(b.who(), b.p, b.a, b.kw, b.c, B.s(1), B.y, B.z)
def outer(x):
    class C:
        x = x if False else 5
        def m(self): return x
        n = [x for _ in range(2)]
    return C
try: C = outer(7)
except NameError as e: print("name")
x = 9
C = outer(7); print(C.x, C().m(), C.n)
def fs(k): return [lambda: (i, k) for i in range(k)]
l = [fs(k) for k in (1, 3)]; print([g() for q in l for g in q])
def two():
    r = []
    for k in (1, 3): r += [lambda: i for i in range(k)]
    return [q() for q in r]
print(two())
i = 5; print([i for i in range(3)], i, {i for i in "ab"} == {"a", "b"}, i)
def gen(n):
    try:
        for i in range(n):
            r = yield i
        yield from (q * q for q in range(n) if q)
    finally: print("fin")
print(list(gen(3)), sum(x * y for x in range(3) for y in range(x)))
a, *r, (c, *d) = 1, 2, 3, (4, 5, 6); print(a, r, c, d)
def h(*a, **k): return a, k
print(h(1, *[2, 3], k=1, *(4,), **{"z": 2}), [*r, 1, *d], {*r, 1} == {2, 3, 1}, {"a": 1, **{"b": 2}, "c": 3})
v = 3.14159; w = 8
print(f"{v:.2f}|{v!r:>{w}}|{w=}|{'q'!s}|{v:{w}.{2}f}")
def ret():
    for i in range(3):
        try:
            return i
        finally:
            if i < 2: continue
            print("x")
print(ret())
def nest():
    try:
        try: raise ValueError(1)
        except ValueError as e:
            try: raise KeyError(2)
            except KeyError: print("k")
            raise
        finally: print("f1")
    except ValueError as e: print("again", e)
    try: e
    except NameError: print("gone")
    try: raise
    except RuntimeError as q: print(q)
nest()
def wh(n):
    out = []
    while n > 0 and n != 7:
        n -= 1
        if n == 3: continue
        if n == 1: break
        out.append(n)
    else: out.append("else")
    return out
print(wh(5), wh(9), wh(0), (last := 4), last)
del last
try: last
except NameError: print("no last")
d = {"a": 1}; del d["a"]; print(d)
assert d == {}, "no"
try: assert d, ("m", 1)
except AssertionError as e: print(e.args)
@lambda f: lambda: f() + 1
def deco(): return 1
print(deco())
class Config:
    layers: int = 12
    width: str
print(list(Config.__annotations__), Config.layers)
def kind(v):
    match v:
        case 0 | 1 | "zero": return "small"
        case None: return "none"
        case True: return "never"
        case []: return "empty"
        case [x, [y, *_]] if x: return x, y
        case (1, *rest, last): return rest, last
        case str() | float() as t: return "text", t
        case [*most]: return most
        case other: return other
for v in (0, "zero", None, [], (3, [4, 5]), (0, [4]), [1, 2, 3, 4], (1, 2), 2.5, "a", {"k": 1}, (1,), [7, 8]):
    print(kind(v))
