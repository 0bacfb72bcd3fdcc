# What published programs use beside tensors: hashes, tracebacks, pools, projections, events, dual numbers.
import concurrent.futures
import hashlib
import traceback
from concurrent.futures import ThreadPoolExecutor, as_completed

import torch
import torch.nn as nn
import torch.autograd.forward_ad as fwAD


def model():
    print(hashlib.md5(b"abc").hexdigest(), hashlib.md5(b"").hexdigest())
    print(hashlib.sha1("a longer text of more than one block, for sixty-four bytes are one".encode()).hexdigest())
    h = hashlib.sha256()
    h.update(b"abc")
    h.update(b"d" * 100)
    print(h.hexdigest(), h.digest_size, int(h.hexdigest()[:8], 16) % 1000, h.digest()[:4])
    print(hashlib.new("sha256", b"").hexdigest()[:16], h.copy().hexdigest() == h.hexdigest())
    try:
        [][1]
    except Exception as error:
        print(traceback.format_exc().splitlines()[0], traceback.format_exc().splitlines()[-1])
        print(traceback.format_exception_only(type(error), error))
        traceback.print_exc()
    with ThreadPoolExecutor(max_workers=2) as pool:
        print(list(pool.map(lambda x: x * 2, [1, 2, 3])), pool.submit(max, 1, 5).result())
        print(sorted([f.result() for f in as_completed([pool.submit(pow, 2, n) for n in range(3)])]))
        print(type(pool.submit(lambda: 1 / 0).exception()).__name__)
    recurrent()
    events()
    duals()


def recurrent():
    torch.manual_seed(0)
    m = nn.LSTM(4, 6, 2, proj_size=3, bidirectional=True, batch_first=True)
    print(m, [tuple(p.shape) for p in m.parameters()], list(m.state_dict())[:6])
    x = torch.randn(2, 5, 4)
    out, (h, c) = m(x)
    print(out.shape, h.shape, c.shape)
    out.square().sum().backward()
    print([round(p.grad.double().abs().sum().item(), 3) for p in m.parameters()][:5], round(out.sum().item(), 4))
    out, (h, c) = m(x, (torch.ones(4, 2, 3), torch.ones(4, 2, 6)))
    packed = nn.utils.rnn.pack_padded_sequence(x, torch.tensor([5, 3]), batch_first=True)
    print(round(out.sum().item(), 4), round(m(packed)[0].data.sum().item(), 4))
    for wrong in (lambda: nn.GRU(4, 6, proj_size=3), lambda: nn.LSTM(4, 6, proj_size=6)):
        try:
            wrong()
        except (ValueError, TypeError) as error:
            print(error)


def events():
    torch.manual_seed(0)
    print(torch.poisson(torch.tensor([0.0, 1.0, 5.0, 20.0, 300.0])), torch.poisson(torch.full((2, 3), 4.0)))
    print(torch.poisson(torch.tensor([9.0, 11.0]), generator=torch.Generator().manual_seed(3)))
    print(torch.distributions.Poisson(torch.tensor([2.0, 30.0])).sample((2,)), torch.rand(1))


def duals():
    x = torch.tensor([1.0, 2.0])
    with fwAD.dual_level():
        d = fwAD.make_dual(x, torch.tensor([1.0, 0.5]))
        y = (d * d).sin() + 3 * d.sum()
        primal, tangent = fwAD.unpack_dual(y)
        print(primal, tangent, fwAD.unpack_dual(d).tangent, fwAD.unpack_dual(2 * d).tangent)
        print(fwAD.unpack_dual(x.cos()).tangent)
    f = lambda a: (a * a).sin() + 3 * a.sum()
    print(torch.func.jvp(f, (x,), (torch.tensor([1.0, 0.5]),)))
