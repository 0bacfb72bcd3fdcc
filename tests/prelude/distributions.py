# Distributions: what they draw for a seed where the draws are PyTorch's, densities, distances.
import torch
from torch.distributions import Normal, Bernoulli, Categorical, Uniform, Laplace, Exponential, Independent, kl_divergence
import torch.distributions as D
def show(*xs):
    print(*[["%.4f" % v for v in x.reshape(-1).tolist()] if isinstance(x, torch.Tensor) else x for x in xs])
def all_of():
    p = torch.tensor([.3, .6]); q = torch.tensor([2., 5.]); v = torch.tensor([.4, .7])
    return [Normal(p, q), Uniform(p, q), Bernoulli(p), Bernoulli(logits=q), Categorical(torch.tensor([[.2, .8], [.5, .5]])), Categorical(logits=q), Laplace(p, q), Exponential(q), Independent(Normal(p, q), 1),
            D.MultivariateNormal(p, torch.eye(2) * 3), D.Gamma(q, p), D.Gamma(p, q), D.Chi2(q), D.Dirichlet(q), D.Dirichlet(p), D.Beta(q, q + 1), D.Poisson(q), D.Geometric(p), D.OneHotCategorical(p), D.HalfNormal(q),
            D.LogNormal(p, p), D.Gumbel(p, q), D.Cauchy(p, q), D.StudentT(q, p, q), D.Binomial(3, p), D.NegativeBinomial(q, p), D.HalfCauchy(q), D.InverseGamma(q + 2, p), D.Pareto(p, q), D.Weibull(p, q), D.Kumaraswamy(q, q + 1), D.FisherSnedecor(q, q + 3),
            D.TransformedDistribution(Normal(p, q), [D.AffineTransform(1., -2.), D.SigmoidTransform()]), D.TransformedDistribution(Normal(0., 1.), D.TanhTransform()), D.TransformedDistribution(D.Exponential(q), [D.PowerTransform(torch.tensor(2.))]), D.LogisticNormal(p, q)]


def methods():
    v = torch.tensor([.4, .7])
    for d in all_of():
        found = [type(d).__name__, tuple(d.batch_shape), tuple(d.event_shape), tuple(d.sample((3,)).shape)]
        for name in ("mean", "mode", "variance"):
            try: found.append(getattr(d, name).clone())
            except NotImplementedError: found.append("no " + name)
        for name in ("cdf", "icdf") if type(d).__name__ not in ("LogisticNormal", "Gamma", "Chi2", "InverseGamma") else ():
            try: found.append(getattr(d, name)(v))
            except NotImplementedError: found.append("no " + name)
        try: found += [d.entropy(), tuple(d.enumerate_support().shape)]
        except NotImplementedError: pass
        inside = {"Dirichlet": torch.tensor([.4, .6]), "OneHotCategorical": torch.tensor([0., 1.]), "Categorical": torch.tensor([1]), "LogisticNormal": torch.tensor([.2, .5, .3]), "Uniform": torch.tensor([.8, .9])}
        whole = type(d).__name__ in ("Bernoulli", "Poisson", "Geometric", "Binomial", "NegativeBinomial")
        show(*found, d.log_prob(torch.tensor([1., 0.]) if whole else inside.get(type(d).__name__, v)))
        if type(d).__name__ not in ("TransformedDistribution", "LogisticNormal"):
            wide = d.expand(torch.Size((3,)) + d.batch_shape)
            print(tuple(wide.batch_shape), tuple(wide.event_shape), tuple(wide.sample().shape))
    for t in (D.transforms.SoftplusTransform(), D.transforms.AbsTransform(), D.transforms.SoftmaxTransform(), D.transforms.StickBreakingTransform(), D.transforms.ReshapeTransform((2,), (1, 2)), D.transforms.PowerTransform(2.), D.transforms.ExpTransform().inv.inv):
        y = t(v)
        show(y, t.inv(y))
        try: show(t.log_abs_det_jacobian(v, y))
        except NotImplementedError: pass


def model():
    torch.manual_seed(0)
    n = Normal(torch.tensor([0., 1.]), torch.tensor([1., 2.]))
    show(n.sample((2,)), n.rsample(), n.log_prob(torch.ones(2)), n.entropy(), n.mean, n.variance, n.stddev, n.cdf(torch.ones(2)), n.icdf(torch.tensor(.3)), n.batch_shape, n.event_shape)
    u = Uniform(-1.0, 3.0)
    show(u.sample((3,)), u.log_prob(torch.tensor(1.)), u.entropy(), u.mean, u.cdf(torch.tensor(0.)))
    b = Bernoulli(probs=torch.tensor([.2, .7])); b2 = Bernoulli(logits=torch.tensor([.2, .7]))
    show(b.log_prob(torch.tensor([1., 0.])), b.entropy(), b.mean, b2.log_prob(torch.tensor([1., 0.])), kl_divergence(b, b2))
    c = Categorical(probs=torch.tensor([[.2, .8], [.5, .5]])); c2 = Categorical(logits=torch.tensor([[1., 2.], [0., 3.]]))
    show(c.log_prob(torch.tensor([0, 1])), c2.entropy(), c.probs, kl_divergence(c, c2), c.sample().shape, c.sample((3,)).shape, c2.mode)
    l = Laplace(0.0, 2.0); e = Exponential(torch.tensor([1., 3.]))
    show(l.log_prob(torch.tensor(1.)), l.entropy(), e.log_prob(torch.ones(2)), e.entropy(), e.mean, kl_divergence(e, Exponential(2.0)))
    i = Independent(n, 1)
    show(i.log_prob(torch.ones(2)), i.entropy(), i.batch_shape, i.event_shape, kl_divergence(n, Normal(0.0, 1.0)), kl_divergence(i, i))
    print(n, l, Categorical(probs=torch.ones(2, 3)), Bernoulli(logits=torch.ones(2)))
    for f in (lambda: Normal(0.0, -1.0, validate_args=True), lambda: Bernoulli(torch.tensor([1.5]), validate_args=True), lambda: Categorical(), lambda: kl_divergence(n, c)):
        try: f()
        except Exception as e: print(type(e).__name__, e)
    methods()
