"""tests/oracle/function_programs.py -- derivatives as functions, complex numbers and Fourier transforms, matrices, generators, sparse matrices,
distributions.

Rows as those of library_programs.py; `record.py function_cases.json function_programs` writes what replay.py replays.
Each part of a program is read back as real numbers, since a recorded value is.
"""
import random

from library_programs import IMPORTS, model
from own_programs import value

SPD = "A = x @ x.transpose(-1, -2) + 3 * torch.eye(x.shape[-2])\n"

# Of these the values are recorded and not the graphs, for this engine ends them elsewhere: where a
# derivative begins (func_*), where elements are looked for (sparse), where a tensor's sizes are
# changed (views_in_place), where torch gives up on a frame (distribution_transformed), and where
# numbers of 2.6 and of what came after it differ.
VALUES_ALONE = {
    "func_grad", "func_jacobians", "func_per_sample", "spectral_layer", "fourier", "linalg_factors", "views_in_place",
    "generators", "sparse", "volumes", "distribution_transformed",
}

PROGRAMS = [
    ("func_grad", [["f 3,4"]], "from torch.func import grad, grad_and_value, vjp, jvp\n" + model(
        "f = lambda a: (a.sin() * a).sum()\ng, v = grad_and_value(f)(x)\no, pull = vjp(torch.sin, x)\na, b = grad(lambda p, y: (p['w'] * y).pow(2).sum())({'w': x}, x)['w'], grad(lambda y: ((y * y).sum(), y + 1), has_aux=True)(x)\n"
        "return grad(f)(x), v, g, pull(x)[0], jvp(torch.sin, (x,), (x,)), grad(grad(lambda y: y ** 3))(x[0, 0]), a, b, grad(lambda p, q: (p * q).sum(), argnums=(0, 1))(x, x)")),
    ("func_jacobians", [["f 3"]], "from torch.func import hessian, jacfwd, jacrev\n" + model("return jacrev(lambda a: a.pow(3))(x), jacfwd(lambda a: a.pow(3))(x), hessian(lambda a: a.pow(3).sum())(x)")),
    ("func_vmap", [["f 3,4"]], "from torch.func import vmap\n" + model(
        "return (vmap(torch.dot)(x, x), torch.vmap(lambda a: a.sum())(x), vmap(lambda a, b: a * b, in_dims=(0, None))(x, x[0]), vmap(lambda a: a * 2, in_dims=1, out_dims=1)(x), vmap(vmap(lambda a, b: a * b))(x, x), "
        "vmap(lambda a: {'s': F.softmax(a, dim=0)})(x)['s'])")),
    ("func_per_sample", [["f 3,4"]], "from torch.func import functional_call, grad, vmap\nnet = nn.Sequential(nn.Linear(4, 3), nn.Tanh(), nn.Linear(3, 1))\np = {k: v.detach() for k, v in net.named_parameters()}\n"
     "def loss(params, a, t):\n    return F.mse_loss(functional_call(net, params, (a.unsqueeze(0),)), t.unsqueeze(0))\n" + model(
         "g = vmap(grad(loss), in_dims=(None, 0, 0))(p, x, x[:, :1])\nreturn g['0.weight'], g['2.bias'], net(x)")),
    ("func_ensemble", [["f 3,4"]], "import copy\nfrom torch.func import functional_call, stack_module_state\nnets = [nn.Linear(4, 2) for _ in range(3)]\nparams, buffers = stack_module_state(nets)\nbase = copy.deepcopy(nets[0]).to('meta')\n"
     + model("return torch.vmap(lambda p, b: functional_call(base, (p, b), (x,)))(params, buffers)")),
    ("cond", [["f 3"]], model("return torch.cond(x.sum() > 0, lambda a: a.sin(), lambda a: a.cos(), (x,)), torch.cond(x.sum() < 0, lambda a: a + 1, lambda a: a - 1, (x,))")),
    ("rotary", [["f 2,3,2,4"]], "freqs = torch.polar(torch.ones(3, 2), torch.outer(torch.arange(3.0), torch.tensor([1.0, 0.01])))\n" + model(
        "c = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))\nreturn torch.view_as_real(c * freqs.view(1, 3, 1, 2)).flatten(3).type_as(x)")),
    ("complex_arithmetic", [["f 3,4"]], model(
        "c = torch.complex(x, x + 1)\nr = torch.view_as_real\nd = c.clone()\nd[0] = 1 + 2j\nd *= 2j\n"
        "return (r(c / (c + 2)), r(1 / c), r(c * 1j - x), r(c ** 2), r(torch.exp(c)), r(torch.sqrt(c)), r(c @ c.mH), r(torch.einsum('ij,kj->ik', c, c)), c.abs(), c.angle(), r(c.conj().sum(0)), r(c.mean()), "
        "r(torch.cat([c, c])), r(torch.where(x > 0, c, torch.zeros_like(c))), r(d), str(c.dtype), c.is_complex(), isinstance(c, torch.Tensor), r(torch.zeros(2, dtype=torch.cfloat)), r(torch.tensor([1 + 2j, 3 - 1j])), c == c)")),
    ("complex_numbers", [["f 2"]], model("z = 1 + 2j\nreturn x * z.real, z.imag, abs(3 + 4j), str(z), str(z * z), z.conjugate() == 1 - 2j, complex(1, 2) == z, isinstance(z, complex), str(z / (1 - 1j)), str(1j ** 2), str(-2.5j)")),
    ("complex_parameter", [["f 2,3"]], "w = nn.Parameter(torch.randn(3, dtype=torch.cfloat))\n" + model(
        "w.grad = None\nl = (w * torch.complex(x[0], x[1])).abs().pow(2).sum()\nl.backward()\nreturn l.detach(), torch.view_as_real(w.grad), torch.view_as_real(w.detach())")),
    ("spectral_layer", [["f 2,2,8"]], "class Spectral(nn.Module):\n    def __init__(self):\n        super().__init__()\n        self.weights = nn.Parameter(0.5 * torch.rand(2, 3, 3, dtype=torch.cfloat))\n    def forward(self, x):\n        f = torch.fft.rfft(x)\n"
     "        out = torch.zeros(x.shape[0], 3, x.size(-1) // 2 + 1, device=x.device, dtype=torch.cfloat)\n        out[:, :, :3] = torch.einsum('bix,iox->box', f[:, :, :3], self.weights)\n        return torch.fft.irfft(out, n=x.size(-1))\nm = Spectral()\n"
     + model("m.zero_grad()\ny = m(x)\ny.pow(2).sum().backward()\nreturn y.detach(), torch.view_as_real(m.weights.grad)")),
    ("fourier", [["f 4,6"]], model(
        "X = torch.fft.rfft(x, norm='ortho')\ny = torch.fft.fft2(x)\ns = torch.stft(x.reshape(-1), 8, 4, window=torch.hann_window(8), return_complex=True)\n"
        "return (torch.fft.irfft(torch.polar(X.abs(), X.angle()), norm='ortho', n=6), y.real, torch.fft.ifft2(y).real, torch.fft.fftshift(y).abs(), s.abs(), torch.istft(s, 8, 4, window=torch.hann_window(8)), "
        "torch.fft.irfft(torch.fft.rfft(x, n=12) * torch.fft.rfft(x[0], n=12), n=12)[..., :6])")),
    ("linalg_systems", [["f 3,4"], ["f 3,4"]], model(
        SPD + "b = x[:, :2]\nL = torch.linalg.cholesky(A)\nreturn (torch.linalg.solve(A, b), torch.linalg.solve(A, x[:, 0]), torch.linalg.inv(A), A.inverse(), torch.det(A), torch.linalg.slogdet(A), torch.logdet(A), L, torch.cholesky_solve(b, L), "
        "torch.linalg.solve_triangular(L, b, upper=False), torch.cholesky_inverse(L), torch.linalg.matrix_exp(A * 0.1), torch.linalg.matrix_power(A, -2), torch.linalg.cond(A), torch.vander(x[0]), torch.vander(x[0], 3, increasing=True), torch.linalg.vander(x[0], N=2))")),
    ("linalg_factors", [["f 2,4,3"]], model(
        "U, S, Vh = torch.linalg.svd(x, full_matrices=False)\nQ, R = torch.linalg.qr(x)\nG = x.mT @ x\nw, V = torch.linalg.eigh(G)\n"
        "return (S, (U * S.unsqueeze(-2)) @ Vh, Q, R, w, V @ torch.diag_embed(w) @ V.mT, torch.linalg.pinv(x), torch.linalg.matrix_rank(x), torch.linalg.lstsq(x, x[..., :1]).solution, torch.linalg.svdvals(x), torch.linalg.norm(x, 'nuc', (-2, -1)), torch.linalg.norm(x[0], 2), torch.linalg.eigvalsh(G))")),
    ("linalg_gradients", [["f 3,4"]], model(
        "w = x.clone().requires_grad_()\nA = w @ w.t() + 3 * torch.eye(3)\ny = (torch.linalg.inv(A).sum() + torch.linalg.slogdet(A)[1] + torch.linalg.cholesky(A).sum() + torch.linalg.solve(A, x[:, :2]).sum() + torch.linalg.eigvalsh(A).pow(2).sum() "
        "+ torch.linalg.det(A) + torch.linalg.svdvals(w).sum() + torch.linalg.matrix_exp(A * 0.1).sum() + torch.linalg.qr(A)[1].pow(2).sum() + torch.linalg.pinv(w).sum())\ny.backward()\nreturn y.detach(), w.grad")),
    ("views_in_place", [["f 2,3"]], model(
        "y = x.clone()\ny.unsqueeze_(0)\ny.squeeze_(0)\ny.transpose_(0, 1)\nz = torch.zeros(0)\nz.resize_(2, 2)\nz.fill_(1.0)\nreturn y + 0, y.stride(), y.clone().t_() + 0, z, x.layout == torch.strided, x.is_sparse, x.clone().as_strided_((2, 2), (1, 2)) + 0")),
    ("view_of_bits", [["f 2,4"]], model("return x.view(torch.int32), x.view(torch.int32).view(torch.float32), torch.tensor([1, 2, 3, 4], dtype=torch.uint8).view(torch.int16), x.double().view(torch.int64)")),
    ("generators", [["f 2"]], model(
        "g = torch.Generator().manual_seed(3)\ntorch.manual_seed(1)\na = torch.rand(3, generator=g), torch.randn(3, generator=g), torch.randint(0, 10, (3,), generator=g), torch.randperm(5, generator=g), torch.empty(3).normal_(generator=g)\n"
        "s = g.get_state()\nb = torch.rand(2, generator=g)\ng.set_state(s)\nk = torch.get_rng_state()\nc = torch.rand(2)\ntorch.set_rng_state(k)\nreturn a, b, torch.rand(2, generator=g), c, torch.rand(2), g.initial_seed(), torch.initial_seed(), x")),
    ("loader_order", [["f 2"]], "from torch.utils.data import DataLoader, TensorDataset, random_split\nds = TensorDataset(torch.arange(10))\n" + model(
        "torch.manual_seed(0)\na = [b[0] for b in DataLoader(ds, batch_size=4, shuffle=True)]\nc = [b[0] for b in DataLoader(ds, batch_size=4, shuffle=True, generator=torch.Generator().manual_seed(1))]\n"
        "one, two = random_split(ds, [7, 3], generator=torch.Generator().manual_seed(42))\nreturn a, c, list(one.indices), list(two.indices), torch.rand(2), x")),
    ("sparse", [["f 4,4"]], model(
        "i = torch.tensor([[0, 1, 1, 1], [2, 0, 2, 2]])\ns = torch.sparse_coo_tensor(i, torch.tensor([3.0, 4.0, 5.0, 6.0]), (2, 4))\nadj = x.relu().to_sparse()\nw = x.clone().requires_grad_()\ntorch.spmm(adj, w).pow(2).sum().backward()\n"
        "v = x[0, :3].clone().requires_grad_()\ntorch.sparse.mm(torch.sparse_coo_tensor(torch.tensor([[0, 1, 3], [1, 2, 0]]), v, (4, 4)), x).pow(2).sum().backward()\n"
        "return s.to_dense(), torch.sparse.mm(s, x), s @ x, s.coalesce().indices(), s.coalesce().values(), s._nnz(), s.is_sparse, w.grad, v.grad, adj.t().to_dense(), (s * 2).to_dense()")),
    ("aten", [["f 2,3"]], model("a = torch.ops.aten\nreturn a.add(x, x), a.relu.default(x), a.mul.Tensor(x, 2), a.sum.dim_IntList(x, [1]), a.cat.default([x, x]), a.mm(x, x.t()), a.view.default(x, [-1])")),
    ("volumes", [["f 1,2,3,4,4"]], "c = nn.Conv3d(2, 3, 2, padding=1, stride=(1, 2, 1))\nt = nn.ConvTranspose3d(2, 3, 2, stride=2, padding=1, output_padding=1)\n" + model(
        "return c(x), t(x), nn.MaxPool3d(2, padding=1)(x), nn.AvgPool3d(2)(x), nn.AdaptiveAvgPool3d((1, 2, 2))(x), nn.AdaptiveMaxPool3d(1)(x), nn.BatchNorm3d(2)(x), F.interpolate(x, scale_factor=2)")),
    ("unpools", [["f 1,4,6"]], model("y, i = F.max_pool2d(x, 2, return_indices=True)\na, b = F.max_pool1d(x[0], 2, return_indices=True)\nreturn nn.MaxUnpool2d(2)(y, i), nn.MaxUnpool1d(2)(a, b)")),
    ("distribution_multivariate", [["f 2,2"]], "import torch.distributions as D\n" + model(
        "C = x @ x.T + torch.eye(2)\np = D.MultivariateNormal(x[0], C)\nq = D.MultivariateNormal(torch.zeros(2), scale_tril=torch.linalg.cholesky(C * 2))\nr = D.MultivariateNormal(x, precision_matrix=C)\nreturn p.log_prob(x), p.entropy(), D.kl_divergence(p, q), p.variance, r.log_prob(x), r.batch_shape, p.rsample((3,)).shape, q.covariance_matrix")),
    ("distribution_counts", [["f 2,2"]], "from torch.distributions import Gamma, Beta, Dirichlet, Poisson, Geometric, OneHotCategorical, kl_divergence as kl\n" + model(
        "a = x.abs() + 0.5\ng, b, d, p = Gamma(a, a + 1), Beta(a, a + 2), Dirichlet(a), Poisson(a)\nge, o = Geometric(torch.sigmoid(x)), OneHotCategorical(logits=x)\nreturn [g.log_prob(a), g.entropy(), g.mean, g.variance, b.log_prob(torch.sigmoid(x)), b.entropy(), b.mean, b.variance, d.log_prob(torch.softmax(x, -1)), d.entropy(), d.variance, p.log_prob(torch.tensor([1., 4.])), ge.log_prob(torch.tensor([0., 3.])), ge.entropy(), ge.mean, ge.variance, o.log_prob(torch.eye(2)), o.entropy(), o.variance, kl(g, Gamma(a + 1, a)), kl(b, Beta(a + 1, a)), kl(d, Dirichlet(a + 1)), kl(p, Poisson(a + 1)), kl(o, OneHotCategorical(logits=-x))]")),
    ("distribution_transformed", [["f 2,2"]], "from torch.distributions import HalfNormal, LogNormal, Gumbel, Cauchy, StudentT, Normal, Independent, TransformedDistribution, kl_divergence as kl\nfrom torch.distributions.transforms import TanhTransform, AffineTransform, ExpTransform, SigmoidTransform, ComposeTransform\n" + model(
        "s = x.abs() + 0.5\nh, l, g, c, t = HalfNormal(s), LogNormal(x, s), Gumbel(x, s), Cauchy(x, s), StudentT(s + 2, x, s)\ntd = TransformedDistribution(Independent(Normal(x, s), 1), [TanhTransform(cache_size=1), AffineTransform(0.5, 2.0)])\nte = TransformedDistribution(Normal(x, s), ExpTransform())\nts = TransformedDistribution(Normal(x, s), ComposeTransform([SigmoidTransform(), AffineTransform(-1, 3.0)]))\ny = torch.tanh(x * 0.2) * 2 + 0.5\nreturn [h.log_prob(s), h.entropy(), h.mean, h.variance, l.log_prob(s), l.entropy(), l.mean, l.variance, g.log_prob(x + 1), g.entropy(), g.mean, g.variance, c.log_prob(x * 2), c.entropy(), t.log_prob(x * 2), t.mean, t.variance, td.log_prob(y), te.log_prob(s), ts.log_prob(torch.sigmoid(x) * 3 - 1), kl(h, HalfNormal(s * 2)), kl(l, LogNormal(x + 1, s)), td.event_shape]")),
]


def cases():
    """Every program with its source and its inputs."""
    for name, calls, body in PROGRAMS:
        rng = random.Random(name)
        yield {"name": name, "source": IMPORTS + body, "inputs": [[value(v, rng) for v in call] for call in calls]}
