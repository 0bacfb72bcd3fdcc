# Python's own library and the parts of torch written in it, as programs use them.
import torch
import torch.nn as nn
import torch.nn.functional as F
import numpy as np


def show(x):
    if isinstance(x, torch.Tensor):
        print(tuple(x.shape), x.dtype, ["%.4g" % (v if abs(v) > 1e-6 else 0) for v in x.detach().reshape(-1).double().tolist()])
    elif isinstance(x, (list, tuple)) and any([isinstance(y, torch.Tensor) for y in x]):
        for y in x:
            show(y)
    else:
        print(x)


def case_namedtuple():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    from collections import namedtuple
    P = namedtuple("P", ["a","b"], defaults=[3])
    def model(x):
        p = P(x)
        q = p._replace(b=x)
        a, b = q
        return p.a + q.b, p.b, q._fields, P._make([x, 1]).a, q._asdict()["a"]
    return model(x)


def case_nt_typing():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    from typing import NamedTuple, Optional
    class Out(NamedTuple):
        h: torch.Tensor
        c: Optional[torch.Tensor] = None
        def both(self):
            return self.h * 2
    def model(x):
        o = Out(h=x)
        return o.h, o.c is None, o.both(), len(o), isinstance(o, tuple)
    return model(x)


def case_dataclass():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    from dataclasses import dataclass, field, asdict, replace, fields
    @dataclass
    class C:
        a: int = 1
        l: list = field(default_factory=list)
        d: dict = field(default_factory=dict)
        def __post_init__(self):
            self.t = self.a * 2
    @dataclass(frozen=True, order=True)
    class D:
        n: int
        m: float = 0.5
    def model(x):
        c = C()
        c.l.append(x)
        e = replace(D(3), m=2.0)
        return c.l[0] * c.a * c.t, asdict(e)["m"], D(1) < D(2), [f.name for f in fields(D)], D(1) == D(1), hash(D(1)) == hash(D(1))
    return model(x)


def case_ordereddict():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    from collections import OrderedDict
    class MO(OrderedDict):
        def __getattr__(self, k):
            try:
                return self[k]
            except KeyError:
                raise AttributeError(k)
        def to_tuple(self):
            return tuple(self[k] for k in self.keys())
    def model(x):
        d = MO(a=x)
        d["b"] = x * 2
        d.move_to_end("a")
        return d.a, d.to_tuple(), isinstance(d, dict), isinstance(d, OrderedDict), list(d), list(OrderedDict([("k", 1)]).items())
    return model(x)


def case_listsub():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    class L(list):
        def __init__(self, *a):
            super().__init__(*a)
            self.extra = 3
        def total(self):
            return sum(self) * self.extra
        def append(self, v):
            super().append(v * 2)
    def model(x):
        l = L([x, x])
        l.append(x)
        return l.total(), len(l), l[0], [i for i in l][2], isinstance(l, list), L([1,2]) + [3], l[1:][0]
    return model(x)


def case_dictsub():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    class D(dict):
        def __getattr__(self, k):
            return self[k]
        def __setattr__(self, k, v):
            self[k] = v
        def __missing__(self, k):
            return 7
    d = D(a=2)
    d.b = 4
    def model(x):
        return x * d.a * d.b, d["zz"], sorted(d.items()), {**d}, "a" in d, D(d).a
    return model(x)


def case_userdict():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    from collections import UserDict, UserList
    class U(UserDict):
        def __getitem__(self, k):
            return super().__getitem__(k) * 2
    def model(x):
        u = U(a=x)
        return u["a"], len(u), list(u.keys()), u.data["a"]
    return model(x)


def case_strsub():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    class S(str):
        def shout(self):
            return self.upper() + "!"
    def model(x):
        s = S("abc")
        return x, s.shout(), s == "abc", len(s), s + "d"
    return model(x)


def case_intenum():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    from enum import Enum, IntEnum, Flag, auto, IntFlag
    class Mode(Enum):
        A = "a"
        B = "b"
    class N(IntEnum):
        ONE = 1
        TWO = auto()
    class Fl(Flag):
        R = auto()
        W = auto()
        RW = R | W
    class IF(IntFlag):
        X = 1
        Y = 2
    def model(x):
        return x * N.TWO, Mode("a") is Mode.A, Mode["B"].value, [m.name for m in Mode], N.ONE < N.TWO, Fl.R in Fl.RW, (Fl.R | Fl.W) == Fl.RW, bool(Fl.R & Fl.W), int(IF.X | IF.Y), str(Mode.A), repr(N.ONE), len(Mode)
    return model(x)


