"""tests/oracle/autocast_ops.py OUT -- what autocast makes of each op on PyTorch, written to OUT.
tests/oracle/autocast_ops.py --check BINARY -- whether Breakeven makes the same of it, on the CPU.

The first needs torch with CUDA; autocast_ops.json is kept in the repository, so that
the tests do not.  For each row of ops.def that takes floats: the dtype of a call's result under
autocast to bfloat16, on "cpu" and "cuda", where the operands are float32, bfloat16,
or of both kinds by turns ("mixed"); "error" where it raises.  `registered` are the
names of PyTorch's own lists.  test_graph_autocast.c compares the classes of ops.def.
"""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TABLE = os.path.join(HERE, "ops.def")  # where it was carried to a machine with torch
if not os.path.exists(TABLE):
    TABLE = os.path.join(HERE, "..", "..", "fusion", "graph", "ops.def")

# a, b: [4, 4]; v: [4]; p: [4, 4] within (0, 1); s: [2, 4, 4]; img: [1, 2, 6, 6];
# k: [3, 2, 3, 3]; seq: [1, 2, 6]; k1: [3, 2, 3]; i: indices [4]; j: indices [4, 4]
CALLS = {
    "matmul": "torch.matmul(a, b)", "mm": "torch.mm(a, b)", "bmm": "torch.bmm(s, s2)", "mv": "torch.mv(a, v)", "dot": "torch.dot(v, v2)",
    "outer": "torch.outer(v, v2)", "addmm": "torch.addmm(a, b, a)", "baddbmm": "torch.baddbmm(s, s2, s)", "addmv": "torch.addmv(v, b, v)",
    "einsum": "torch.einsum('ij,jk->ik', a, b)", "linear": "F.linear(a, b)", "conv1d": "F.conv1d(seq, k1)", "conv2d": "F.conv2d(img, k)",
    "conv3d": "F.conv3d(img[None], k[:, :1, None])", "conv_transpose1d": "F.conv_transpose1d(seq, k1.transpose(0, 1))",
    "conv_transpose2d": "F.conv_transpose2d(img, k.transpose(0, 1))", "prelu": "F.prelu(a, v)", "tensordot": "torch.tensordot(a, b, 1)",
    "addbmm": "torch.addbmm(a, s, s2)", "vdot": "torch.vdot(v, v2)", "cross": "torch.linalg.cross(a[:, :3], b[:, :3])", "kron": "torch.kron(a, b)",
    "grid_sample": "F.grid_sample(img, g, align_corners=False)", "max_pool3d": "F.max_pool3d(img[None], 2)", "renorm": "torch.renorm(a, 2, 0, 1.0)",
    "quantile": "torch.quantile(a, 0.5)", "nanmean": "torch.nanmean(a)", "bilinear": "F.bilinear(a, b, s)",
    "poisson_nll_loss": "F.poisson_nll_loss(a, p)", "triplet_margin_loss": "F.triplet_margin_loss(a, b, p)", "margin_ranking_loss": "F.margin_ranking_loss(v, v2, v.sign())",
    "hinge_embedding_loss": "F.hinge_embedding_loss(a, a.sign())", "cosine_embedding_loss": "F.cosine_embedding_loss(a, b, i.sign() * 2 - 1)", "soft_margin_loss": "F.soft_margin_loss(a, a.sign())",
    "scaled_dot_product_attention": "F.scaled_dot_product_attention(s, s2, s)",
    "where": "torch.where(a > 0, a, b)", "add_alpha": "torch.add(a, b, alpha=2)", "sub_alpha": "torch.sub(a, b, alpha=2)",
    "clamp": "torch.clamp(a, -1, 1)", "mean": "torch.mean(a)", "var": "torch.var(a)", "std": "torch.std(a)", "norm": "torch.norm(a)", "max": "torch.max(a)", "min": "torch.min(a)",
    "softmax": "torch.softmax(a, -1)", "log_softmax": "torch.log_softmax(a, -1)", "softmin": "F.softmin(a, -1)", "layer_norm": "F.layer_norm(a, (4,))",
    "rms_norm": "F.rms_norm(a, (4,))", "group_norm": "F.group_norm(a, 2)", "batch_norm": "F.batch_norm(a, None, None, training=True)", "instance_norm": "F.instance_norm(seq)",
    "cumsum": "torch.cumsum(a, 0)", "cumprod": "torch.cumprod(a, 0)", "logcumsumexp": "torch.logcumsumexp(a, 0)", "logsumexp": "torch.logsumexp(a, 0)",
    "flip": "torch.flip(a, (0,))", "roll": "torch.roll(a, 1)", "repeat": "a.repeat(2, 1)", "tile": "torch.tile(a, (2,))", "masked_fill": "torch.masked_fill(a, a > 0, 1.0)",
    "tril": "torch.tril(a)", "triu": "torch.triu(a)", "gather": "torch.gather(a, 0, j)", "index_select": "torch.index_select(a, 0, i)", "scatter": "torch.scatter(a, 0, j, a)",
    "scatter_add": "torch.scatter_add(a, 0, j, b)", "index_put": "torch.index_put(a, (i,), b)", "cat": "torch.cat([a, b])", "index_copy": "torch.index_copy(a, 0, i, b)",
    "sort_values": "torch.sort(a)[0]", "topk_values": "torch.topk(a, 2)[0]", "cummax_values": "torch.cummax(a, 0)[0]", "cummin_values": "torch.cummin(a, 0)[0]",
    "max_pool2d": "F.max_pool2d(img, 2)", "avg_pool2d": "F.avg_pool2d(img, 2)", "max_pool1d": "F.max_pool1d(seq, 2)", "avg_pool1d": "F.avg_pool1d(seq, 2)",
    "adaptive_avg_pool2d": "F.adaptive_avg_pool2d(img, 2)", "adaptive_max_pool2d": "F.adaptive_max_pool2d(img, 2)", "im2col": "F.unfold(img, 2)",
    "embedding": "F.embedding(i, a)", "dropout": "F.dropout(a)", "glu": "F.glu(a)", "celu": "F.celu(a)", "elu": "F.elu(a)", "leaky_relu": "F.leaky_relu(a)",
    "div": "torch.div(a, b, rounding_mode='floor')", "lerp": "torch.lerp(a, b, 0.5)", "addcmul": "torch.addcmul(a, b, a)", "addcdiv": "torch.addcdiv(a, b, p)", "rsub": "torch.rsub(a, b)",
    "isclose": "torch.isclose(a, a)", "float_power": "torch.float_power(p, 2)", "logit": "torch.logit(p)", "nan_to_num": "torch.nan_to_num(a)", "clamp_min": "torch.clamp_min(a, 0)", "clamp_max": "torch.clamp_max(a, 0)",
    "fill": "torch.fill(a, 1.0)", "count_nonzero": "torch.count_nonzero(a)", "vector_norm": "torch.linalg.vector_norm(a)", "linalg_norm": "torch.linalg.norm(a)",
    "cdist": "torch.cdist(a, b)", "trace": "torch.trace(a)", "diff": "torch.diff(a)", "nansum": "torch.nansum(a)", "normalize": "F.normalize(a)", "cosine_similarity": "torch.cosine_similarity(a, b)",
    "mse_loss": "F.mse_loss(a, b)", "l1_loss": "F.l1_loss(a, b)", "smooth_l1_loss": "F.smooth_l1_loss(a, b)", "huber_loss": "F.huber_loss(a, b)", "kl_div": "F.kl_div(a, p, reduction='sum')",
    "nll_loss": "F.nll_loss(a, i)", "cross_entropy": "F.cross_entropy(a, i)", "binary_cross_entropy": "F.binary_cross_entropy(p, p2)", "binary_cross_entropy_with_logits": "F.binary_cross_entropy_with_logits(a, p)",
    "pow": "torch.pow(p, 2)", "atan2": "torch.atan2(a, b)", "sum": "torch.sum(a)", "prod": "torch.prod(a)", "amax": "torch.amax(a, 0)", "amin": "torch.amin(a, 0)", "linspace": "torch.linspace(0, 1, 4)",
    "tensor": "torch.tensor(1.0)", "zeros_like": "torch.zeros_like(a)", "ones_like": "torch.ones_like(a)", "full_like": "torch.full_like(a, 2.0)", "softplus": "F.softplus(a)", "gelu": "F.gelu(a)", "contiguous": "a.contiguous()",
    "hypot": "torch.hypot(a, b)", "logaddexp": "torch.logaddexp(a, b)", "xlogy": "torch.xlogy(a, p)", "fmax": "torch.fmax(a, b)", "fmin": "torch.fmin(a, b)",
    "copysign": "torch.copysign(a, b)", "heaviside": "torch.heaviside(a, b)", "add": "a + b", "sub": "a - b", "logical_not": "torch.logical_not(a)", "alias": "a.view(16)", "reshape": "torch.reshape(a, (16,))", "t": "a.t()", "max_dim": "torch.max(a, 0)[0]", "min_dim": "torch.min(a, 0)[0]",
}


