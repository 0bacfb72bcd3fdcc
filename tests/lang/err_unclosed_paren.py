def model(x):
    y = torch.sin(x
    z = y + 1
    return z
