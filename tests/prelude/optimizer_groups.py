# The groups of an optimizer are the dicts that the program gave, filled up; until a state is loaded.
import torch
from torch import nn


def names(group):
    return sorted(group)


def refused(f):
    try:
        f()
    except (TypeError, ValueError) as e:
        return str(e)


def model():
    p, q, r = [nn.Parameter(torch.ones(n)) for n in (2, 3, 4)]
    first, second = {"params": [p], "lr": 0.5, "name": "a"}, {"params": q}
    opt = torch.optim.SGD([first, second], lr=0.1)
    added = {"params": (r,), "lr": 0.3}
    opt.add_param_group(added)
    print([a is b for a, b in zip(opt.param_groups, (first, second, added))])
    print(second["lr"], type(second["params"]), type(added["params"]), names(first))
    second["lr"] = 2.0
    q.grad = torch.ones(3)
    opt.step()
    print(q.tolist(), opt)
    kept = opt.state_dict()
    kept["param_groups"][1]["lr"] = 7.0
    opt.load_state_dict(kept)
    print([a is b for a, b in zip(opt.param_groups, (first, second, added))], second["lr"], opt.param_groups[1]["lr"])
    print(opt.param_groups[0]["params"][0] is p, names(opt.param_groups[2]))
    print(refused(lambda: opt.add_param_group([r])), refused(lambda: torch.optim.Adam([{"params": {p, q}}])))
    print(refused(lambda: torch.optim.SGD([p]).load_state_dict(kept)))
    kept["param_groups"][0]["params"] = [0, 5]
    print(refused(lambda: opt.load_state_dict(kept)))
    for kind in (torch.optim.Adam, torch.optim.AdamW, torch.optim.RMSprop, torch.optim.Adagrad):
        print(kind([p], foreach=False).param_groups[0])
