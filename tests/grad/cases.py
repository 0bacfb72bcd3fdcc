# Cases that are more than torch.f(x, ...): an op that none of these names is called with tensors, and
# with 1 for its dim (DEFAULTS, which tests/test_fusion_grad.c writes from the table of ops).
# Pointwise ops are tried in all of these shapes.
UNARY_SHAPES = [[(2, 3)], [()], [(1,)], [(0, 3)]]
BINARY_SHAPES = [[(2, 3), (2, 3)], [(2, 3), (3,)], [(2, 1), (1, 3)], [(), (2,)], [(1,), (0,)]]


def attention_back(q, k, v, y, mask, how):
    out = F.scaled_dot_product_attention(q, k, v, mask, is_causal=how == 1)
    return torch._C.attention_back(q, k, v, mask, 1 / math.sqrt(q.shape[-1]), y, how, out)


UNARY = {
    "neg": lambda x: -x,
    "contiguous": lambda x: (x * 1).contiguous() * x,
    "clone": lambda x: x.clone() * x,
    "abs": lambda x: (x - 0.5).abs(),
    "relu": lambda x: torch.relu(x - 0.5) * x,
    "acosh": lambda x: torch.acosh(x + 1.2),
    "floor": lambda x: torch.floor(x * 3) + x,
    "ceil": lambda x: torch.ceil(x * 3) + x,
    "trunc": lambda x: torch.trunc(x * 3) + x,
    "round": lambda x: torch.round(x * 3) + x + torch.round(x, decimals=1),
    "sign": lambda x: torch.sign(x - 0.5) + x,
    "frac": lambda x: torch.frac(x * 3) * x,
    "dropout": lambda x: F.dropout(x * 1, 0.5, False, True) * F.dropout(x, 0.0),
    "logit": lambda x: torch.logit(x) + torch.logit(x, 0.25),
    "nan_to_num": lambda x: torch.nan_to_num(x) * x,
    "to": lambda x: x.float().double() * 0 + x * x,
    "gelu": lambda x: F.gelu(x - 0.4) + F.gelu(x - 0.4, approximate="tanh"),
    "silu": lambda x: F.silu(x - 0.4),
    "leaky_relu": lambda x: F.leaky_relu(x - 0.45, 0.3) * x,
    "elu": lambda x: F.elu(x - 0.45, 1.3),
    "celu": lambda x: F.celu(x - 0.45, 1.3),
    "selu": lambda x: F.selu(x - 0.45),
    "softplus": lambda x: F.softplus(x, 2.0) + F.softplus(x * 30, 1.0, 10.0),
    "relu6": lambda x: F.relu6(x * 9 - 1.05) * x,
    "hardtanh": lambda x: F.hardtanh(x, 0.25, 0.75) * x,
    "hardswish": lambda x: F.hardswish(x * 9 - 4.5),
    "hardsigmoid": lambda x: F.hardsigmoid(x * 9 - 4.5) * x,
    "mish": lambda x: F.mish(x - 0.4),
    "logsigmoid": lambda x: F.logsigmoid(x - 0.4),
    "softsign": lambda x: F.softsign(x - 0.45),
    "tanhshrink": lambda x: F.tanhshrink(x),
    "alias": lambda x: x[...] * x,
    "fill": lambda x: x * 1 if x.numel() == 0 else torch.fill(x * 2, 3.0) + x,
    "clamp": lambda x: x.clamp(0.3, 0.7) * x + x.clamp(min=0.4) + x.clamp(max=0.55),
    "pow": lambda x: x ** 3 + x ** 0.5 + 2.0 ** x + x ** 0 + x ** 2,
    "float_power": lambda x: torch.float_power(x, 1.7) + torch.float_power(1.3, x),
}