def case_re1():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    import re
    WORD = re.compile(r"(?P<key>[a-z_]+)\.(\d+)")
    def model(x):
        m = WORD.match("layer.12.weight")
        return x, m.group("key"), int(m.group(2)), m.groups(), re.sub(r"\d+", "N", "a1b22"), re.split(r"[,;]\s*", "a, b;c"), re.findall(r"(\w)(\d)", "a1 b2"), bool(re.search("^x", "ax")), [mm.span() for mm in re.finditer("b+", "abbbab")], re.fullmatch(r"a*?b", "aab") is not None, re.sub(r"(\w+) (\w+)", r"\2 \1", "hello world"), re.escape("a.b"), re.match(r"(?:ab|a)(?=c)", "abc").end(), re.sub("x", lambda m: m.group(0).upper(), "xyx")
    return model(x)


def case_re2():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    import re
    def camel(name):
        s = re.sub("(.)([A-Z][a-z]+)", r"\1_\2", name)
        return re.sub("([a-z0-9])([A-Z])", r"\1_\2", s).lower()
    pat = re.compile(r"'s|'t| ?[a-zA-Z]+| ?[0-9]+|\s+(?!\S)|\s+", re.IGNORECASE)
    def model(x):
        return x, camel("HelloWorldNet"), pat.findall("it's 42 Cats  here"), re.match(r"^denselayer(\d+)$", "denselayer7").group(1), re.compile(r"^(.*denselayer\d+\.(?:norm|relu|conv))\.((?:[12])\.(?:weight|bias))$").match("features.denselayer1.norm.1.weight").groups()
    return model(x)


def case_methodtype():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    import types
    class A: pass
    def f(self, x): return x * 2
    a = A()
    a.f = types.MethodType(f, a)
    ns = types.SimpleNamespace(lr=0.1, n=2)
    def model(x):
        return a.f(x), ns.lr, vars(ns)["n"], isinstance(f, types.FunctionType), type(a.f) is types.MethodType
    return model(x)


def case_initsub():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    class Reg:
        known = {}
        def __init_subclass__(cls, name=None, **kw):
            super().__init_subclass__(**kw)
            Reg.known[name] = cls
    class A(Reg, name="a"):
        def f(self, x): return x + 1
    class Desc:
        def __set_name__(self, owner, name): self.name = "_" + name
        def __get__(self, o, t=None): return self if o is None else getattr(o, self.name, 5)
        def __set__(self, o, v): setattr(o, self.name, v * 2)
    class B:
        d = Desc()
    def model(x):
        b = B()
        before = b.d
        b.d = 4
        return Reg.known["a"]().f(x), before, b.d
    return model(x)


def case_iter():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    import itertools, operator, functools, math, string
    def model(x):
        return (x, list(itertools.product([1,2],[3])), list(itertools.chain.from_iterable([[1],[2]])), list(itertools.islice(itertools.count(3), 2)),
          list(itertools.accumulate([1,2,3])), [(k, list(g)) for k, g in itertools.groupby("aabb")], list(itertools.zip_longest([1],[2,3])), list(itertools.combinations(range(3),2)),
          operator.itemgetter(1)([4,5]), operator.attrgetter("shape")(x)[0], operator.mul(2,3), math.ceil(2.1), math.prod([2,3]), math.isclose(1,1), math.gcd(4,6), string.ascii_lowercase[:3], list(itertools.repeat(1,2)), list(itertools.pairwise([1,2,3])), list(itertools.starmap(pow, [(2,3)])))
    return model(x)


def case_ctx():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    from contextlib import contextmanager, nullcontext, ExitStack, suppress
    log = []
    @contextmanager
    def tag(n):
        log.append("in" + n)
        try:
            yield n
        finally:
            log.append("out" + n)
    class C:
        def __enter__(self): return self
        def __exit__(self, t, v, tb): return t is ValueError
    def model(x):
        log.clear()
        with tag("a") as a, tag("b"):
            y = x + 1
        with C():
            raise ValueError("x")
        with suppress(KeyError):
            {}["a"]
        with ExitStack() as st:
            st.enter_context(tag("c"))
            st.callback(lambda: log.append("cb"))
        with nullcontext(5) as five:
            pass
        return y, list(log), five
    return model(x)


def case_fallback():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    try:
        gelu = getattr(F, "nope")
    except AttributeError:
        gelu = F.relu
    try:
        import apex
        from apex.normalization import FusedLayerNorm as LN
    except ImportError:
        LN = nn.LayerNorm
    try:
        from flash_attn import flash_attn_func
        HAS = True
    except (ImportError, ModuleNotFoundError):
        HAS = False
    ln = LN(2)
    def model(x):
        return gelu(ln(x)), HAS
    return model(x)


