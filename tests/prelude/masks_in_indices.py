# Masks beside other tensors of an index, read and written.
import torch

t = torch.arange(12.0).view(3, 4)
m = torch.tensor([True, False, True])
n = torch.tensor([True, False, True, True])
i = torch.tensor([0, 2])
short = torch.tensor([True, False])


def stored(shape, v, *index):
    a = torch.zeros(shape)
    a[index] = v
    return a.tolist()


def refused(f):
    try:
        return f()
    except IndexError as e:
        return str(e)


def model():
    print(t[m, 1].tolist(), t[m, i].tolist(), t[1, n].tolist(), t[m, 1:3].tolist(), t[m, i[:1]].tolist())
    print(t[m, n[:3].nonzero()[:, 0]].tolist(), t[i, m.nonzero()[:, 0]].tolist())
    print(stored((3, 4), 9, m, 1), stored((3, 4), 9.5, m, i), stored((3, 4), torch.tensor([7.0, 8.0]), m, i))
    print(stored((2, 3, 4), torch.arange(3.0), 1, m, slice(1, None)), stored((2, 3, 4), torch.arange(4.0), torch.tensor([1, 0]), m))
    print(stored((2, 3, 4), 3, torch.tensor([True, True]), slice(None), torch.tensor([1, 0])))
    print(stored((2, 3, 4), torch.arange(2.0), i[:1], m, torch.tensor([1, 3])), stored((3, 4), 1, m, None, 1))
    two = torch.tensor([[True, False, True], [False, False, False]])
    print(stored((2, 3, 4), 5, two, i), stored((4, 2, 3), 6, i, two), stored((2, 3, 4), torch.ones(2, 4), two))
    for f in (lambda: t[short], lambda: t[short, i], lambda: t[i, short], lambda: t.clone().__setitem__(short, 1)):
        print(refused(f))
    print(refused(lambda: torch.zeros(2, 3, 4)[i[:1], :, m]), refused(lambda: t[torch.zeros(3, 5, dtype=torch.bool)]))
    x = torch.arange(12.0).view(3, 4).requires_grad_()
    (x[m, i] * torch.tensor([2.0, 3.0])).sum().backward()
    print(x.grad.tolist())
