"""References and calls of products of matrices, and attention."""
import math

import naive
from cases_reduce import groups, softmax
from naive import ALL, FLOATS, INF, INTS, NAN, Nd, broadcast_shapes, places, pointwise, promote
from table import B, C, I, P, S, U, V, X, row, untried


def dot_of(a, b):
    if any(isinstance(v, float) for v in a):
        terms = [p * q for p, q in zip(a, b)]
        return math.fsum(terms) if all(math.isfinite(t) for t in terms) else sum(terms)
    return any(p and q for p, q in zip(a, b)) if a and isinstance(a[0], bool) else sum(p * q for p, q in zip(a, b))


def matmul(x, y):
    if x.ndim == 1 and y.ndim == 1:
        return Nd((), x.dtype, [dot_of(x.flat(), y.flat())])
    if x.ndim == 1:
        return matmul(x.unsqueeze(0), y).squeeze(-2)
    if y.ndim == 1:
        return matmul(x, y.unsqueeze(1)).squeeze(-1)
    lead = broadcast_shapes(x.shape[:-2], y.shape[:-2])
    x, y = x.expand(lead + x.shape[-2:]), y.expand(lead + y.shape[-2:])
    made = []
    for p in places(lead):
        a, b = x, y
        for i in p:
            a, b = a.select(0, i), b.select(0, i)
        rows = [a.select(0, i).flat() for i in range(a.shape[0])]
        columns = [b.select(1, j).flat() for j in range(b.shape[1])]
        made += [dot_of(r, c) for r in rows for c in columns]
    return Nd(lead + (x.shape[-2], y.shape[-1]), x.dtype, made)


NUM = FLOATS + INTS
MATMULS = [C("x, y", X(2, 3), X(3, 4)), C("x, y", X(3), X(3)), C("x, y", X(2, 3), X(3)), C("x, y", X(3), X(3, 2)), C("x, y", X(2, 2, 3), X(3, 2)), C("x, y", X(2, 1, 2, 3), X(4, 3, 2)), C("x, y", X(0, 3), X(3, 2)), C("x, y", X(2, 0), X(0, 3)), C("x, y", X(1, 1), X(1, 1)), C("x, y", X(17, 33), X(33, 9)), C("x, y", X(3), X(2, 3, 4)), C("x, y", X(5, 2, 3), X(3)), C("x, y", X(2, 3), X(2, 3), raises="3"), C("x, y", X(2, 3, dtype="float64"), X(3, 2), raises="dtype"), C("x, y", X(), X(3), raises="dim")]
row("matmul", matmul, *MATMULS, C("x, y", S(2, 5), X(5, 2), dtypes=FLOATS), dtypes=NUM, tol=2)
row("mm", matmul, *MATMULS[:1], C("x, y", X(0, 3), X(3, 2)), C("x, y", X(2, 0), X(0, 3)), C("x, y", X(2, 3), X(3), raises="mm"), dtypes=NUM, tol=2)
row("bmm", matmul, C("x, y", X(2, 2, 3), X(2, 3, 4)), C("x, y", X(0, 2, 3), X(0, 3, 4)), C("x, y", X(2, 3), X(3, 2), raises="bmm"), dtypes=NUM, tol=2)
row("mv", matmul, C("x, y", X(2, 3), X(3)), C("x, y", X(2, 0), X(0)), C("x, y", X(2, 3), X(2), raises="mv"), dtypes=NUM, tol=2)
row("dot", matmul, C("x, y", X(5), X(5)), C("x, y", X(0), X(0)), C("x, y", X(37), X(37)), C("x, y", X(2), X(3), raises="dot"), dtypes=NUM, tol=2)
row("inner", lambda x, y: matmul(x, y.transpose() if y.ndim > 1 else y), C("x, y", X(5), X(5)), C("x, y", X(2, 3), X(4, 3)), dtypes=NUM, tol=2)
row("outer", lambda x, y: pointwise(lambda a, b: a * b)(x.unsqueeze(1), y.unsqueeze(0)), C("x, y", X(2), X(3)), C("x, y", X(0), X(3)), dtypes=ALL)
untried("matmul_nt", "pass simplify makes it of x @ w.T")
untried("biased", "pass pattern_match makes it of narrow linear layers, for devices: test_backends_calls")
untried("attention", "pass pattern_match makes it for devices: test_backends_calls")