def case_pathlib():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    from pathlib import Path
    def model(x):
        p = Path("a") / "b.txt"
        return x, str(p), p.name, p.suffix, p.stem, str(p.parent)
    return model(x)


def case_loop_train():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
    opt = torch.optim.Adam(net.parameters(), lr=0.01)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, T_max=10)
    def model(x):
        losses = []
        for epoch in range(3):
            opt.zero_grad(set_to_none=True)
            loss = F.mse_loss(net(x), torch.ones(2, 1))
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            opt.step()
            sched.step()
            losses.append(loss.item())
        return losses[-1] < losses[0], sched.get_last_lr()[0], net[0].weight.grad
    return model(x)


def case_lbfgs():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    torch.manual_seed(0)
    lin = nn.Linear(2, 1)
    opt = torch.optim.LBFGS(lin.parameters(), lr=0.5, max_iter=4)
    def model(x):
        def closure():
            opt.zero_grad()
            loss = F.mse_loss(lin(x), torch.ones(2, 1))
            loss.backward()
            return loss
        l = opt.step(closure)
        first = lin.weight.detach().clone()
        searching = torch.optim.LBFGS(
            lin.parameters(), lr=1, max_iter=5, max_eval=6, tolerance_grad=1e-3, tolerance_change=1e-3,
            history_size=2, line_search_fn="strong_wolfe",
        )
        with torch.no_grad():
            lin.weight.fill_(0.3)
        with_search = searching.step(closure)
        return l, first, with_search, lin.weight
    return model(x)


def case_customopt():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    class SAM(torch.optim.Optimizer):
        def __init__(self, params, base_optimizer, rho=0.05, **kwargs):
            assert rho >= 0.0, f"Invalid rho: {rho}"
            defaults = dict(rho=rho, **kwargs)
            super(SAM, self).__init__(params, defaults)
            self.base_optimizer = base_optimizer(self.param_groups, **kwargs)
            self.param_groups = self.base_optimizer.param_groups
            self.defaults.update(self.base_optimizer.defaults)
        @torch.no_grad()
        def first_step(self, zero_grad=False):
            n = torch.norm(torch.stack([p.grad.norm(p=2) for g in self.param_groups for p in g["params"] if p.grad is not None]), p=2)
            for g in self.param_groups:
                s = g["rho"] / (n + 1e-12)
                for p in g["params"]:
                    self.state[p]["old_p"] = p.data.clone()
                    p.add_(p.grad * s.to(p))
            if zero_grad: self.zero_grad()
        @torch.no_grad()
        def second_step(self):
            for g in self.param_groups:
                for p in g["params"]:
                    p.data = self.state[p]["old_p"]
            self.base_optimizer.step()
    torch.manual_seed(0)
    lin = nn.Linear(2, 1)
    opt = SAM(lin.parameters(), torch.optim.SGD, lr=0.1, momentum=0.9)
    def model(x):
        lin(x).pow(2).mean().backward()
        opt.first_step(zero_grad=True)
        lin(x).pow(2).mean().backward()
        opt.second_step()
        return lin.weight
    return model(x)


def case_parametrize():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    import torch.nn.utils.parametrize as P
    from torch.nn.utils.parametrizations import weight_norm, orthogonal, spectral_norm
    class Sym(nn.Module):
        def forward(self, w): return w.triu() + w.triu(1).transpose(-1, -2)
    torch.manual_seed(0)
    lin = nn.Linear(2, 2)
    P.register_parametrization(lin, "weight", Sym())
    wn = weight_norm(nn.Linear(2, 2))
    def model(x):
        return lin(x), lin.weight, wn(x), P.is_parametrized(lin), sorted(n for n, _ in wn.named_parameters())
    return model(x)


def case_packed():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence, pack_sequence
    torch.manual_seed(0)
    rnn = nn.LSTM(2, 3, batch_first=True, bidirectional=True)
    gru = nn.GRU(2, 3, batch_first=True)
    def model(x):
        seqs = torch.stack([x, x + 1, x * 2], 1)
        p = pack_padded_sequence(seqs, torch.tensor([2, 3]), batch_first=True, enforce_sorted=False)
        o, (h, c) = rnn(p)
        y, lens = pad_packed_sequence(o, batch_first=True)
        o2, h2 = gru(p)
        return y, lens, h, c, h2, p.batch_sizes
    return model(x)


