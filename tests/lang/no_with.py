with torch.no_grad(), open(x) as f:
    y = 1