def einsum(equation, *xs):
    xs = list(xs[0]) if isinstance(xs[0], (list, tuple)) else list(xs)
    equation = equation.replace(" ", "")
    left, _, right = equation.partition("->")
    names = left.split(",")
    rest = 0
    for n, (name, x) in enumerate(zip(names, xs)):
        if "..." in name:
            k = x.ndim - len(name) + 3
            rest = max(rest, k)
            names[n] = name.replace("...", "".join(chr(ord("A") + rest - k + i) for i in range(k)))
    dots = "".join(chr(ord("A") + i) for i in range(rest))
    if "->" in equation:
        right = right.replace("...", dots)
    else:
        letters = "".join(names)
        right = dots + "".join(sorted(c for c in set(letters) if letters.count(c) == 1 and c not in dots))
    size = {}
    for name, x in zip(names, xs):
        for c, n in zip(name, x.shape):
            size[c] = max(n, size.get(c, n)) if n != 0 else 0
    summed = [c for c in size if c not in right]
    made = []
    for p in places([size[c] for c in right]):
        at = dict(zip(right, p))
        terms = []
        for q in places([size[c] for c in summed]):
            at.update(zip(summed, q))
            v = 1
            for name, x in zip(names, xs):
                v = v * x.at(tuple(at[c] if n > 1 else 0 for c, n in zip(name, x.shape)))
            terms.append(v)
        made.append(sum(terms))
    return Nd([size[c] for c in right], xs[0].dtype, made)


EINSUMS = [("ij,jk->ik", (2, 3), (3, 4)), ("ij->ji", (2, 3)), ("ii->i", (3, 3)), ("ii", (3, 3)), ("bij,bjk->bik", (2, 2, 3), (2, 3, 2)), ("i,j->ij", (2,), (3,)), ("ij,ij->", (2, 3), (2, 3)), ("...ij,...jk->...ik", (2, 2, 3), (3, 2)), ("ij->", (2, 3)), ("bhid,bhjd->bhij", (2, 2, 3, 2), (2, 2, 4, 2)), ("ij,j", (2, 3), (3,)), ("i,i,i->", (3,), (3,), (3,)), ("ab,bc,cd->ad", (2, 3), (3, 2), (2, 2)), ("b n d , b m d -> b n m", (2, 3, 2), (2, 1, 2))]
row("einsum", einsum, *[C(f"{e!r}, {', '.join('xyz'[: len(s)])}", *[X(*t) for t in s]) for e, *s in EINSUMS], C("'ij,jk->ik', [x, y]", X(2, 3), X(3, 2)), C("'ij,jk->ik', x, y", X(2, 3), X(2, 3), raises="einsum"), C("'ij->k', x", X(2, 3), raises="k"), tol=3)


def linear(x, w, b=None):
    made = matmul(x, w.transpose() if w.ndim > 1 else w)
    return pointwise(lambda p, q: p + q)(made, b) if b is not None else made


row("linear", linear, C("x, y, z", X(2, 3), X(4, 3), X(4)), C("x, y", X(2, 5, 3), X(4, 3)), C("x, y", X(3), X(4, 3)), C("x, y, z", X(0, 3), X(4, 3), X(4)), C("x, y, z", X(7, 40), X(20, 40), X(20)), C("x, y", X(2, 4), X(4, 3), raises="3"), tol=2)


def added(product):
    def call(x, a, b, beta=1, alpha=1):
        # What beta = 0 multiplies is not looked at.
        made = pointwise(lambda p: p * alpha)(product(a, b))
        return pointwise(lambda p, q: p + beta * q if beta != 0 else p)(made, x)

    return call


