# Floats without a dtype, and the texts of tensors, by torch.set_default_dtype.
import torch
import torch.nn as nn
import torch.nn.functional as F
import math
def kinds(d):
    torch.set_default_dtype(d)
    net = nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4), nn.ReLU(), nn.Linear(4, 2), nn.PReLU())
    conv, emb, rnn, att = nn.Conv2d(1, 2, 3), nn.Embedding(4, 3), nn.LSTM(3, 2), nn.MultiheadAttention(4, 2)
    i = torch.arange(6)
    out = [torch.zeros(2), torch.ones(2), torch.empty(2), torch.full((2,), 1.5), torch.full((2,), 1), torch.rand(2), torch.randn(2), torch.eye(2), torch.linspace(0, 1, 3), torch.logspace(0, 1, 3), torch.arange(0, 1, 0.25), torch.arange(3), torch.arange(3.0), torch.tensor(1.5), torch.tensor([1, 2.0]), torch.tensor([1]), torch.tensor([]), torch.tensor(True), torch.Tensor([1, 2]), torch.Tensor(2, 3),
        i + 1.5, i / 2, i * 0.5, i.float() * 2.5, torch.sqrt(i), i.sin(), torch.exp(i), i + 1, (i > 2) * 1.0, torch.where(i > 2, 1.0, 0.0), torch.as_tensor(2.5), torch.as_tensor([1.5]), torch.normal(0.0, 1.0, (2,)), torch.randint(0, 3, (2,)), torch.randperm(3), torch.hann_window(4), torch.scalar_tensor(2.0), torch.zeros_like(i), torch.zeros(2, dtype=torch.float32) + 1.5, i.new_zeros(2), torch.zeros(2).new_tensor([1.0]), torch.bernoulli(torch.full((2,), 0.5)), torch.stack([torch.zeros(2), torch.ones(2)]), torch.cat([i, torch.zeros(2)]), torch.logsumexp(i, 0), F.one_hot(i), torch.outer(i, i * 1.0), i.std() if False else torch.mean(i * 1.0), torch.atan2(i, i + 1), torch.softmax(i * 1.0, 0), torch.distributions.Normal(0.0, 1.0).sample(), torch.distributions.Normal(torch.zeros(2), torch.ones(2)).rsample(), torch.tril(torch.ones(2, 2)), torch.polar(torch.ones(1), torch.ones(1)).real, torch.clamp(i, min=0.5), torch.pow(i, 0.5), torch.lerp(torch.zeros(2), torch.ones(2), 0.5), torch.addcmul(torch.zeros(2), torch.ones(2), torch.ones(2), value=0.5), i.true_divide(3), torch.reciprocal(i + 1), torch.sigmoid(i), torch.log(i + 1), i.eq(1), torch.finfo().bits if False else torch.tensor(torch.finfo().bits), torch.empty_like(i, dtype=None), torch.nn.init.xavier_uniform_(torch.empty(2, 2)), torch.cumsum(i * 1.0, 0), torch.rsqrt(i + 1), torch.nn.Parameter(torch.randn(2)), net(torch.rand(5, 3)), conv(torch.rand(1, 1, 4, 4)), emb(i[:2]), rnn(torch.rand(2, 3))[0], att(torch.rand(2, 1, 4), torch.rand(2, 1, 4), torch.rand(2, 1, 4))[0], F.dropout(torch.ones(3)), F.gumbel_softmax(torch.rand(2)), torch.meshgrid(torch.linspace(0, 1, 2), indexing="ij")[0], torch.complex(torch.ones(1), torch.ones(1)).real, torch.fft.fftfreq(4), torch.tensor(2.0) ** i]
    print(torch.get_default_dtype(), [str(t.dtype)[6:] for t in out], [str(p.dtype)[6:] for p in net.parameters()])
    x = torch.rand(5, 3, requires_grad=True)
    loss = net(x).pow(2).mean() + 0.5
    loss.backward()
    opt = torch.optim.Adam(net.parameters())
    opt.step()
    print(loss.dtype, x.grad.dtype, [str(p.grad.dtype)[6:] for p in net.parameters()], torch.tensor([1.5, 2]), torch.zeros(1), torch.ones(1, dtype=torch.float32), torch.ones(1, dtype=torch.float64), torch.tensor(math.pi), torch.tensor(math.pi).item())
    return (i * 0.5) + math.pi
def model():
    outs = [kinds(torch.float64), kinds(torch.float32), kinds(torch.float64)]
    print(outs)
    try: torch.set_default_dtype(torch.int64)
    except TypeError as e: print(e)
    torch.set_default_tensor_type(torch.DoubleTensor)
    print(torch.tensor(1.5), torch.tensor(1.5, dtype=torch.float32))
    torch.set_default_dtype(torch.float32)
