# A number takes the first of a vector, as files of before PyTorch 0.4 have it.
import torch


def model():
    net = torch.nn.Linear(1, 1)
    net.scale = torch.nn.Parameter(torch.tensor(2.0))
    print(net.load_state_dict({"scale": torch.tensor([1.5, 9.0])}, strict=False), net.scale)
    try:
        net.load_state_dict({"scale": torch.ones(1, 2)}, strict=False)
    except RuntimeError as error:
        print(error)
