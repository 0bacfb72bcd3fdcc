import torch
from safetensors.torch import load_file

a, b = load_file("every.safetensors"), torch.load("net.pt")


def model(x):
    return [t.sum() for t in a.values() if t.dtype == torch.float32], list(b.values())[0], x + 1