BINARY = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "truediv": lambda x, y: x / y,
    "add_alpha": lambda x, y: torch.add(x, y, alpha=0.7) * x,
    "sub_alpha": lambda x, y: torch.sub(x, y, alpha=0.7) * y,
    "rsub": lambda x, y: torch.rsub(x, y, alpha=0.7) * y,
    "div": lambda x, y: torch.div(x, y) + torch.div(x * 5, y, rounding_mode="floor") + x * y,
    "mod": lambda x, y: (x * 3) % (y + 0.3),
    "fmod": lambda x, y: torch.fmod(x * 3, y + 0.3),
    "pow": lambda x, y: x ** y,
    "float_power": lambda x, y: torch.float_power(x, y),
    "minimum": lambda x, y: torch.minimum(x, y) * x,
    "maximum": lambda x, y: torch.maximum(x, y) * x,
    "fmin": lambda x, y: torch.fmin(x, y) * y,
    "fmax": lambda x, y: torch.fmax(x, y) * y,
    "where": lambda x, y: torch.where(x > y, x * x, y),
    "lerp": lambda x, y: torch.lerp(x, y, 0.3) + (torch.lerp(x, y, x * y) if x.shape == y.shape else x),
    "xlogy": lambda x, y: torch.xlogy(x, y) + torch.xlogy(0.3, y) + torch.xlogy(x, 2.0),
    "copysign": lambda x, y: torch.copysign(x, y - 0.5) * x,
    "heaviside": lambda x, y: torch.heaviside(x - 0.5, y) + x * y + torch.heaviside(x - x, y),
    "clamp": lambda x, y: x.clamp(y, y + 0.2) * x,
    "clamp_min": lambda x, y: x.clamp_min(y) * x + x.clamp_min(0.4),
    "clamp_max": lambda x, y: x.clamp_max(y) * x + x.clamp_max(0.4),
}

LIKE = torch.tensor([2, 0, 1])
TRIPLES = torch.tensor([[0, 2, 1], [1, 1, 0]])
MASK = torch.tensor([[True, False, True], [False, True, True]])


def inplace(x, y):
    z = x * 2
    z.mul_(y)
    z.add_(x).exp_()
    return z


def through_view(x, y):
    z = x * 2
    part = z[1]
    other = z.t()
    part.mul_(y)
    z[0, 1:].sub_(y[1:])
    z.sin_()
    return z, part * other[0, 1], other


def stored(x, y):
    z = torch.zeros(2, 3, dtype=torch.float64)
    z[0] = y
    z[1] = x[1] * 2
    z[:, 1] = x[:, 0]
    z[MASK] = 0.25
    z[torch.tensor([0]), torch.tensor([2])] = y[0]
    return z * z