def calls():
    """(id, expression) of each row of the table that an expression can be made for."""
    text = open(TABLE).read()
    for kind, name, rest in re.findall(r"^(UNARY|BINARY|REDUCE|COMPOSITE|LIBRARY|TERNARY|VIEW|CREATE|CONSTANT|JOIN)\(\s*(\w+),(.*)", text, re.M):
        spelling = re.search(r'"(torch\.[\w.]+)', rest)
        if name in CALLS or not spelling:
            continue
        if kind in ("UNARY", "BINARY"):
            yield name, spelling.group(1) + ("(p)" if kind == "UNARY" else "(p, p2)")
        elif kind == "COMPOSITE" and re.search(r'Tensor x(, bool inplace=False)?"', text.split(f"( {name}, ")[-1][:300]):
            yield name, spelling.group(1) + "(p)"
    yield from CALLS.items()


SHAPES = {"a": (4, 4), "b": (4, 4), "v": (4,), "v2": (4,), "s": (2, 4, 4), "s2": (2, 4, 4), "img": (1, 2, 6, 6), "k": (3, 2, 3, 3), "seq": (1, 2, 6), "k1": (3, 2, 3), "g": (1, 2, 2, 2)}


def names_in(expression):
    """The tensors of an expression that float, in order."""
    return [n for n in re.findall(r"\b\w+\b", expression) if n in SHAPES or n in ("p", "p2")]


