import torch


def model(x):
    y = x * 2
    print("a break", y.shape)
    if y.mean() > 0.1:
        y = torch.relu(y)
    return torch.softmax(y, -1)
