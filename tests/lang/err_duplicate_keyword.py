f(dim=1, keepdim=True, dim=2)
