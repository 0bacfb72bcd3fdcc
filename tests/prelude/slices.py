# Distinct slices of tensors along a dim, tuples of places, and angles.
import numpy as np
import torch


def model():
    x = torch.tensor([[3, 1], [1, 2], [3, 1], [0, 9]])
    print(torch.unique(x, dim=0), torch.unique(x, dim=1))
    print(torch.unique(x.float(), dim=-1, return_inverse=True, return_counts=True))
    print(x.unique(dim=0, return_inverse=True, return_counts=True))
    print(torch.unique_consecutive(torch.tensor([[1, 1], [1, 1], [2, 0], [1, 1]]), dim=0, return_counts=True))
    y = torch.tensor([[[0, 1], [1, 1], [0, 1]], [[2, 3], [0, 0], [2, 3]]])
    print(torch.unique(y, dim=1, return_inverse=True), torch.unique(y.transpose(0, 2), dim=0))
    print(torch.unique(torch.tensor([3, 1, 3]), return_inverse=True), torch.unique(torch.zeros(0, 2), dim=0).shape)
    print(round(float(np.angle(1j)), 4), np.angle(np.array([1 + 1j, -2.0]), deg=True).round(3))
    z = torch.arange(24).reshape(2, 3, 4)
    print(z[:, (2, 0), :].tolist(), z[(1, 0), :, 1].tolist(), z[1, (0, 2)].tolist(), z[(1, 2)].tolist())
    z[:, (0, 1)] = 0
    print(z.sum())
