# torch.set_printoptions: every option, and what a later call leaves of an earlier one.
import math

import torch


def model():
    torch.set_printoptions(precision=6)
    print(torch.tensor([1.12345678, 2]), torch.tensor([1e-9, 1.0]))
    torch.set_printoptions(precision=2)
    print(torch.tensor([1.12345, 2]), torch.arange(2000.0), torch.tensor(math.pi), torch.eye(2) / 3)
    torch.set_printoptions(threshold=5, edgeitems=2)
    print(torch.arange(40).reshape(4, 10), torch.arange(6.0) / 7)
    torch.set_printoptions(profile="default", sci_mode=False)
    print(torch.tensor([1e-5, 1, 12345.678]), torch.tensor([1e-7]), torch.tensor([1e10, 2e10]), torch.zeros(2))
    torch.set_printoptions(sci_mode=True)
    print(torch.tensor([1.0, 2]), torch.tensor([0.5, 2], dtype=torch.float64), torch.zeros(2), torch.arange(3))
    torch.set_printoptions(profile="short", linewidth=30)
    print(torch.arange(20.0) / 3, torch.ones(3, dtype=torch.float64))
    torch.set_printoptions(profile="full")
    print(torch.arange(1003)[-4:], f"{torch.tensor([0.5, 1e-8])}")
    torch.set_printoptions(profile="default", threshold=float("inf"), linewidth=120)
    print(torch.arange(30.0) * 1.5, torch.tensor([1.5], requires_grad=True))
    torch.set_printoptions(profile="default")
    print(torch.tensor([1.0, 2.5]))