ADDS = lambda shape, a, b: [C("x, y, z", X(*shape), X(*a), X(*b)), C("x, y, z, beta=2, alpha=3", X(*shape), X(*a), X(*b)), C("x, y, z, beta=0.5, alpha=0.25", X(*shape), X(*a), X(*b), dtypes=FLOATS), C("x, y, z, beta=0", V([NAN, INF, 1.0], None, shape), X(*a), X(*b), dtypes=FLOATS)]
row("addmm", added(matmul), *ADDS((2, 4), (2, 3), (3, 4)), C("x, y, z", X(4), X(2, 3), X(3, 4)), C("x, y, z", X(2, 2), X(2, 3), X(2, 3), raises="3"), dtypes=NUM, inplace=True, tol=4)
row("baddbmm", added(matmul), *ADDS((2, 2, 4), (2, 2, 3), (2, 3, 4)), C("x, y, z", X(4), X(2, 2, 3), X(2, 3, 4)), dtypes=NUM, inplace=True, tol=4)
row("addmv", added(matmul), *ADDS((2,), (2, 3), (3,)), C("x, y, z", X(1), X(2, 3), X(3)), dtypes=NUM, inplace=True, tol=4)
row("addr", added(lambda a, b: pointwise(lambda p, q: p * q)(a.unsqueeze(1), b.unsqueeze(0))), *ADDS((2, 3), (2,), (3,)), dtypes=NUM, inplace=True, tol=4)


def summed_products(a, b):
    made = matmul(a, b)
    total = made.select(0, 0)
    for i in range(1, made.shape[0]):
        total = pointwise(lambda p, q: p + q)(total, made.select(0, i))
    return total


row("addbmm", added(summed_products), *ADDS((2, 4), (3, 2, 3), (3, 3, 4)), dtypes=NUM, inplace=True, tol=6)


def chain(*xs):
    made = xs[0]
    for x in xs[1:]:
        made = matmul(made, x)
    return made


row("chain_matmul", chain, C("x, y, z", X(2, 3), X(3, 4), X(4, 2)), C("x, y", X(2, 3), X(3, 4)), tol=8, dtypes=("float32", "float64"))
row("multi_dot", lambda xs: chain(*xs), C("[x, y, z]", X(2, 3), X(3, 4), X(4, 2)), C("[x, y]", X(2, 3), X(3, 4)), tol=8, dtypes=("float32", "float64"))


def tensordot(x, y, dims=2):
    if isinstance(dims, int):
        dims = (list(range(x.ndim - dims, x.ndim)), list(range(dims)))
    a, b = [[d] if isinstance(d, int) else list(d) for d in dims]
    a, b = [x.dim(d) for d in a], [y.dim(d) for d in b]
    free_x, free_y = [d for d in range(x.ndim) if d not in a], [d for d in range(y.ndim) if d not in b]
    n = math.prod(x.shape[d] for d in a)
    left = x.permute(free_x + a).reshape(-1 if n else 0, n)
    made = matmul(left, y.permute(b + free_y).reshape(n, -1 if n else 0))
    return made.reshape([x.shape[d] for d in free_x] + [y.shape[d] for d in free_y])


row("tensordot", tensordot, C("x, y", X(2, 3, 4), X(3, 4, 2)), C("x, y, 1", X(2, 3), X(3, 4)), C("x, y, dims=([0], [1])", X(3, 2), X(4, 3)), C("x, y, dims=((1, 0), (0, 1))", X(2, 3), X(3, 2)), C("x, y, dims=0", X(2), X(3)), tol=3, dtypes=FLOATS)
row("kron", lambda x, y: kron(x, y), C("x, y", X(2, 2), X(2, 3)), C("x, y", X(2), X(3)), C("x, y", X(2, 2), X(2)), dtypes=NUM)