def tensors(torch, device):
    gen = torch.Generator().manual_seed(0)
    made = {n: torch.randn(*shape, generator=gen) for n, shape in SHAPES.items()}
    made["p"], made["p2"] = (torch.rand(4, 4, generator=gen) * 0.8 + 0.1 for _ in "pq")
    made["i"] = torch.tensor([0, 1, 2, 3])
    made["j"] = torch.zeros(4, 4, dtype=torch.int64)
    return {n: t.to(device) for n, t in made.items()}


def result(torch, expression, device, kind):
    values = tensors(torch, device)
    names = names_in(expression)
    for n, t in values.items():
        low = kind == "bfloat16" or (kind == "mixed" and names.index(n) % 2 if n in names else False)
        values[n] = t.bfloat16() if low and t.is_floating_point() else t
    try:
        with torch.autocast(device, dtype=torch.bfloat16):
            return str(eval(expression, {"torch": torch, "F": torch.nn.functional, **values}).dtype)[6:]
    except Exception as e:
        return "error" if "unsafe to autocast" not in str(e) else "banned"


def program(expression, kind):
    lines = [f"    {n} = torch.randn{shape}" for n, shape in SHAPES.items()]
    lines += [f"    {n} = torch.rand(4, 4) * 0.8 + 0.1" for n in ("p", "p2")]
    lines += ["    i = torch.tensor([0, 1, 2, 3])", "    j = torch.zeros(4, 4, dtype=torch.int64)"]
    if kind == "bfloat16":
        lines += [f"    {n} = {n}.bfloat16()" for n in dict.fromkeys(names_in(expression))]
    lines += ["    with torch.autocast('cpu', dtype=torch.bfloat16):", f"        y = {expression}", "    return str(y.dtype)[6:]"]
    return "\n".join(["import torch", "F = torch.nn.functional", "def model():", *lines]) + "\n"


def ours(binary, expression, kind):
    """The result's dtype; None where the language has not the function."""
    workload = {"name": "op", "source": program(expression, kind), "calls": [[]], "modes": ["eager"], "backend": "interp"}
    done = subprocess.run([binary, "run", "-", "--no-timing", "--json"], input=json.dumps(workload), capture_output=True, text=True)
    if done.returncode == 0:
        return json.loads(done.stdout)["modes"]["eager"]["calls"][0]["output"]["value"]
    return None if re.search("not in the language|has no attribute", done.stderr) else done.stderr[:200]


def check(binary):
    with open(os.path.join(HERE, "autocast_ops.json")) as file:
        recorded = json.load(file)["ops"]
    counts, faults = {"passed": 0, "skipped": 0}, []
    for name, expression in calls():
        for kind in ("float32", "bfloat16"):
            want = recorded.get(name, {}).get("cpu", {}).get(kind, "error")
            got = None if want == "error" else ours(binary, expression, kind)
            if got not in (None, want):
                faults.append(f"{expression} of {kind} under autocast: {got} for {want}")
            counts["skipped" if got is None else "passed"] += got in (None, want)
            if got is None:
                print(f"skipped: {name} of {kind} (" + ("PyTorch refuses it" if want == "error" else "not in the language") + ")")
    for fault in faults:
        print(fault)
    print(f"{counts['passed']} passed, {len(faults)} failed, {counts['skipped']} skipped")
    sys.exit(1 if faults else 0)


def main():
    if sys.argv[1] == "--check":
        return check(sys.argv[2])
    import torch

    found = {name: {d: {k: result(torch, e, d, k) for k in ("float32", "bfloat16", "mixed")} for d in ("cpu", "cuda")} for name, e in calls()}
    registered = {key: sorted(n for n in torch._C._dispatch_get_registrations_for_dispatch_key(key)) for key in ("AutocastCPU", "AutocastCUDA")}
    with open(sys.argv[1], "w") as file:
        lines = ",\n".join(f"    {json.dumps(n)}: {json.dumps(v)}" for n, v in sorted(found.items()))
        file.write(f'{{\n  "torch": "{torch.__version__}",\n  "registered": {json.dumps(registered)},\n  "ops": {{\n{lines}\n  }}\n}}\n')
    print(len(found), "ops;", {k: len(v) for k, v in registered.items()})


if __name__ == "__main__":
    main()
