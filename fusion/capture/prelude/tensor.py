# Methods of tensors that are easiest to say in Python; the first parameter is the tensor.
import torch


def _fill(tensor, values):
    return tensor.copy_(values)


def normal_(self, mean=0.0, std=1.0, *, generator=None):
    return _fill(self, torch.randn(self.shape) * std + mean)


def uniform_(self, a=0.0, b=1.0, *, generator=None, **bounds):
    a, b = bounds.get("from", a), bounds.get("to", b)
    # The bounds in float32, one rounding for both steps, as PyTorch's.
    a, b = torch.tensor(a, dtype=torch.float32).item(), torch.tensor(b, dtype=torch.float32).item()
    return _fill(self, (torch.rand(self.shape).double() * (b - a) + a).float())


def bernoulli_(self, p=0.5, *, generator=None):
    return _fill(self, torch.rand(self.shape) < p)


def exponential_(self, lambd=1.0, *, generator=None):
    return _fill(self, -torch.log1p(-torch.rand(self.shape)) / lambd)


def bernoulli(self, p=None, *, generator=None):
    return torch.bernoulli(self if p is None else torch.full_like(self, p))


def multinomial(self, num_samples, replacement=False, *, generator=None):
    return torch.multinomial(self, num_samples, replacement)


def share_memory_(self):
    return self


def pin_memory(self):
    return self


def is_shared(self):
    return False


def get_device(self):
    return -1


class _Handle:
    def __init__(self, hooks, hook):
        self.hooks = hooks
        self.hook = hook

    def remove(self):
        if self.hook in self.hooks:
            self.hooks.remove(self.hook)


def _hook(hooks, hook):
    hooks.append(hook)
    return _Handle(hooks, hook)


def register_hook(self, hook):
    return _hook(torch._C._hooks(self), hook)


def register_post_accumulate_grad_hook(self, hook):
    return _hook(torch._C._hooks(self, True), hook)