def case_losses():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    torch.manual_seed(0)
    ctc = nn.CTCLoss()
    def model(x):
        lp = torch.randn(10, 2, 5).log_softmax(2)
        t = torch.tensor([[1,2,3],[2,2,1]])
        return ctc(lp, t, torch.tensor([10, 8]), torch.tensor([3, 2])), F.multi_margin_loss(x, torch.tensor([0,1])), F.multilabel_margin_loss(x, torch.tensor([[0,-1],[1,0]])), F.triplet_margin_loss(x, x+1, x-1), F.cosine_embedding_loss(x, x+1, torch.tensor([1,-1])), F.poisson_nll_loss(x, x.abs()), F.gaussian_nll_loss(x, x+1, x.abs()), F.multilabel_soft_margin_loss(x, (x>0).float()), F.soft_margin_loss(x, x.sign()), F.hinge_embedding_loss(x, x.sign()), F.huber_loss(x, x*2), F.kl_div(x.log_softmax(1), x.softmax(1), reduction="batchmean"), F.binary_cross_entropy_with_logits(x, (x>0).float(), pos_weight=torch.tensor([2.,1.]))
    return model(x)


def case_embbag():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    torch.manual_seed(0)
    w = torch.arange(8.).view(4, 2)
    e = nn.EmbeddingBag.from_pretrained(w, mode="mean")
    e2 = nn.Embedding.from_pretrained(w, freeze=True, padding_idx=0)
    def model(x):
        return e(torch.tensor([0,1,2,3]), torch.tensor([0,2])), e2(torch.tensor([1,0])), e2.weight.requires_grad, F.embedding_bag(torch.tensor([[0,1],[2,2]]), w, mode="max")
    return model(x)


def case_instnorm():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    torch.manual_seed(0)
    n = nn.InstanceNorm1d(2, affine=True, track_running_stats=True)
    g = nn.GroupNorm(1, 2)
    l = nn.LocalResponseNorm(2)
    def model(x):
        y = n(x.view(1, 2, 2).repeat(2, 1, 2))
        return y, n.running_mean, g(x), l(x.view(1,2,2,1))
    return model(x)


def case_lazymod():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    torch.manual_seed(0)
    net = nn.Sequential(nn.LazyLinear(3), nn.ReLU(), nn.LazyLinear(1))
    c = nn.LazyConv2d(2, 1)
    b = nn.LazyBatchNorm1d()
    def model(x):
        return net(x), c(x.view(1,1,2,2)), b(x), net[0].in_features
    return model(x)


def case_scheds():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    lin = nn.Linear(2, 2)
    def mk(): return torch.optim.SGD(lin.parameters(), lr=0.1, momentum=0.9)
    S = torch.optim.lr_scheduler
    def model(x):
        out = []
        for f in [lambda o: S.StepLR(o, 2), lambda o: S.MultiStepLR(o, [1,3]), lambda o: S.ExponentialLR(o, 0.9), lambda o: S.LambdaLR(o, lambda e: 1/(e+1)), lambda o: S.OneCycleLR(o, 0.5, total_steps=8), lambda o: S.CosineAnnealingWarmRestarts(o, 2), lambda o: S.CyclicLR(o, 0.01, 0.1, step_size_up=2), lambda o: S.PolynomialLR(o, 5), lambda o: S.LinearLR(o), lambda o: S.ConstantLR(o), lambda o: S.SequentialLR(o, [S.ConstantLR(o, 0.1, 2), S.ExponentialLR(o, 0.5)], [2]), lambda o: S.ChainedScheduler([S.ConstantLR(o), S.ExponentialLR(o, 0.5)]), lambda o: S.MultiplicativeLR(o, lambda e: 0.95)]:
            o = mk(); s = f(o)
            for _ in range(4):
                o.step(); s.step()
            out.append(round(o.param_groups[0]["lr"], 8))
        o = mk(); s = S.ReduceLROnPlateau(o, patience=0)
        for v in [1., 2., 3.]: s.step(v)
        return x, out, o.param_groups[0]["lr"]
    return model(x)


def case_cust_fn():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    class Swish(torch.autograd.Function):
        @staticmethod
        def forward(ctx, i):
            ctx.save_for_backward(i)
            ctx.k = 2
            return i * torch.sigmoid(i)
        @staticmethod
        def backward(ctx, g):
            i, = ctx.saved_tensors
            s = torch.sigmoid(i)
            return g * (s * (1 + i * (1 - s)))
    class GRL(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, alpha):
            ctx.alpha = alpha
            return x.view_as(x)
        @staticmethod
        def backward(ctx, g):
            return g.neg() * ctx.alpha, None
    def model(x):
        x = x.clone().requires_grad_()
        y = Swish.apply(x).sum() + GRL.apply(x, 0.5).sum()
        y.backward()
        return y, x.grad
    return model(x)