def kron(x, y):
    rank = max(x.ndim, y.ndim)
    x, y = x.reshape((1,) * (rank - x.ndim) + x.shape), y.reshape((1,) * (rank - y.ndim) + y.shape)
    shape = [a * b for a, b in zip(x.shape, y.shape)]
    return Nd(shape, x.dtype, [x.at(tuple(i // n for i, n in zip(p, y.shape))) * y.at(tuple(i % n for i, n in zip(p, y.shape))) for p in places(shape)])


def cross(x, y, dim=-1):
    shape = broadcast_shapes(x.shape, y.shape)
    x, y = x.expand(shape), y.expand(shape)
    d = x.dim(dim)
    made = Nd(shape, x.dtype, [0] * math.prod(shape))
    for k in range(3):
        a, b = (k + 1) % 3, (k + 2) % 3
        made.select(d, k).copy_(pointwise(lambda p, q, r, s: p * s - q * r)(x.select(d, a), x.select(d, b), y.select(d, a), y.select(d, b)))
    return made


row("cross", cross, C("x, y", X(3), X(3)), C("x, y, dim=1", X(2, 3), X(2, 3)), C("x, y, dim=-1", X(2, 3), X(1, 3)), C("x, y, dim=0", X(3, 2), X(3, 2)), C("x, y, dim=0", X(2, 3), X(2, 3), raises="3"), dtypes=NUM)
row("vdot", matmul, C("x, y", X(5), X(5)), C("x, y", X(0), X(0)), dtypes=NUM, tol=2)


def bilinear(x, y, w, b=None):
    made = einsum("...i,kij,...j->...k", x, w, y)
    return pointwise(lambda p, q: p + q)(made, b) if b is not None else made


row("bilinear", bilinear, C("x, y, z, w", X(2, 3), X(2, 4), X(5, 3, 4), X(5)), C("x, y, z", X(2, 2, 3), X(2, 2, 2), X(1, 3, 2)), tol=8)


def attention(q, k, v, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False):
    if enable_gqa:
        times = q.shape[-3] // k.shape[-3]
        k, v = [Nd(t.shape[:-3] + (t.shape[-3] * times,) + t.shape[-2:], t.dtype, [t.at(p[:-3] + (p[-3] // times,) + p[-2:]) for p in places(t.shape[:-3] + (t.shape[-3] * times,) + t.shape[-2:])]) for t in (k, v)]
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else scale
    scores = matmul(Nd(q.shape, "float64", q.flat()), Nd(k.shape, "float64", k.flat()).transpose())
    if is_causal:
        attn_mask = Nd(scores.shape[-2:], "bool", [i >= j for i, j in places(scores.shape[-2:])])
    mask = attn_mask.expand(scores.shape).flat() if attn_mask is not None else [0.0] * scores.numel()
    values = [(s * scale if m else -INF) if isinstance(m, bool) else s * scale + m for s, m in zip(scores.flat(), mask)]
    scores = Nd(scores.shape, "float64", values)
    soft = softmax(scores, -1)
    # A row with no key at all gives 0.
    soft = Nd(soft.shape, "float64", [0.0 if p != p else p for p in soft.flat()])
    made = matmul(soft, Nd(v.shape, "float64", v.flat()))
    return Nd(made.shape, q.dtype, made.flat())


QKV = lambda *lead: [X(*lead, 3, 4, kind="unit"), X(*lead, 5, 4, kind="small"), X(*lead, 5, 2)]
row("scaled_dot_product_attention", attention, C("x, y, z", *QKV(2)), C("x, y, z", *QKV(2, 2)), C("x, y, z, w", *QKV(2), X(3, 5)), C("x, y, z, attn_mask=w", *QKV(2), B(3, 5)), C("x, x, x, is_causal=True", U(2, 3, 4)), C("x, y, z, scale=0.5", *QKV(1)), C("x, y, z, enable_gqa=True", X(1, 4, 3, 2, kind="unit"), X(1, 2, 3, 2, kind="small"), X(1, 2, 3, 2)), C("x, y, z", *QKV()), C("x, y, z, attn_mask=w", *QKV(2), V([False], "bool", (3, 5))), tol=6)
row("vecdot", lambda x, y, dim=-1: Nd(x.shape[:-1], x.dtype, [dot_of(a, b) for a, b in zip(groups(x, [x.ndim - 1]), groups(y, [y.ndim - 1]))]), C("x, y", X(3), X(3)), C("x, y", X(2, 3), X(2, 3)), dtypes=FLOATS, tol=4)


def power(x, n):
    made = Nd(x.shape, x.dtype, [float(i == j) for *_, i, j in places(x.shape)])
    for _ in range(n):
        made = matmul(made, x)
    return made


row("matrix_power", power, C("x, 2", X(3, 3)), C("x, 0", X(2, 2)), C("x, 3", X(2, 2, 2)), dtypes=("float32", "float64"), tol=8)


def matrix_norm(x, ord="fro", dim=(-2, -1), keepdim=False):
    made = []
    for p in places(x.shape[:-2]):
        m = x
        for i in p:
            m = m.select(0, i)
        if ord == "fro":
            made.append(math.sqrt(math.fsum(v * v for v in m.flat())))
            continue
        rows = m if ord in (INF, -INF) else m.transpose()
        sums = [math.fsum(abs(v) for v in r) for r in groups(rows, [1])]
        made.append(max(sums) if ord > 0 else min(sums))
    return Nd(x.shape[:-2] + ((1, 1) if keepdim else ()), x.dtype, made)


row("matrix_norm", matrix_norm, C("x", X(2, 3)), C("x, 1", X(2, 3)), C("x, math.inf", X(2, 2, 3)), C("x, -1, keepdim=True", X(2, 3)), dtypes=("float32", "float64"), tol=4)


def cov(x, correction=1):
    rows = [x.flat()] if x.ndim < 2 else [x.select(0, i).flat() for i in range(x.shape[0])]
    rows = [[v - math.fsum(r) / len(r) for v in r] for r in rows]
    made = [math.fsum(p * q for p, q in zip(a, b)) / (len(a) - correction) for a in rows for b in rows]
    return Nd((len(rows), len(rows)) if x.ndim > 1 else (), x.dtype, made)


def corrcoef(x):
    c = cov(x)
    if not c.ndim:
        return Nd((), x.dtype, [1.0])
    return Nd(c.shape, x.dtype, [c.at((i, j)) / math.sqrt(c.at((i, i)) * c.at((j, j))) for i, j in places(c.shape)])


row("cov", cov, C("x", X(3, 5)), C("x", X(5)), C("x, correction=0", X(2, 4)), dtypes=("float32", "float64"), tol=6)
row("corrcoef", corrcoef, C("x", X(3, 5)), C("x", X(5)), dtypes=("float32", "float64"), tol=6)


def trapezoid(y, x=None, dx=1.0, dim=-1):
    made = []
    for r in groups(y, [y.dim(dim)]):
        at = x.flat() if x is not None else [dx * k for k in range(len(r))]
        made.append(math.fsum((q - p) * (b + a) / 2 for p, q, a, b in zip(at, at[1:], r, r[1:])))
    return Nd([n for d, n in enumerate(y.shape) if d != y.dim(dim)], y.dtype, made)


def cumulative_trapezoid(y, x=None, dx=1.0):
    """Along the last dim: of each row the sums up to each step."""
    made = []
    for r in groups(y, [y.dim(-1)]):
        at = x.flat() if x is not None else [dx * k for k in range(len(r))]
        steps = [(q - p) * (b + a) / 2 for p, q, a, b in zip(at, at[1:], r, r[1:])]
        made += [math.fsum(steps[: k + 1]) for k in range(len(steps))]
    return Nd(list(y.shape[:-1]) + [y.shape[-1] - 1], y.dtype, made)


row("trapezoid", trapezoid, C("x", X(5)), C("x, dx=0.5", X(2, 4)), C("x, y", X(2, 4), X(4)), C("x, dim=0", X(3, 2)), C("x, y, dim=0", X(3, 2), X(3)), dtypes=("float32", "float64"), tol=4)
row("cumulative_trapezoid", cumulative_trapezoid, C("x", X(5)), C("x, dx=0.5", X(2, 4)), C("x, y", X(2, 4), X(4)), dtypes=("float32", "float64"), tol=4)
row("trapz", trapezoid, C("x", X(5)), C("x, y", X(2, 4), X(4)), C("x, dx=0.5, dim=0", X(3, 2)), dtypes=("float32", "float64"), tol=4)
