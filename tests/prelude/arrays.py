# Arrays of numpy and tensors together, what numpy prints, and modules that programs use beside them.
import gc
import statistics
from pprint import pprint

import numpy as np
import torch



def case_kinds():
    t = torch.ones(2)
    for v in (t.numpy(), t, np.ones(2), np.float32(1), [t], t.numpy()[0]):
        print(torch.is_tensor(v), isinstance(v, torch.Tensor), isinstance(v, np.ndarray))


def case_stored():
    a = torch.zeros(3, 2); b = torch.ones(1, 2, requires_grad=True)
    a[0] = b
    print(a.detach())
    a[0] += b[0]
    a[1] = torch.ones(1, 1, 2)
    c = torch.zeros(2, 3, 2); c[:, 1] = torch.arange(4.).view(1, 2, 2); c[torch.tensor([0, 1]), 2] = torch.ones(1, 1, 2)
    print(a.detach(), c)
    try:
        a[0] = torch.ones(2, 2)
    except RuntimeError as e: print("no")
    print(torch.tensor(range(3)), torch.LongTensor(range(2, 4)), torch.FloatTensor([range(2), (3, 4)]), torch.tensor((range(0))).shape)
    for layer in (torch.nn.Conv2d(1, 2, 3, padding=1), torch.nn.Conv2d(1, 4, 4, 2, 1), torch.nn.Conv2d(1, 1, 1, padding=2)):
        x = torch.randn(2, 1, 4, 4, requires_grad=True)
        g, = torch.autograd.grad(layer(x).tanh().sum(), x, create_graph=True)
        print(g.view(2, -1).shape, layer.weight.sum().item() != 0)


def case_printed():
    a = np.array([1.23456789, 1000000.5, 0.00001])
    print(a)
    np.set_printoptions(precision=3, suppress=True, linewidth=40)
    print(a, np.arange(20) * 1.5, np.array([1., 2.]))
    np.set_printoptions(precision=8, suppress=False, linewidth=75)
    print(a, repr(a))
    d = np.arange(10, dtype=np.uint16) % 7
    print(d.astype(np.int64), torch.from_numpy(d.astype(np.int64)), np.array([1, 2], dtype="u2") + 1)
    print(np.uint16(5), np.dtype(np.uint16).itemsize)


def case_indexed():
    print(statistics.mean([1, 2, 3]), statistics.mean([1, 2]), statistics.stdev([1, 2, 4]), statistics.median([3, 1, 2, 4]), statistics.mode([1, 1, 2]), statistics.pvariance([1., 2.]))
    print(gc.collect() >= 0); pprint({"a": [1, 2]})
    t = torch.arange(12.).view(3, 4); i = np.array([0, 2])
    print(t[i], t[:, i], t[i, np.array([1, 3])], t[np.array([True, False, True])])
    t[i] = 0.; t[:, np.array([1])] = 9
    print(t)


def model():
    case_kinds()
    case_printed()
    case_indexed()
    case_stored()
