"""References and calls of activations, dropout and losses."""
import math

import naive
from cases_pointwise import NUMBERS, guarded, sigmoid, f1
from cases_reduce import log_softmax, p_norm, softmax
from naive import ALL, FLOATS, INF, INTS, NAN, Nd, along, groups, places, pointwise
from table import B, C, I, P, S, U, V, X, Input, row, unary, untried


def phi(a):
    return 0.5 * (1 + math.erf(a / math.sqrt(2)))


def gelu(x, approximate="none"):
    def one(a):
        if a == -INF:
            return NAN
        if approximate == "tanh":
            return 0.5 * a * (1 + math.tanh(math.sqrt(2 / math.pi) * (a + 0.044715 * a**3)))
        return a * phi(a)

    return f1(guarded(one))(x)


def sig(a):
    return sigmoid(a)


def soft_plus(a):
    return a if a > 700 else math.log1p(math.exp(a)) if a == a else a


FLOAT = dict(dtypes=FLOATS, inplace=False)
N2 = lambda text: C(text, X(2, 3))
unary("gelu", gelu, extra=[N2("x, approximate='tanh'"), C("x, approximate='sin'", X(2), raises="approximate")], modules=[("nn.GELU()(x)", "x"), ("nn.GELU('tanh')(x)", "x, approximate='tanh'")], special=False, tol=4, **FLOAT)
unary("silu", f1(lambda a: a * sig(a)), modules=[("nn.SiLU()(x)", "x")], tol=2, **FLOAT)
SPECIAL = dict(special=True)
unary("leaky_relu", lambda x, s=0.01, inplace=False: f1(lambda a: a if a > 0 else a * s)(x), extra=[N2("x, 0.3"), C("x, inplace=True", X(2))], modules=[("nn.LeakyReLU(0.3)(x)", "x, 0.3")], **FLOAT)
elu = lambda x, alpha=1.0, inplace=False: f1(lambda a: a if a > 0 else alpha * math.expm1(a) if a == a else a)(x)
unary("elu", elu, extra=[N2("x, 1.5")], modules=[("nn.ELU()(x)", "x")], tol=3, **FLOAT)
unary("celu", lambda x, alpha=1.0: f1(lambda a: a if a > 0 else alpha * math.expm1(a / alpha) if a == a else a)(x), extra=[N2("x, 2.0")], modules=[("nn.CELU(2.0)(x)", "x, 2.0")], tol=3, **FLOAT)
unary("selu", f1(lambda a: 1.0507009873554804934193349852946 * (a if a > 0 else 1.6732632423543772848170429916717 * math.expm1(a) if a == a else a)), modules=[("nn.SELU()(x)", "x")], tol=3, **FLOAT)
unary("softplus", lambda x, beta=1.0, threshold=20.0: f1(lambda a: a if a * beta > threshold else soft_plus(a * beta) / beta)(x), extra=[N2("x, 2.0"), N2("x, beta=0.5, threshold=1.0")], modules=[("nn.Softplus(2.0)(x)", "x, 2.0")], tol=3, **FLOAT)
unary("relu6", f1(lambda a: min(max(a, 0.0), 6.0) if a == a else a), modules=[("nn.ReLU6()(x)", "x")], **FLOAT)
unary("hardtanh", lambda x, lo=-1.0, hi=1.0: f1(lambda a: min(max(a, lo), hi) if a == a else a)(x), extra=[N2("x, -2.0, 0.5")], modules=[("nn.Hardtanh()(x)", "x")], **FLOAT)
unary("hardswish", f1(guarded(lambda a: a * min(max(a + 3, 0.0), 6.0) / 6)), modules=[("nn.Hardswish()(x)", "x")], tol=3, **FLOAT)
unary("hardsigmoid", f1(lambda a: min(max(a + 3, 0.0), 6.0) / 6 if a == a else a), modules=[("nn.Hardsigmoid()(x)", "x")], tol=2, **FLOAT)
unary("mish", f1(lambda a: a * math.tanh(soft_plus(a)) if a == a else a), modules=[("nn.Mish()(x)", "x")], tol=4, **FLOAT)
unary("logsigmoid", f1(lambda a: -soft_plus(-a) if a == a else a), modules=[("nn.LogSigmoid()(x)", "x")], tol=3, **FLOAT)
unary("softsign", f1(lambda a: NAN if math.isinf(a) else a / (1 + abs(a))), modules=[("nn.Softsign()(x)", "x")], tol=2, **FLOAT)
unary("tanhshrink", f1(lambda a: a - math.tanh(a) if a == a else a), modules=[("nn.Tanhshrink()(x)", "x")], tol=3, **FLOAT)
unary("hardshrink", lambda x, lambd=0.5: f1(lambda a: 0.0 if -lambd <= a <= lambd else a)(x), extra=[N2("x, 1.25")], modules=[("nn.Hardshrink()(x)", "x")], **FLOAT)
unary("softshrink", lambda x, lambd=0.5: f1(lambda a: a - lambd if a > lambd else a + lambd if a < -lambd else a * 0.0)(x), extra=[N2("x, 1.25")], modules=[("nn.Softshrink()(x)", "x")], special=False, **FLOAT)
row("threshold", lambda x, t, v: f1(lambda a: v if a <= t else a)(x), C("x, 0.5, 2.0", X(2, 3)), C("x, 0.0, -1.0", X(37)), C("x, 0.5, 2.0", S(10)), C("x, 0.5, 2.0", X()), modules=[("nn.Threshold(0.5, 2.0)(x)", "x, 0.5, 2.0")])


