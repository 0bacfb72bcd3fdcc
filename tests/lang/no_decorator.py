@torch.no_grad()
def model(x):
    return x
