# torch.nn.utils: weight_norm and spectral_norm, which compute a weight before each forward.
import torch
import torch.nn.functional as F
from torch import nn


def _norm_except(v, dim):
    if dim is None or dim == -1:
        return v.norm()
    others = [d for d in range(v.dim()) if d != dim]
    return torch.sqrt((v * v).sum(others, keepdim=True)) if others else v.abs()


class _WeightNorm:
    def __init__(self, name, dim):
        self.name = name
        self.dim = dim

    def compute_weight(self, module):
        g = getattr(module, self.name + "_g")
        v = getattr(module, self.name + "_v")
        return v * (g / _norm_except(v, self.dim))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module))


def _take_parameter(module, name):
    weight = module._parameters[name]
    del module._parameters[name]
    return weight


def weight_norm(module, name="weight", dim=0):
    hook = _WeightNorm(name, -1 if dim is None else dim)
    weight = _take_parameter(module, name)
    module.register_parameter(name + "_g", nn.Parameter(_norm_except(weight, hook.dim).detach()))
    module.register_parameter(name + "_v", nn.Parameter(weight.detach()))
    setattr(module, name, hook.compute_weight(module))
    module.__dict__["_weight_norm_" + name] = (hook, module.register_forward_pre_hook(hook))
    return module


def remove_weight_norm(module, name="weight"):
    kept = module.__dict__.pop("_weight_norm_" + name, None)
    if kept is None:
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    hook, handle = kept
    weight = hook.compute_weight(module).detach()
    handle.remove()
    del module.__dict__[name]
    del module._parameters[name + "_g"]
    del module._parameters[name + "_v"]
    module.register_parameter(name, nn.Parameter(weight))
    return module


class _SpectralNorm:
    def __init__(self, name, n_power_iterations, dim, eps):
        self.name = name
        self.n_power_iterations = n_power_iterations
        self.dim = dim
        self.eps = eps

    def matrix(self, weight):
        if self.dim != 0:
            weight = weight.permute(self.dim, *[d for d in range(weight.dim()) if d != self.dim])
        return weight.reshape(weight.size(0), -1)

    def compute_weight(self, module, iterate):
        weight = getattr(module, self.name + "_orig")
        u = getattr(module, self.name + "_u")
        v = getattr(module, self.name + "_v")
        matrix = self.matrix(weight)
        if iterate:
            with torch.no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(torch.mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(torch.mv(matrix, v), dim=0, eps=self.eps))
                if self.n_power_iterations > 0:
                    u = u.clone()
                    v = v.clone()
        return weight / torch.dot(u, torch.mv(matrix, v))

    def __call__(self, module, inputs):
        setattr(module, self.name, self.compute_weight(module, module.training))


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    if dim is None:
        dim = 1 if isinstance(module, (nn.ConvTranspose1d, nn.ConvTranspose2d)) else 0
    hook = _SpectralNorm(name, n_power_iterations, dim, eps)
    weight = module._parameters[name]
    matrix = hook.matrix(weight.detach())
    u = F.normalize(weight.new_empty(matrix.size(0)).normal_(0, 1), dim=0, eps=eps)
    v = F.normalize(weight.new_empty(matrix.size(1)).normal_(0, 1), dim=0, eps=eps)
    del module._parameters[name]
    module.register_parameter(name + "_orig", weight)
    setattr(module, name, weight.detach())
    module.register_buffer(name + "_u", u)
    module.register_buffer(name + "_v", v)
    module.__dict__["_spectral_norm_" + name] = (hook, module.register_forward_pre_hook(hook))
    return module


def remove_spectral_norm(module, name="weight"):
    kept = module.__dict__.pop("_spectral_norm_" + name, None)
    if kept is None:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    hook, handle = kept
    weight = hook.compute_weight(module, False).detach()
    handle.remove()
    del module.__dict__[name]
    del module._buffers[name + "_u"]
    del module._buffers[name + "_v"]
    del module._parameters[name + "_orig"]
    module.register_parameter(name, nn.Parameter(weight))
    return module