def case_decorators():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    import functools, time
    def timed(scale=1):
        def deco(f):
            @functools.wraps(f)
            def w(*a, **k):
                t = time.time(); time.perf_counter()
                return f(*a, **k) * scale
            w.tag = "t"
            return w
        return deco
    class Reg:
        def __init__(self): self.d = {}
        def register(self, name):
            def deco(c):
                self.d[name] = c
                return c
            return deco
    R = Reg()
    @R.register("a")
    class A(nn.Module):
        @timed(scale=3)
        def forward(self, x): return x
    def model(x):
        return R.d["a"]()(x), A.forward.__name__, A.forward.tag
    return model(x)


def case_hooks():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    torch.manual_seed(0)
    acts = {}
    lin = nn.Linear(2,2)
    net = nn.Sequential(lin, nn.ReLU())
    def save(name):
        def hook(m, i, o): acts[name] = o.detach()
        return hook
    h = lin.register_forward_hook(save("lin"))
    h2 = net.register_forward_pre_hook(lambda m, i: (i[0] * 2,))
    gs = []
    lin.register_full_backward_hook(lambda m, gi, go: gs.append(go[0].sum()))
    def model(x):
        y = net(x)
        y.sum().backward()
        lin.zero_grad()
        return y, acts["lin"], gs[-1]
    return model(x)


def case_totalorder():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    from functools import total_ordering, partial, reduce, wraps, cached_property, singledispatch, lru_cache, cache
    @total_ordering
    class V:
        def __init__(self, n): self.n = n
        def __eq__(self, o): return self.n == o.n
        def __lt__(self, o): return self.n < o.n
        @cached_property
        def big(self):
            return self.n * 100
    @singledispatch
    def kind(v): return "any"
    @kind.register(int)
    def _(v): return "int"
    @kind.register(list)
    def _(v): return "list"
    @lru_cache(maxsize=8)
    def sq(n): return n * n
    @cache
    def fib(n): return n if n < 2 else fib(n-1) + fib(n-2)
    def model(x):
        return x * sq(3), V(1) >= V(0), V(2).big, kind(1), kind([]), kind("s"), fib(20), reduce(lambda a, b: a + b, [1,2,3]), partial(sq, 4)(), sq.cache_info().hits >= 0
    return model(x)


def case_counters():
    x = torch.tensor([[1.0, -2.0], [3.0, 4.0]])
    from collections import Counter, deque, defaultdict, ChainMap
    def model(x):
        c = Counter("abracadabra")
        d = deque([1,2,3], maxlen=3)
        d.append(4); d.appendleft(0); d.rotate(1)
        dd = defaultdict(lambda: defaultdict(int))
        dd["a"]["b"] += 2
        cm = ChainMap({"a": 1}, {"b": 2})
        return x, c.most_common(2), list(d), dd["a"]["b"], cm["b"], (c + Counter("a"))["a"], sum(c.values())
    return model(x)


def model():
    print("namedtuple")
    show(case_namedtuple())
    print("nt_typing")
    show(case_nt_typing())
    print("dataclass")
    show(case_dataclass())
    print("ordereddict")
    show(case_ordereddict())
    print("listsub")
    show(case_listsub())
    print("dictsub")
    show(case_dictsub())
    print("userdict")
    show(case_userdict())
    print("strsub")
    show(case_strsub())
    print("intenum")
    show(case_intenum())
    print("re1")
    show(case_re1())
    print("re2")
    show(case_re2())
    print("methodtype")
    show(case_methodtype())
    print("initsub")
    show(case_initsub())
    print("iter")
    show(case_iter())
    print("ctx")
    show(case_ctx())
    print("fallback")
    show(case_fallback())
    print("pathlib")
    show(case_pathlib())
    print("loop_train")
    show(case_loop_train())
    print("lbfgs")
    show(case_lbfgs())
    print("customopt")
    show(case_customopt())
    print("parametrize")
    show(case_parametrize())
    print("packed")
    show(case_packed())
    print("losses")
    show(case_losses())
    print("embbag")
    show(case_embbag())
    print("instnorm")
    show(case_instnorm())
    print("lazymod")
    show(case_lazymod())
    print("scheds")
    show(case_scheds())
    print("cust_fn")
    show(case_cust_fn())
    print("decorators")
    show(case_decorators())
    print("hooks")
    show(case_hooks())
    print("totalorder")
    show(case_totalorder())
    print("counters")
    show(case_counters())
