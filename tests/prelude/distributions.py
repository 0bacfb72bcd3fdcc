# Distributions: what they draw for a seed where the draws are PyTorch's, densities, distances.
import torch
from torch.distributions import Normal, Bernoulli, Categorical, Uniform, Laplace, Exponential, Independent, kl_divergence
import torch.distributions as D
def show(*xs):
    print(*[["%.4f" % v for v in x.reshape(-1).tolist()] if isinstance(x, torch.Tensor) else x for x in xs])
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
