# Devices as objects: what they print, what they equal, and `with torch.device(...)`.
import torch


def pick(device):
    if isinstance(device, str):
        return "text"
    return "device" if isinstance(device, torch.device) else "neither"


def case_objects():
    d = torch.device("cpu"); c = torch.device("cuda", 1); x = torch.zeros(2)
    print(d, repr(d), [d, c], f"{c} {c!r}", str(c), "cuda" in str(c), {"device": d})
    print(d.type, d.index, c.type, c.index, torch.device("cuda:0").index, type(d) is torch.device, type(d))
    print(d == torch.device("cpu"), d == "cpu", d != "cpu", c == torch.device("cuda:1"), c == torch.device("cuda"), x.device == d, {d: 1}[x.device], d in (torch.device("cpu"),), len({d, x.device}))
    print(pick(d), pick("cpu"), pick(x.device), pick(None), torch.device(d) == d, torch.device(x.device), repr(x.device))
    print(torch.zeros(2, device=d), x.to(d), x.to(d, torch.float64).dtype, torch.ones(1).to(x.device).device)


def case_default():
    print(torch.get_default_device())
    torch.set_default_device("cpu")
    print(torch.zeros(2).device, repr(torch.get_default_device()))
    with torch.device("cpu") as inside:
        print(repr(torch.nn.Linear(2, 2).weight.device), inside)
    try:
        with torch.device("cpu"):
            raise ValueError("out")
    except ValueError as e:
        print(e, torch.get_default_device())
    torch.set_default_device(None)


def model():
    case_objects()
    case_default()