CASES = [
    # reductions
    ("sum", [(2, 3)], lambda x: (x * x).sum() + (x * x).sum(1) * (x * x).sum((0, 1), keepdim=True)),
    ("sum", [()], lambda x: (x * x).sum()),
    ("sum", [(0, 3)], lambda x: (x * x).sum(0)),
    ("nansum", [(2, 3)], lambda x: torch.nansum(x * x, 1)),
    ("mean", [(2, 3)], lambda x: (x * x).mean() + (x * x).mean(0, keepdim=True)),
    ("mean", [()], lambda x: (x * x).mean()),
    ("prod", [(2, 3)], lambda x: x.prod() + x.prod(1) * x.prod(0, keepdim=True).sum()),
    ("prod", [(3,)], lambda x: (x * torch.tensor([1.0, 0.0, 2.0], dtype=torch.float64)).prod()),
    ("prod", [()], lambda x: x.prod()),
    ("amax", [(2, 3)], lambda x: x.amax() * x.amax(1, keepdim=True) + x.amax((0, 1))),
    ("amin", [(2, 3)], lambda x: x.amin() * x.amin(1, keepdim=True) + x.amin(0)),
    ("max", [(2, 3)], lambda x: x.max() * x),
    ("min", [(2, 3)], lambda x: x.min() * x),
    ("max_dim", [(2, 3)], lambda x: x.max(1)[0] * x.max(0, keepdim=True)[0].sum()),
    ("min_dim", [(2, 3)], lambda x: x.min(1)[0] * x.min(-2, keepdim=True)[0].sum()),
    ("item_of", [(2, 3)], lambda x: x.max(1)[0]),
    ("var", [(2, 3)], lambda x: x.var() + x.var(1, keepdim=True) * x.var(0, unbiased=False)),
    ("var", [(4,)], lambda x: x.var(0, correction=2)),
    ("std", [(2, 3)], lambda x: x.std() + x.std(1)),
    ("norm", [(2, 3)], lambda x: x.norm() + x.norm(1, 1) * x.norm(math.inf, 1) + x.norm(2, 1)),
    ("vector_norm", [(2, 3)], lambda x: torch.linalg.vector_norm(x, 3, 1) + torch.linalg.vector_norm(x)),
    ("linalg_norm", [(2, 3)], lambda x: torch.linalg.norm(x) + torch.linalg.norm(x, 1, 1)),
    ("logsumexp", [(2, 3)], lambda x: torch.logsumexp(x, 1) + torch.logsumexp(x, (0, 1), keepdim=True)),
    ("cumsum", [(2, 3)], lambda x: torch.cumsum(x * x, 1)),
    ("cumprod", [(2, 3)], lambda x: torch.cumprod(x, 1)),
    ("cumprod", [(3,)], lambda x: torch.cumprod(x * torch.tensor([1.0, 0.0, 2.0], dtype=torch.float64), 0)),
    ("logcumsumexp", [(2, 3)], lambda x: torch.logcumsumexp(x, 1)),
    ("cummax_values", [(2, 3)], lambda x: torch.cummax(x, 1)[0] * x),
    ("cummin_values", [(2, 3)], lambda x: torch.cummin(x, 1)[0] * x),
    ("sort_values", [(2, 3)], lambda x: torch.sort(x, 1)[0] * x + torch.sort(x, 0, descending=True)[0]),
    ("topk_values", [(2, 3)], lambda x: torch.topk(x, 2)[0] ** 2),
    ("factor", [(3, 3)], lambda x: torch.linalg.cholesky(x @ x.t() + 2 * torch.eye(3, dtype=x.dtype)) * torch.linalg.matrix_exp(x)),
    ("factor", [(2, 3, 3)], lambda x: torch.linalg.det(x) + torch.linalg.slogdet(x + 2 * torch.eye(3, dtype=x.dtype))[1]),
    ("factor", [(3, 3)], lambda x: torch.linalg.eigh(x + x.t())[0] + torch.linalg.eigh(x + x.t())[1] ** 2),
    ("factor", [(4, 3)], lambda x: torch.linalg.qr(x)[1] * torch.linalg.qr(x)[0][:3]),
    ("factor", [(2, 3)], lambda x: torch.linalg.qr(x)[1] * 2),
    ("factor", [(4, 3)], lambda x: torch.linalg.svd(x, False)[1] * (torch.linalg.svd(x, False)[2] ** 2)),
    ("factor", [(2, 4)], lambda x: (torch.linalg.svd(x, False)[0] ** 2).sum() + torch.linalg.pinv(x)),
    ("solve", [(3, 3), (3, 2)], lambda x, y: torch.linalg.solve(x + 2 * torch.eye(3, dtype=x.dtype), y)),
    ("solve", [(3, 3), (3, 2)], lambda x, y: torch.linalg.solve_triangular(x + torch.eye(3, dtype=x.dtype), y, upper=True)),
    ("solve", [(3, 3), (3, 2)], lambda x, y: torch.linalg.solve_triangular(x, y, upper=False, unitriangular=True)),
    ("cdist", [(2, 3), (4, 3)], lambda x, y: torch.cdist(x, y) + torch.cdist(x, y, 1.0)),
    # softmax, norms
    ("softmax", [(2, 3)], lambda x: torch.softmax(x, 1) * torch.softmax(x, 0)),
    ("softmin", [(2, 3)], lambda x: F.softmin(x, 1)),
    ("log_softmax", [(2, 3)], lambda x: torch.log_softmax(x, 1) * torch.log_softmax(x, 0)),
    ("layer_norm", [(2, 3), (3,), (3,)], lambda x, w, b: F.layer_norm(x, (3,), w, b)),
    ("layer_norm", [(2, 3)], lambda x: F.layer_norm(x, (2, 3))),
    ("rms_norm", [(2, 3), (3,)], lambda x, w: F.rms_norm(x, (3,), w, 1e-5) + F.rms_norm(x, (3,))),
    ("batch_norm", [(2, 3), (3,), (3,)], lambda x, w, b: F.batch_norm(x, None, None, w, b, True)),
    (
        "batch_norm",
        [(2, 3, 2), (3,), (3,)],
        lambda x, w, b: F.batch_norm(x, torch.ones(3, dtype=torch.float64), torch.ones(3, dtype=torch.float64), w, b),
    ),
    ("group_norm", [(2, 4, 2), (4,), (4,)], lambda x, w, b: F.group_norm(x, 2, w, b)),
    ("instance_norm", [(2, 2, 3), (2,), (2,)], lambda x, w, b: F.instance_norm(x, None, None, w, b)),
    ("normalize", [(2, 3)], lambda x: F.normalize(x) + F.normalize(x, 1.0, 0)),
    ("cosine_similarity", [(2, 3), (2, 3)], lambda x, y: F.cosine_similarity(x, y)),
    # losses
    ("mse_loss", [(2, 3), (2, 3)], lambda x, y: F.mse_loss(x, y) + F.mse_loss(x, y, reduction="sum") + F.mse_loss(x, y, reduction="none")),
    ("l1_loss", [(2, 3), (2, 3)], lambda x, y: F.l1_loss(x, y) * x),
    ("smooth_l1_loss", [(2, 3), (2, 3)], lambda x, y: F.smooth_l1_loss(x * 4, y, beta=0.7) + F.smooth_l1_loss(x, y, beta=0.0)),
    ("huber_loss", [(2, 3), (2, 3)], lambda x, y: F.huber_loss(x * 4, y, delta=0.7)),
    ("binary_cross_entropy", [(2, 3), (2, 3)], lambda x, y: F.binary_cross_entropy(x, y)),
    (
        "binary_cross_entropy_with_logits",
        [(2, 3), (2, 3)],
        lambda x, y: F.binary_cross_entropy_with_logits(x, y)
        + F.binary_cross_entropy_with_logits(x, y, torch.tensor([0.2, 0.5, 2.0], dtype=torch.float64), pos_weight=torch.tensor([1.0, 3.0, 2.0], dtype=torch.float64)),
    ),
    ("kl_div", [(2, 3), (2, 3)], lambda x, y: F.kl_div(x, y, reduction="batchmean") + F.kl_div(x, y, reduction="sum", log_target=True)),
    ("nll_loss", [(2, 3)], lambda x: F.nll_loss(x, LIKE[:2]) + F.nll_loss(x, LIKE[:2], torch.tensor([0.5, 1.5, 2.0], dtype=torch.float64)) + F.nll_loss(x, torch.tensor([1, -100]), reduction="sum")),
    ("nll_loss", [(2, 3, 3)], lambda x: F.nll_loss(x, TRIPLES)),
    ("cross_entropy", [(2, 3)], lambda x: F.cross_entropy(x, LIKE[:2]) + F.cross_entropy(x, LIKE[:2], torch.tensor([0.5, 1.5, 2.0], dtype=torch.float64), label_smoothing=0.2)),
    ("cross_entropy", [(2, 3)], lambda x: F.cross_entropy(x, torch.tensor([1, -100]), reduction="sum") + F.cross_entropy(x, LIKE[:2], reduction="none")),
    ("cross_entropy", [(2, 3), (2, 3)], lambda x, y: F.cross_entropy(x, y, label_smoothing=0.1)),
    ("cross_entropy", [(2, 3, 3)], lambda x: F.cross_entropy(x, TRIPLES)),
    # three arguments
    ("addcmul", [(2, 3), (3,), (2, 1)], lambda x, y, z: torch.addcmul(x, y, z, value=0.6)),
    ("addcdiv", [(2, 3), (3,), (2, 1)], lambda x, y, z: torch.addcdiv(x, y, z, value=0.6)),
    ("lerp", [(2, 3), (2, 3), (2, 3)], torch.lerp),
    ("glu", [(2, 4)], lambda x: F.glu(x, 1)),
    # views
    ("reshape", [(2, 3)], lambda x: x.reshape(3, 2) * x.t().reshape(3, 2)),
    ("view", [(2, 3)], lambda x: (x * x).contiguous().view(3, 2)),
    ("view_as", [(2, 3), (3, 2)], lambda x, y: (x * x).contiguous().view_as(y) * y),
    ("flatten", [(2, 3)], lambda x: x.flatten() ** 2),
    ("unflatten", [(4, 3)], lambda x: x.unflatten(0, (2, 2)) ** 2),
    ("squeeze", [(2, 1, 3)], lambda x: x.squeeze() * x.squeeze(1)),
    ("unsqueeze", [(2, 3)], lambda x: x.unsqueeze(1) * x),
    ("permute", [(2, 3, 4)], lambda x: x.permute(2, 0, 1) ** 2),
    ("transpose", [(2, 3)], lambda x: x.transpose(0, 1) ** 2),
    ("t", [(2, 3)], lambda x: x.t() ** 2),
    ("movedim", [(2, 3, 4)], lambda x: x.movedim(0, 2) ** 2),
    ("expand", [(2, 1)], lambda x: x.expand(4, 2, 3) ** 2),
    ("expand_as", [(2, 1), (2, 3)], lambda x, y: x.expand_as(y) * y),
    ("select", [(2, 3)], lambda x: x.select(1, 2) * x[:, -1]),
    ("narrow", [(2, 3)], lambda x: x.narrow(1, 1, 2) ** 2),
    ("slice", [(2, 5)], lambda x: x[:, 1::2] ** 2),
    ("reverse", [(2, 3)], lambda x: torch.flip(x, (0,)) * x),
    ("flip", [(2, 3)], lambda x: torch.flip(x, (0, 1)) * x),
    ("diagonal", [(3, 4)], lambda x: x.diagonal(1) ** 2),
    ("trace", [(3, 3)], lambda x: torch.trace(x) ** 2),
    ("unfold", [(5,)], lambda x: x.unfold(0, 3, 1) ** 2),
    ("unfold", [(2, 6)], lambda x: x.unfold(1, 2, 2) ** 2),
    ("as_strided", [(2, 3)], lambda x: torch.as_strided((x * 2).contiguous(), (3, 2), (1, 2)) ** 2 + (x * 1).contiguous().as_strided((3, 2), (0, 1), 4) ** 3),
    ("as_strided", [(2, 3)], lambda x: torch._C.as_strided((x * 2).contiguous(), (2, 2), (3, 1), 1) ** 2),
    ("put_view", [(2, 3), (3,)], through_view),
    ("cat", [(2, 3), (1, 3)], lambda x, y: torch.cat((x, y, x * y), 0) ** 2),
    ("cat", [(2, 3), (2, 3)], lambda x, y: torch.stack((x, y), 1) ** 2),
    ("roll", [(2, 3)], lambda x: torch.roll(x, 1, 1) * x + torch.roll(x, (1, 2), (0, 1))),
    ("repeat", [(2, 3)], lambda x: x.repeat(2, 2, 1) ** 2),
    ("tile", [(2, 3)], lambda x: x.tile((2,)) ** 2),
    ("fill", [(2, 3), ()], lambda x, y: torch.fill(x, y) * x),
    ("masked_fill", [(2, 3)], lambda x: x.masked_fill(MASK, 0.3) * x),
    ("masked_fill", [(2, 3), ()], lambda x, y: x.masked_fill(MASK, y) * x),
    ("tril", [(3, 3)], lambda x: torch.tril(x) ** 2),
    ("triu", [(3, 3)], lambda x: torch.triu(x, 1) ** 2),
    ("sub", [(2, 4)], lambda x: torch.diff(x) ** 2 + torch.diff(x, 1, 1)),
    # indices
    ("gather", [(2, 3)], lambda x: x.gather(1, TRIPLES) ** 2),
    ("index_select", [(3, 2)], lambda x: x.index_select(0, torch.tensor([2, 0, 2])) ** 2),
    ("index", [(3, 2)], lambda x: x[torch.tensor([2, -1, 0])] ** 2),
    ("index", [(3, 2, 2)], lambda x: x[torch.tensor([2, -1, 0]), torch.tensor([0, 1, 1])] ** 2),
    ("index", [(2, 3)], lambda x: x[MASK] ** 2),
    ("index_put", [(2, 3), (3,)], stored),
    ("scatter", [(2, 3), (2, 3)], lambda x, y: x.scatter(1, TRIPLES, y, reduce="add") ** 2),
    ("scatter", [(2, 3), (2, 3)], lambda x, y: x.scatter(1, TRIPLES[:1], y) ** 2),
    ("scatter", [(2, 3), (3, 4)], lambda x, y: x.scatter(1, torch.tensor([[2, 0]]), y) ** 2),
    ("scatter_add", [(2, 3), (2, 3)], lambda x, y: x.scatter_add(1, TRIPLES, y) ** 2),
    ("embedding", [(3, 2)], lambda w: F.embedding(torch.tensor([[0, 2], [2, 1]]), w) ** 2),
    # products
    ("matmul", [(2, 3), (3, 4)], lambda x, y: x @ y),
    ("matmul", [(3,), (3,)], lambda x, y: x @ y),
    ("matmul", [(2, 3), (3,)], lambda x, y: x @ y),
    ("matmul", [(3,), (3, 2)], lambda x, y: x @ y),
    ("matmul", [(2, 2, 3), (3, 4)], lambda x, y: x @ y),
    ("matmul", [(2, 3), (2, 3, 2)], lambda x, y: x @ y),
    ("matmul", [(2, 1, 2, 3), (2, 3, 2)], lambda x, y: x @ y),
    ("matmul", [(2, 2, 3), (3,)], lambda x, y: x @ y),
    ("linear", [(2, 3), (4, 3), (4,)], F.linear),
    ("linear", [(2, 2, 3), (4, 3), (4,)], F.linear),
    ("mm", [(2, 3), (3, 4)], torch.mm),
    ("bmm", [(2, 2, 3), (2, 3, 2)], torch.bmm),
    ("mv", [(2, 3), (3,)], torch.mv),
    ("dot", [(3,), (3,)], torch.dot),
    ("outer", [(3,), (2,)], torch.outer),
    ("addmm", [(4,), (2, 3), (3, 4)], lambda c, x, y: torch.addmm(c, x, y, beta=0.5, alpha=0.7)),
    ("baddbmm", [(2, 2, 2), (2, 2, 3), (2, 3, 2)], lambda c, x, y: torch.baddbmm(c, x, y, beta=0.5, alpha=0.7)),
    ("addmv", [(2,), (2, 3), (3,)], lambda c, x, y: torch.addmv(c, x, y, beta=0.5, alpha=0.7)),
    ("einsum", [(2, 3), (3, 4)], lambda x, y: torch.einsum("ij,jk->ki", x, y)),
    ("einsum", [(2, 2, 3), (2, 3)], lambda x, y: torch.einsum("bij,bj->b", x, y)),
    ("einsum", [(2, 3)], lambda x: torch.einsum("ij->j", x) ** 2),
    ("einsum", [(2, 3, 4), (4, 2)], lambda x, y: torch.einsum("...i,ij->...j", x, y)),
    ("einsum", [(2, 1, 3), (4, 3)], lambda x, y: torch.einsum("...i,...i->...", x, y) ** 2),
    ("einsum", [(2, 3), (3, 2)], lambda x, y: torch.einsum("i...,...i", x, y) ** 2),
    ("einsum", [(2, 3, 2)], lambda x: torch.einsum("i...->i", x) ** 2),
    (
        "scaled_dot_product_attention",
        [(2, 3, 4), (2, 3, 4), (2, 3, 4), (3, 3)],
        lambda q, k, v, m: F.scaled_dot_product_attention(q, k, v, m) + F.scaled_dot_product_attention(q, k, v, is_causal=True),
    ),
    ("attention_back", [(2, 3, 4), (2, 5, 4), (2, 5, 4), (2, 3, 4)], lambda q, k, v, y: attention_back(q, k, v, y, None, 8) ** 2),
    ("attention_back", [(3, 4), (3, 4), (3, 4), (3, 4)], lambda q, k, v, y: attention_back(q, k, v, y, None, 1) ** 2),
    # windows
    ("conv2d", [(2, 2, 5, 4), (3, 2, 3, 2), (3,)], lambda x, w, b: F.conv2d(x, w, b, (2, 1), (1, 0))),
    ("conv2d", [(1, 4, 5, 5), (6, 2, 2, 2)], lambda x, w: F.conv2d(x, w, None, 1, 1, 2, 2)),
    ("conv2d", [(1, 2, 6, 6), (2, 2, 1, 1)], lambda x, w: F.conv2d(x, w, None, 2)),
    ("conv_x", [(2, 3, 3, 2), (3, 2, 3, 2)], lambda y, w: torch._C.conv_x(y, w, (5, 3), (2, 1), (1, 0), (1, 1), 1) ** 2),
    ("conv_x", [(1, 6, 5, 5), (6, 2, 2, 2)], lambda y, w: torch._C.conv_x(y, w, (5, 5), (1, 1), (1, 1), (2, 2), 2) ** 2),
    ("conv_weight", [(2, 3, 3, 3), (2, 2, 5, 4)], lambda y, x: torch._C.conv_weight(y, x, (3, 2), (2, 1), (1, 0), (1, 1), 1) ** 2),
    ("conv_weight", [(1, 6, 5, 5), (1, 4, 5, 5)], lambda y, x: torch._C.conv_weight(y, x, (2, 2), (1, 1), (1, 1), (2, 2), 2) ** 2),
    ("conv1d", [(2, 2, 6), (3, 2, 3), (3,)], lambda x, w, b: F.conv1d(x, w, b, 2, 1)),
    ("im2col", [(1, 2, 4, 4)], lambda x: F.unfold(x, 2, 1, 1, 2) ** 2),
    ("max_pool2d", [(1, 2, 5, 5)], lambda x: F.max_pool2d(x, 3, 2, 1) ** 2),
    ("max_pool2d", [(1, 1, 5, 5)], lambda x: F.max_pool2d(x, 2, ceil_mode=True) ** 2),
    ("avg_pool2d", [(1, 2, 5, 5)], lambda x: F.avg_pool2d(x, 3, 2, 1) ** 2 + F.avg_pool2d(x, 3, 2, 1, count_include_pad=False)),
    ("avg_pool2d", [(1, 1, 5, 5)], lambda x: F.avg_pool2d(x, 2, ceil_mode=True) ** 2),
    ("max_pool1d", [(1, 2, 6)], lambda x: F.max_pool1d(x, 2) ** 2),
    ("avg_pool1d", [(1, 2, 6)], lambda x: F.avg_pool1d(x, 3, 1, 1) ** 2),
    ("adaptive_avg_pool2d", [(1, 2, 5, 4)], lambda x: F.adaptive_avg_pool2d(x, (2, 3)) ** 2),
    ("adaptive_max_pool2d", [(1, 2, 5, 4)], lambda x: F.adaptive_max_pool2d(x, (2, 3)) ** 2),
    # slices side by side
    ("slice", [(2, 6)], lambda x: [a * b + c.sin() for a, b, c in [(x * 2).chunk(3, 1)]][0]),
    ("slice", [(2, 6)], lambda x: [a * c for a, b, c in [(x * 2).chunk(3, 1)]][0]),
    ("slice", [(6, 2)], lambda x: [y[4:] * y[:2] * y[2:4] for y in [x.exp()]][0]),
    ("slice", [(2, 5)], lambda x: [y[:, :3] * y[:, 2:] for y in [x.exp()]][0]),
    # functions that are made of ops: prelude/torch_ops.py and its like
    ("digamma", [(2, 3)], torch.digamma),
    ("erfinv", [(3,)], torch.erfinv),
    ("i0", [(3,)], torch.i0),
    ("logaddexp2", [(3,), (3,)], torch.logaddexp2),
    ("dist", [(2, 3), (2, 3)], torch.dist),
    ("renorm", [(2, 3)], lambda x: torch.renorm(x, 2, 0, 0.5)),
    ("nanmean", [(2, 3)], lambda x: torch.nanmean(x * x, 1)),
    ("median", [(2, 3)], lambda x: torch.median(x, 1)[0] * x.median()),
    ("kthvalue", [(2, 3)], lambda x: torch.kthvalue(x, 2, 1)[0] ** 2),
    ("quantile", [(2, 4)], lambda x: torch.quantile(x, 0.3, 1) * torch.quantile(x, 0.5)),
    ("diff", [(2, 5)], lambda x: torch.diff(x * x, 2)),
    ("repeat_interleave", [(2, 3)], lambda x: torch.repeat_interleave(x, 2, 1) ** 2),
    ("cov", [(2, 4)], torch.cov),
    ("take", [(2, 3)], lambda x: torch.take(x, TRIPLES) ** 2),
    ("take_along_dim", [(2, 3)], lambda x: torch.take_along_dim(x, TRIPLES, 1) ** 2),
    ("scatter_reduce", [(2, 3), (2, 3)], lambda x, y: torch.scatter_reduce(x, 1, TRIPLES, y, "mean") ** 2),
    ("scatter_reduce", [(2, 3), (2, 3)], lambda x, y: torch.scatter_reduce(x, 1, TRIPLES, y, "prod")),
    ("scatter_reduce", [(2, 3), (2, 3)], lambda x, y: torch.scatter_reduce(x, 1, TRIPLES, y, "amax") ** 2),
    ("index_put", [(3, 2), (2,)], lambda x, y: torch.index_put(x, (LIKE[:2],), y, True) ** 2),
    ("addr", [(2, 3), (2,), (3,)], lambda x, y, z: torch.addr(x, y, z, beta=0.5, alpha=2)),
    ("addbmm", [(2, 2), (2, 2, 3), (2, 3, 2)], torch.addbmm),
    ("tensordot", [(2, 3), (3, 2)], lambda x, y: torch.tensordot(x, y, 1)),
    ("kron", [(2, 2), (2, 3)], torch.kron),
    ("cross", [(2, 3), (2, 3)], lambda x, y: torch.cross(x, y, 1)),
    ("einsum", [(2, 3), (3, 2), (2, 2)], lambda x, y, z: torch.einsum("ij,jk,kl->il", x, y, z)),
    ("block_diag", [(2, 2), (1, 2)], lambda x, y: torch.block_diag(x, y) ** 2),
    ("diag_embed", [(2, 3)], lambda x: torch.diag_embed(x) ** 2),
    ("select_scatter", [(2, 3), (3,)], lambda x, y: torch.select_scatter(x, y, 0, 1) ** 2),
    ("conv1d", [(1, 2, 5), (2, 2, 3)], lambda x, w: F.conv1d(x, w, padding="same")),
    ("conv3d", [(1, 2, 3, 3, 3), (2, 2, 2, 2, 2), (2,)], F.conv3d),
    ("conv_transpose2d", [(1, 2, 3, 3), (2, 2, 2, 2)], lambda x, w: F.conv_transpose2d(x, w, None, 2, 1)),
    ("conv_transpose3d", [(1, 1, 2, 2, 2), (1, 2, 2, 2, 2)], lambda x, w: F.conv_transpose3d(x, w, None, 2)),
    ("max_pool3d", [(1, 1, 2, 4, 4)], lambda x: F.max_pool3d(x, 2) ** 2),
    ("max_pool2d", [(1, 1, 4, 4)], lambda x: F.max_pool2d(x, 2, return_indices=True)[0] ** 2),
    ("avg_pool3d", [(1, 1, 2, 4, 4)], lambda x: F.avg_pool3d(x, 2, 1) ** 2),
    ("lp_pool1d", [(1, 2, 6)], lambda x: F.lp_pool1d(x, 2, 2)),
    ("fold", [(1, 4, 4)], lambda x: F.fold(x, (3, 3), 2) ** 2),
    ("interpolate", [(1, 1, 3, 3)], lambda x: F.interpolate(x, (4, 5), mode="bicubic") ** 2),
    ("interpolate", [(1, 1, 4, 3)], lambda x: F.interpolate(x, (2, 4), mode="bicubic", antialias=True) ** 2),
    ("grid_sample", [(1, 1, 4, 4), (1, 1, 2, 2)], lambda x, g: F.grid_sample(x, g * 0.7 - 0.6, "bicubic", "border", False)),
    ("rfft", [(2, 5)], lambda x: torch.fft.rfft(x).abs()),
    ("irfft2", [(3, 3), (3, 3)], lambda x, y: torch.fft.irfft2(torch.complex(x, y)) ** 2),
    ("stft", [(7,), (4,)], lambda x, w: torch.stft(x, 4, 2, window=w, return_complex=False) ** 2),
    ("istft", [(3, 4, 2)], lambda x: torch.istft(x, 4, 1) ** 2),
    ("grid_sample", [(1, 2, 3, 3), (1, 2, 2, 2)], lambda x, g: F.grid_sample(x, g * 0.7 - 0.6, align_corners=False)),
    ("affine_grid", [(1, 2, 3)], lambda t: F.affine_grid(t, (1, 1, 2, 2), align_corners=False) ** 2),
    ("bilinear", [(2, 3), (2, 2), (2, 3, 2)], F.bilinear),
    ("pdist", [(3, 2)], F.pdist),
    ("embedding_bag", [(3, 2)], lambda w: F.embedding_bag(TRIPLES, w) ** 2),
    ("local_response_norm", [(1, 3, 2)], lambda x: F.local_response_norm(x, 2, 0.5)),
    ("multi_margin_loss", [(3, 4)], lambda x: F.multi_margin_loss(x * 3, LIKE)),
    ("multilabel_margin_loss", [(2, 3)], lambda x: F.multilabel_margin_loss(x, torch.tensor([[0, -1, 0], [2, 1, -1]]))),
    ("triplet_margin_loss", [(2, 3), (2, 3), (2, 3)], F.triplet_margin_loss),
    ("ctc_loss", [(4, 1, 3)], lambda x: F.ctc_loss(F.log_softmax(x, 2), torch.tensor([[1, 2]]), (4,), (2,))),
    # in place
    ("fill", [(2, 3), (3,)], inplace),
]


def cases():
    several = [(name, UNARY_SHAPES, f) for name, f in UNARY.items()] + [(name, BINARY_SHAPES, f) for name, f in BINARY.items()]
    several += [(name, tried, f) for name, tried, f in DEFAULTS if name not in _grads.NO_GRADIENT.split()]
    for name, tried, f in several:
        for shapes in tried:
            yield name, f, shapes
    for name, shapes, f in CASES:
        yield name, f, shapes


def model(which):
    """All cases, or one of them as a compiled mode has it: how many there are."""
    if which is None:
        for name, f, shapes in cases():
            check(name, f, shapes, True)
        return _grads.NO_GRADIENT
    every = list(cases())
    name, f, shapes = every[which]
    check(name, f, shapes, True)
    return len(every)
