# torch.nn.utils.parametrize and parametrizations: a parameter that modules compute from others.
import torch
import torch.nn.functional as F
from torch import nn


class ParametrizationList(nn.ModuleList):
    def __init__(self, modules, original, unsafe=False):
        super().__init__(modules)
        self._parts = 0
        given = original
        for module in reversed(list(self)):
            if hasattr(module, "right_inverse"):
                with torch.no_grad():
                    original = module.right_inverse(original)
        if isinstance(original, torch.Tensor) and original.dtype != given.dtype:
            raise ValueError(
                f"When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                f"original.dtype: {given.dtype}\nright_inverse(original).dtype: {original.dtype}"
            )
        if not isinstance(original, (torch.Tensor, tuple, list)) or any([not isinstance(part, torch.Tensor) for part in original]):
            raise ValueError(f"'right_inverse' must return a Tensor or a Sequence of tensors. Got {type(original).__name__}")
        if isinstance(original, torch.Tensor):
            self._keep(given, original)
        else:
            self._parts = len(original)
            for i, part in enumerate(original):
                setattr(self, f"original{i}", nn.Parameter(part.detach()))
        if not unsafe:
            _check(self(), given.shape, given.dtype)

    def _keep(self, given, original):
        """The parameter itself, which optimizers may know, or the buffer, with what it is made from."""
        with torch.no_grad():
            if original is not given:
                given.data = original.detach()
        if isinstance(given, nn.Parameter):
            self.original = given
        else:
            self.register_buffer("original", given)

    def forward(self):
        modules = list(self)
        if self._parts:
            value = modules[0](*[getattr(self, f"original{i}") for i in range(self._parts)])
        else:
            value = modules[0](self.original)
        for module in modules[1:]:
            value = module(value)
        return value


def _check(value, shape, dtype):
    """What a parameter becomes is of its kind; to ask computes it once, as PyTorch does."""
    if not isinstance(value, torch.Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {type(value).__name__}.")
    for what, had, has in (("dtype", dtype, value.dtype), ("shape", shape, value.shape)):
        if had != has:
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag is enabled.\n"
                f"unparametrized {what}: {had}\n"
                f"parametrized {what}: {has}"
            )


def register_parametrization(module, tensor_name, parametrization, *, unsafe=False):
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            value = getattr(module, tensor_name)
            _check(parametrization(value), value.shape, value.dtype)
            if hasattr(parametrization, "right_inverse"):
                inverse = parametrization.right_inverse(value)
                if not isinstance(inverse, torch.Tensor):
                    raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {type(inverse).__name__}")
                for what, had, has in (("dtype", value.dtype, inverse.dtype), ("shape", value.shape, inverse.shape)):
                    if had != has:
                        raise ValueError(
                            f"The tensor returned by parametrization.right_inverse must have the same {what} as module.{tensor_name}.\n"
                            f"module.{tensor_name}.{what}: {had}\nreturned {what}: {has}"
                        )
        module.parametrizations[tensor_name].append(parametrization)
        return module
    original = getattr(module, tensor_name, None)
    if not isinstance(original, torch.Tensor):
        raise ValueError(
            f"Module '{type(module).__name__}()' does not have a parameter, a buffer, or a parametrized "
            f"element with name '{tensor_name}'"
        )
    delattr(module, tensor_name)
    if not is_parametrized(module):
        module.parametrizations = nn.ModuleDict()
    module.parametrizations[tensor_name] = ParametrizationList([parametrization], original, unsafe)
    return module


def is_parametrized(module, tensor_name=None):
    found = vars(module).get("parametrizations")
    if found is None or len(found) == 0:
        return False
    return tensor_name is None or tensor_name in found


def remove_parametrizations(module, tensor_name, leave_parametrized=True):
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    kept = module.parametrizations[tensor_name]
    if leave_parametrized:
        value = kept().detach()
    elif kept._parts:
        raise ValueError("Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a sequence of tensors.")
    else:
        value = kept.original.detach()
    del module.parametrizations[tensor_name]
    if len(module.parametrizations) == 0:
        del module.parametrizations
    module.register_parameter(tensor_name, nn.Parameter(value))
    return module


class cached:
    # Values are computed again at each use, which gives the same ones.
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return False


def type_before_parametrizations(module):
    return type(module)


class _WeightNorm(nn.Module):
    def __init__(self, dim=0):
        super().__init__()
        self.dim = -1 if dim is None else dim

    def _norm(self, v):
        if self.dim == -1:
            return v.norm()
        others = [d for d in range(v.dim()) if d != self.dim]
        return torch.sqrt((v * v).sum(others, keepdim=True)) if others else v.abs()

    def forward(self, weight_g, weight_v):
        return weight_v * (weight_g / self._norm(weight_v))

    def right_inverse(self, weight):
        return self._norm(weight), weight


def weight_norm(module, name="weight", dim=0):
    return register_parametrization(module, name, _WeightNorm(dim), unsafe=True)


class _SpectralNorm(nn.Module):
    def __init__(self, weight, n_power_iterations=1, dim=0, eps=1e-12):
        super().__init__()
        self.dim = dim if dim >= 0 else dim + weight.ndim
        self.n_power_iterations = n_power_iterations
        self.eps = eps
        if weight.ndim > 1:
            matrix = self._matrix(weight)
            u = matrix.new_empty(matrix.size(0)).normal_(0, 1)
            v = matrix.new_empty(matrix.size(1)).normal_(0, 1)
            self.register_buffer("_u", F.normalize(u, dim=0, eps=eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=eps))
            self._iterate(matrix, 15)

    def _matrix(self, weight):
        if self.dim != 0:
            weight = weight.permute(self.dim, *[d for d in range(weight.dim()) if d != self.dim])
        return weight.flatten(1)

    def _iterate(self, matrix, n):
        with torch.no_grad():
            for _ in range(n):
                self._u.copy_(F.normalize(torch.mv(matrix, self._v), dim=0, eps=self.eps))
                self._v.copy_(F.normalize(torch.mv(matrix.t(), self._u), dim=0, eps=self.eps))

    def forward(self, weight):
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._matrix(weight)
        if self.training:
            self._iterate(matrix, self.n_power_iterations)
        u = self._u.clone()
        v = self._v.clone()
        return weight / torch.dot(u, torch.mv(matrix, v))

    def right_inverse(self, value):
        return value


def spectral_norm(module, name="weight", n_power_iterations=1, eps=1e-12, dim=None):
    weight = getattr(module, name)
    if dim is None:
        dim = 1 if isinstance(module, (nn.ConvTranspose1d, nn.ConvTranspose2d)) else 0
    made = _SpectralNorm(weight.detach(), n_power_iterations, dim, eps)
    return register_parametrization(module, name, made)
