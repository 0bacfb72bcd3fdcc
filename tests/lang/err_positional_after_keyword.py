f(dim=1, x)
