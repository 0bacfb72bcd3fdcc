# Draws that are made of gamma's are PyTorch's for a seed, and so are their gradients, to the digits that its own series have.
import torch
import torch.distributions as D
def few(t):
    return ["%.1e" % v for v in t.reshape(-1).tolist()]
def model():
    torch.manual_seed(1)
    rows = ((D.Gamma, [.3, 1., 2.5, 9., 40.], [1., 2., 3., .5, 1.]), (D.Beta, [.4, 1., 3., 20., 2.], [2., .5, 3., 4., 2.]), (D.Chi2, [1., 2., 3., 4., 50.]), (D.StudentT, [2., 3., 9.], [0., 1., 2.]), (D.FisherSnedecor, [2., 3., 5.], [3., 4., 9.]), (D.InverseGamma, [2., 3., 5.], [3., 4., 9.]))
    for kind, *ps in rows:
        ps = [torch.tensor(p, requires_grad=True) for p in ps]
        v = kind(*ps).rsample((2,))
        (v * v.detach()).sum().backward()
        print(kind.__name__, v.detach(), [few(p.grad) for p in ps], kind(*ps).has_rsample, torch.rand(1))
    a = torch.tensor([[.5, 1., 3.], [4., 4., 20.]], requires_grad=True)
    v = D.Dirichlet(a).rsample((3,))
    (v**2).sum().backward()
    print(v.detach(), few(a.grad), torch.rand(1))
    wide = torch.tensor([.2, 2.], dtype=torch.float64, requires_grad=True)
    v = D.Gamma(wide, 2.).rsample()
    v.sum().backward()
    print(v.detach(), few(wide.grad), D.Dirichlet(wide.detach()).sample((2,)), D.NegativeBinomial(3., torch.tensor([.3, .6])).sample((2,)))