def prelu(x, w):
    w = w.reshape([1, -1] + [1] * (x.ndim - 2)) if w.numel() > 1 and x.ndim > 1 else w.reshape(())
    return pointwise(lambda a, b: a if a > 0 else a * b)(x, w)


row("prelu", prelu, C("x, y", X(2, 3), X(3)), C("x, y", X(2, 3, 4), X(3)), C("x, y", X(2, 3), X(1)), C("x, y", X(5), X(1)), C("x, y", X(2, 3), X(2), raises="3"))
row("rrelu", lambda x, lower=0.125, upper=1 / 3, training=False: f1(lambda a: a if a > 0 else a * (lower + upper) / 2)(x), C("x", X(2, 3)), C("x, 0.5, 1.0", X(2, 3)), C("x", X(0)), inplace=False)
glu = lambda x, dim=-1: pointwise(lambda a, b: a * sig(b))(*[x.slice(dim, k * x.shape[dim] // 2, (k + 1) * x.shape[dim] // 2) for k in (0, 1)])
row("glu", glu, C("x", X(2, 4)), C("x, 0", X(4, 3)), C("x, 1", X(0, 4)), C("x", X(2, 3), raises="even"), modules=[("nn.GLU()(x)", "x")], tol=2)
KEEP = [C("x, 0.5, False", X(2, 3)), C("x, p=0.0", X(2, 3)), C("x, 0.0, True", X(37)), C("x, 0.5, training=False", X())]
row("dropout", lambda x, p=0.5, training=True: x if not training or p == 0 else Nd(x.shape, x.dtype, [0.0] * x.numel()), *KEEP, C("x, 1.0", X(2, 3)), C("x, 1.5", X(2), raises="1"), modules=[("nn.Dropout(0.5).eval()(x)", "x, 0.5, False")])
for k, n in enumerate(("alpha_dropout", "dropout1d", "dropout2d", "dropout3d", "feature_alpha_dropout")):
    row(n, lambda x, p=0.5, training=False: x, *[C(t, X(*(2, 3, 2, 2, 2)[: 2 + (k or 1) % 4])) for t in ("x, 0.5, False", "x, p=0.0, training=True")], dtypes=("float32", "float64"))


def gumbel_softmax(x, tau=1, hard=False, dim=-1):
    def holds(ours):
        t = ours["tensor"]
        made = Nd(t["shape"], x.dtype, [float(v) for v in t["data"]])
        sums = [math.fsum(r) for r in groups(made, [x.dim(dim)])]
        if made.shape != x.shape or any(abs(s - 1) > 1e-2 for s in sums) or any(not 0 <= v <= 1 for v in made.flat()):
            return f"rows sum up to {sums}"
        return f"{made.flat()} is not one-hot" if hard and any(v not in (0, 1) for v in map(round_off, made.flat())) else None

    return holds


def round_off(v):
    return round(v) if abs(v - round(v)) < 1e-5 else v


row("gumbel_softmax", gumbel_softmax, C("x", X(2, 5)), C("x, tau=0.5, hard=True", X(4, 5)), C("x, dim=0", X(3, 2)), dtypes=("float32", "float64"))

# ---- losses


def reduced(values, shape, dtype, reduction):
    reduction = {0: "none", 1: "mean", 2: "sum"}.get(reduction, reduction)
    if reduction == "none":
        return Nd(shape, dtype, values)
    total = math.fsum(values) if all(math.isfinite(v) for v in values) else sum(values)
    if reduction == "mean":
        total = total / len(values) if values else NAN
    return Nd((), dtype, [total])


def pair_loss(f):
    def call(x, y, *, reduction="mean", **named):
        shape, (a, b) = naive.tensors(x, y)
        return reduced([f(p, q, **named) for p, q in zip(a, b)], shape, naive.result_type(x, y), reduction)

    return call


def with_reductions(text, *inputs, coded=()):
    """`coded`: spellings that take a number for the word."""
    made = [C(f"{text}{r}", *inputs, skip=coded) for r in ("", ", reduction='sum'", ", reduction='none'")]
    return made + [C(f"{text}, reduction={k}", *inputs, spellings=coded) for k in (0, 1, 2) if coded]


BAD = [C("x, y, reduction='most'", X(2), X(2), raises="most")]
PAIR = with_reductions("x, y", X(2, 3), X(2, 3)) + [C("x, y", X(37), X(37)), C("x, y", X(), X()), C("x, y", X(0), X(0)), C("x, y", S(10), X(10))]
row("mse_loss", pair_loss(lambda a, b: (a - b) ** 2), *PAIR, *BAD, modules=[("nn.MSELoss()(x, y)", "x, y")], tol=3)
row("l1_loss", pair_loss(lambda a, b: abs(a - b)), *PAIR, *BAD, modules=[("nn.L1Loss()(x, y)", "x, y")], tol=3)
smooth = lambda a, b, beta=1.0: 0.5 * (a - b) ** 2 / beta if abs(a - b) < beta else abs(a - b) - 0.5 * beta
row("smooth_l1_loss", pair_loss(smooth), *PAIR[:-1], C("x, y, beta=2.5", X(37), X(37)), C("x, y, beta=0.0", X(5), X(5)), modules=[("nn.SmoothL1Loss()(x, y)", "x, y")], tol=3)
row("huber_loss", pair_loss(lambda a, b, delta=1.0: 0.5 * (a - b) ** 2 if abs(a - b) <= delta else delta * (abs(a - b) - 0.5 * delta)), *PAIR[:-1], C("x, y, delta=2.5", X(37), X(37)), modules=[("nn.HuberLoss()(x, y)", "x, y")], tol=3)


def log_floor(v):
    return max(math.log(v), -100.0) if v > 0 else -100.0


def weighted(f, *names):
    """A loss of elements with a weight, and other tensors that broadcast."""

    def call(x, y, weight=None, reduction="mean", **named):
        others = {n: named.pop(n) for n in names if n in named}
        shape = x.shape
        columns = [t.expand(shape).flat() for t in (x, y)]
        w = weight.expand(shape).flat() if weight is not None else [1.0] * len(columns[0])
        spread = {n: t.expand(shape).flat() for n, t in others.items()}
        values = [v * f(a, b, **named, **{n: t[k] for n, t in spread.items()}) for k, (a, b, v) in enumerate(zip(*columns, w))]
        return reduced(values, shape, x.dtype, reduction)

    return call


UNIT = with_reductions("x, y", U(2, 3), U(2, 3)) + [C("x, y, z", U(2, 3), U(2, 3), U(3))]
row("binary_cross_entropy", weighted(lambda a, b: -(b * log_floor(a) + (1 - b) * log_floor(1 - a))), *UNIT, C("x, y", V([0.0, 1.0, 1.0]), V([1.0, 0.0, 1.0])), modules=[("nn.BCELoss()(x, y)", "x, y")], tol=3)
row("binary_cross_entropy_with_logits", weighted(lambda a, b, pos_weight=1.0: (1 - b) * a + (1 + (pos_weight - 1) * b) * soft_plus(-a), "pos_weight"), *with_reductions("x, y", X(2, 3), U(2, 3)), C("x, y, z", X(2, 3), U(2, 3), U(3)), C("x, y, pos_weight=z", X(2, 3), U(2, 3), P(3)), C("x, y", V([90.0, -90.0]), V([0.0, 1.0])), modules=[("nn.BCEWithLogitsLoss()(x, y)", "x, y")], tol=4)


def kl_div(x, y, reduction="mean", log_target=False):
    one = lambda a, b: math.exp(b) * (b - a) if log_target else (b * (math.log(b) - a) if b > 0 else 0.0)
    shape, (a, b) = naive.tensors(x, y)
    values = [one(p, q) for p, q in zip(a, b)]
    if reduction == "batchmean":
        return Nd((), x.dtype, [math.fsum(values) / shape[0]])
    return reduced(values, shape, x.dtype, reduction)


row("kl_div", kl_div, *with_reductions("x, y", X(2, 3), U(2, 3)), C("x, y, reduction='batchmean'", X(2, 3), U(2, 3)), C("x, y, log_target=True", X(2, 3), X(2, 3)), modules=[("nn.KLDivLoss()(x, y)", "x, y")], tol=3)


def nll_loss(x, target, weight=None, ignore_index=-100, reduction="mean"):
    c = 1 if x.ndim > 1 else 0
    values, weights = [], []
    for p in places(target.shape):
        t = target.at(p)
        w = 0.0 if t == ignore_index else weight.at((t,)) if weight is not None else 1.0
        weights.append(w)
        values.append(-w * x.at(p[:c] + (t,) + p[c:]) if t != ignore_index else 0.0)
    if reduction == "mean":
        total = math.fsum(weights)
        return Nd((), x.dtype, [math.fsum(values) / total if total else NAN])
    return reduced(values, target.shape, x.dtype, reduction)


NLL = with_reductions("x, y", X(4, 3), I(4)) + [C("x, y, z", X(4, 3), I(4), P(3)), C("x, y", X(2, 3, 5), I(2, 5)), C("x, y, z", X(2, 3, 2, 2), I(2, 2, 2), P(3)), C("x, y", X(3), V([1], "int64", ())), C("x, y", X(4, 3), V([0, -100, 2, -100], "int64")), C("x, y, ignore_index=1", X(4, 3), I(4)), C("x, y, reduction='none', ignore_index=1", X(4, 3), I(4)), C("x, y", X(2, 3), V([-100, -100], "int64")), C("x, y", X(2, 3), V([0, 5], "int64"), raises="5")]
untried("class_loss", "nll_loss and cross_entropy are made of it")
row("nll_loss", nll_loss, *NLL, modules=[("nn.NLLLoss()(x, y)", "x, y")], tol=3)


def cross_entropy(x, target, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    c = 1 if x.ndim > 1 else 0
    logs = log_softmax(x, c)
    n = x.shape[c]
    w = weight.flat() if weight is not None else [1.0] * n
    if target.dtype in FLOATS:
        values = []
        rest = [d for d in range(x.ndim) if d != c]
        for p in places([x.shape[d] for d in rest]):
            at = lambda k: p[:c] + (k,) + p[c:]
            values.append(-math.fsum((target.at(at(k)) * (1 - label_smoothing) + label_smoothing / n) * w[k] * logs.at(at(k)) for k in range(n)))
        shape = [x.shape[d] for d in rest]
        if reduction == "mean":
            return Nd((), x.dtype, [math.fsum(values) / (x.numel() // n)])
        return reduced(values, shape, x.dtype, reduction)
    hard = nll_loss(logs, target, weight, ignore_index, "none").flat()
    smooth, weights = [], []
    for p in places(target.shape):
        t = target.at(p)
        weights.append(w[t] if t != ignore_index else 0.0)
        smooth.append(-math.fsum(w[k] * logs.at(p[:c] + (k,) + p[c:]) for k in range(n)) if t != ignore_index else 0.0)
    values = [(1 - label_smoothing) * h + label_smoothing / n * s for h, s in zip(hard, smooth)]
    if reduction == "mean":
        total = math.fsum(weights)
        return Nd((), x.dtype, [math.fsum(values) / total if total else NAN])
    return reduced(values, target.shape, x.dtype, reduction)


row("cross_entropy", cross_entropy, *NLL, C("x, y, label_smoothing=0.2", X(4, 3), I(4)), C("x, y, z, label_smoothing=0.2", X(4, 3), V([0, -100, 2, 1], "int64"), P(3)), C("x, y", X(4, 3), U(4, 3)), C("x, y, z, label_smoothing=0.1", X(2, 3, 2), U(2, 3, 2), P(3)), C("x, y, reduction='none'", X(4, 3), U(4, 3)), modules=[("nn.CrossEntropyLoss()(x, y)", "x, y")], tol=4)


def ranking(x, y, target, margin=0.0, reduction="mean"):
    shape, columns = naive.tensors(x, y, target)
    return reduced([max(0.0, -t * (a - b) + margin) for a, b, t in zip(*columns)], shape, x.dtype, reduction)


SIGNS = V([1.0, -1.0, 1.0, -1.0, -1.0])
F2 = dict(dtypes=("float32", "float64"), tol=6)
row("margin_ranking_loss", ranking, *with_reductions("x, y, z", X(5), X(5), SIGNS, coded=("torch.margin_ranking_loss",)), C("x, y, z, margin=0.5", X(5), X(5), SIGNS), modules=[("nn.MarginRankingLoss()(x, y, z)", "x, y, z")], **F2)
row("hinge_embedding_loss", lambda x, y, margin=1.0, reduction="mean": pair_loss(lambda a, b: a if b == 1 else max(0.0, margin - a))(x, y, reduction=reduction), *with_reductions("x, y", X(5), SIGNS, coded=("torch.hinge_embedding_loss",)), C("x, y, margin=2.0", X(5), SIGNS), **F2)
row("soft_margin_loss", pair_loss(lambda a, b: math.log1p(math.exp(-b * a))), *with_reductions("x, y", X(5), SIGNS), **F2)
row("poisson_nll_loss", lambda x, y, log_input=True, full=False, eps=1e-8, reduction="mean": pair_loss(lambda a, b: (math.exp(a) - b * a if log_input else a - b * math.log(a + eps)) + ((b * math.log(b) - b + 0.5 * math.log(2 * math.pi * b)) if full and b > 1 else 0.0))(x, y, reduction=reduction), *with_reductions("x, y", X(5), P(5)), C("x, y, log_input=False", P(5), P(5)), C("x, y, full=True", X(5), P(5)), **F2)


def gaussian_nll(x, y, var, full=False, eps=1e-6, reduction="mean"):
    shape, columns = naive.tensors(x, y, var)
    return reduced([0.5 * (math.log(max(v, eps)) + (a - b) ** 2 / max(v, eps)) + (0.5 * math.log(2 * math.pi) if full else 0) for a, b, v in zip(*columns)], shape, x.dtype, reduction)


row("gaussian_nll_loss", gaussian_nll, *with_reductions("x, y, z", X(2, 3), X(2, 3), P(2, 3)), C("x, y, z, full=True", X(5), X(5), P(5)), **F2)


def rows_of(x):
    return [x.flat()] if x.ndim == 1 else [x.select(0, i).flat() for i in range(x.shape[0])]


def cosine_embedding(x, y, target, margin=0.0, reduction="mean"):
    values = []
    for a, b, t in zip(rows_of(x), rows_of(y), target.flat()):
        c = sum(p * q for p, q in zip(a, b)) / math.sqrt((sum(p * p for p in a) + 1e-12) * (sum(q * q for q in b) + 1e-12))
        values.append(1 - c if t == 1 else max(0.0, c - margin))
    return reduced(values, target.shape, x.dtype, reduction)


row("cosine_embedding_loss", cosine_embedding, *with_reductions("x, y, z", X(5, 3), X(5, 3), SIGNS, coded=("torch.cosine_embedding_loss",)), C("x, y, z, margin=0.25", X(5, 3), X(5, 3), SIGNS), C("x, y, z", X(3), X(3), V([1.0], None, ())), **F2)


def triplet(a, p, n, margin=1.0, p_=2.0, eps=1e-6, swap=False, reduction="mean", **named):
    norm = p_norm(named.get("p", p_))
    apart = lambda u, v: norm([s - t + eps for s, t in zip(u, v)])
    values = []
    for u, v, w in zip(rows_of(a), rows_of(p), rows_of(n)):
        far = min(apart(u, w), apart(v, w)) if swap else apart(u, w)
        values.append(max(0.0, margin + apart(u, v) - far))
    return reduced(values, a.shape[:-1], a.dtype, reduction)


row("triplet_margin_loss", lambda a, b, c, margin=1.0, p=2.0, eps=1e-6, swap=False, reduction="mean": triplet(a, b, c, margin, p, eps, swap, reduction), *with_reductions("x, y, z", X(4, 3), X(4, 3), X(4, 3), coded=("torch.triplet_margin_loss",)), C("x, y, z, margin=3.0, p=1.0, swap=True", X(4, 3), X(4, 3), X(4, 3)), modules=[("nn.TripletMarginLoss()(x, y, z)", "x, y, z")], **F2)
row("pairwise_distance", lambda x, y, p=2.0, eps=1e-6, keepdim=False: Nd(x.shape[:-1] + ((1,) if keepdim else ()), x.dtype, [p_norm(p)([s - t + eps for s, t in zip(a, b)]) for a, b in zip(groups(x, [x.ndim - 1]), groups(y, [y.ndim - 1]))]), C("x, y", X(4, 3), X(4, 3)), C("x, y, p=1.0, keepdim=True", X(4, 3), X(4, 3)), C("x, y", X(3), X(3)), modules=[("nn.PairwiseDistance()(x, y)", "x, y")], **F2)
row("pdist", lambda x, p=2.0: Nd((x.shape[0] * (x.shape[0] - 1) // 2,), x.dtype, [p_norm(p)([s - t for s, t in zip(rows_of(x)[i], rows_of(x)[j])]) for i in range(x.shape[0]) for j in range(i + 1, x.shape[0])]), C("x", X(4, 3)), C("x, 1.0", X(3, 2)), **F2)


def multilabel_soft(x, y, weight=None, reduction="mean"):
    w = weight.flat() if weight else [1.0] * x.shape[-1]
    values = [-math.fsum(k * (t * -soft_plus(-a) + (1 - t) * -soft_plus(a)) for a, t, k in zip(r, s, w)) / len(r) for r, s in zip(rows_of(x), rows_of(y))]
    return reduced(values, x.shape[:-1], x.dtype, reduction)


row("multilabel_soft_margin_loss", multilabel_soft, *with_reductions("x, y", X(4, 3), Input((4, 3), values=[1.0, 0.0, 0.0, 1.0, 1.0])), C("x, y, z", X(4, 3), Input((4, 3), values=[1.0, 0.0]), P(3)), **F2)


def multi_margin(x, y, p=1, margin=1.0, weight=None, reduction="mean"):
    values = []
    for r, t in zip(rows_of(x), y.flat()):
        w = weight.at((t,)) if weight else 1.0
        values.append(sum(w * max(0.0, margin - r[t] + v) ** p for k, v in enumerate(r) if k != t) / len(r))
    return reduced(values, y.shape, x.dtype, reduction)


row("multi_margin_loss", multi_margin, *with_reductions("x, y", X(4, 3), I(4)), C("x, y, p=2, margin=0.5", X(4, 3), I(4)), C("x, y, weight=z", X(4, 3), I(4), P(3)), **F2)


def multilabel_margin(x, y, reduction="mean"):
    values = []
    for r, s in zip(rows_of(x), rows_of(y)):
        s = s[: s.index(-1)] if -1 in s else s
        values.append(sum(max(0.0, 1 - (r[t] - r[k])) for t in s for k in range(len(r)) if k not in s) / len(r))
    return reduced(values, x.shape[:-1], x.dtype, reduction)


row("multilabel_margin_loss", multilabel_margin, *with_reductions("x, y", X(2, 4), V([3, 0, -1, 1, 2, -1, 0, 0], "int64", (2, 4))), **F2)


def ctc_loss(logs, targets, input_lengths, target_lengths, blank=0, reduction="mean", zero_infinity=False):
    """The sum over all alignments, enumerated."""
    import itertools

    if logs.ndim == 2:
        logs = logs.unsqueeze(1)
    T, N, K = logs.shape
    ins = input_lengths.flat() if isinstance(input_lengths, Nd) else list(input_lengths)
    lengths = target_lengths.flat() if isinstance(target_lengths, Nd) else list(target_lengths)
    values, at = [], 0
    for b in range(N):
        if targets.ndim == 2:
            want = targets.select(0, b).flat()[: lengths[b]]
        else:
            want = targets.flat()[at : at + lengths[b]]
            at += lengths[b]
        total = 0.0
        for path in itertools.product(range(K), repeat=ins[b]):
            said = [c for c, _ in itertools.groupby(path) if c != blank]
            if said == want:
                total += math.exp(math.fsum(logs.at((t, b, c)) for t, c in enumerate(path)))
        values.append(-math.log(total) if total else 0.0 if zero_infinity else INF)
    if reduction == "mean":
        return Nd((), logs.dtype, [sum(v / max(n, 1) for v, n in zip(values, lengths)) / N])
    return reduced(values, (N,), logs.dtype, reduction)


LENS = [V([4, 3], "int64"), V([2, 1], "int64")]
TWO = V([1, 2, 1, 0], "int64", (2, 2))
row("ctc_loss", ctc_loss, *with_reductions("x, y, z, w", X(4, 2, 3, kind="small"), TWO, *LENS), C("x, y, (4, 3), (2, 1)", X(4, 2, 3, kind="small"), V([1, 1, 2], "int64"), flat=True), C("x, y, (2, 2), (2, 1), zero_infinity=True", X(2, 2, 3, kind="small"), V([1, 1, 2], "int64"), flat=True), C("x, y, z, w, blank=2", X(4, 2, 3, kind="small"), V([1, 0, 1, 0], "int64", (2, 2)), *LENS), **F2)
