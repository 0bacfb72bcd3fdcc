# input: x=float32[8,8]
import torch


def model(x):
    print(f"{x.sum():.3f}", x[0])
    try:
        x.view(3, 7)
    except RuntimeError as error:
        print("caught:", error)
    return torch.nn.functional.layer_norm(x @ x.t(), (8,))
