# torch.nn.utils.prune: masks of parameters.
#
# A pruned parameter is kept as NAME_orig, its mask as the buffer NAME_mask, and NAME is their
# product, which a hook makes again before each call.
import torch
from torch import nn


def _is_number(amount):
    return isinstance(amount, (int, float)) and not isinstance(amount, bool)


def _check_amount(amount):
    if not _is_number(amount):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    if (isinstance(amount, int) and amount < 0) or (isinstance(amount, float) and not 0.0 <= amount <= 1.0):
        raise ValueError(f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer")


def _count(amount, size):
    """How many of `size` an amount is."""
    if isinstance(amount, float):
        return round(amount * size)
    if amount > size:
        raise ValueError(f"amount={amount} should be smaller than the number of parameters to prune={size}")
    return amount


def _check_structured(t):
    if t.dim() <= 1:
        raise ValueError(
            "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape "
            f"{t.shape} with {t.dim()} dims"
        )


def _check_dim(t, dim):
    if dim >= t.dim():
        raise IndexError(f"Invalid index {dim} for tensor of size {t.shape}")


def _at(t, dim, index):
    found = [slice(None)] * t.dim()
    found[dim] = index
    return tuple(found)


def _without(indices, mask):
    mask = mask.clone()
    mask.view(-1)[indices] = 0
    return mask


class BasePruningMethod:
    _tensor_name = None
    PRUNING_TYPE = None

    def __call__(self, module, inputs):
        setattr(module, self._tensor_name, self.apply_mask(module))

    def compute_mask(self, t, default_mask):
        raise NotImplementedError("a pruning method has to say compute_mask(t, default_mask)")

    def apply_mask(self, module):
        name = self._tensor_name
        assert name is not None, f"Module {module} has to be pruned"
        original = getattr(module, name + "_orig")
        return getattr(module, name + "_mask").to(dtype=original.dtype) * original

    @classmethod
    def apply(cls, module, name, *args, importance_scores=None, **kwargs):
        found = [
            (key, hook) for key, hook in module._forward_pre_hooks.items()
            if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
        ]
        assert len(found) <= 1, (
            f"Avoid having multiple pruning hooks on the same parameter {name} of module {module}. "
            "Use a PruningContainer."
        )
        method = cls(*args, **kwargs)
        method._tensor_name = name
        for key, old in found:
            del module._forward_pre_hooks[key]
            container = old if isinstance(old, PruningContainer) else PruningContainer(old)
            container.add_pruning_method(method)
            method = container
        original = getattr(module, name)
        if importance_scores is None:
            importance_scores = original
        assert importance_scores.shape == original.shape, (
            f"importance_scores should have the same shape as parameter                 {name} of {module}"
        )
        if not found:
            mask = torch.ones_like(original)
        else:
            mask = getattr(module, name + "_mask").detach().clone()
        mask = method.compute_mask(importance_scores, mask)
        if not found:
            delattr(module, name)
            module.register_parameter(name + "_orig", original)
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t, default_mask=None, importance_scores=None):
        if importance_scores is None:
            importance_scores = t
        assert importance_scores.shape == t.shape, "importance_scores should have the same shape as tensor t"
        mask = torch.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(importance_scores, default_mask=mask)

    def remove(self, module):
        name = self._tensor_name
        assert name is not None, f"Module {module} has to be pruned            before pruning can be removed"
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = getattr(module, name + "_orig")
        original.data = weight.data
        delattr(module, name + "_orig")
        delattr(module, name + "_mask")
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    def __init__(self, *args):
        self._pruning_methods = ()
        for method in args:
            if len(args) == 1:
                self._tensor_name = method._tensor_name
            self.add_pruning_method(method)

    def add_pruning_method(self, method):
        if method is not None and not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self):
        return len(self._pruning_methods)

    def __iter__(self):
        return iter(self._pruning_methods)

    def __getitem__(self, index):
        return self._pruning_methods[index]

    def compute_mask(self, t, default_mask):
        """What the last method leaves of what the others have left."""
        method = self._pruning_methods[-1]
        mask = default_mask.to(dtype=t.dtype).clone()
        if method.PRUNING_TYPE == "unstructured":
            at = mask == 1
        elif method.PRUNING_TYPE == "structured":
            dim = method.dim % t.dim()
            at = _at(t, dim, mask.sum(dim=[d for d in range(t.dim()) if d != dim]) != 0)
        elif method.PRUNING_TYPE == "global":
            at = _at(t, 0, slice(None))
        else:
            raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
        mask[at] = method.compute_mask(t[at], default_mask[at]).to(mask.dtype)
        return mask


class Identity(BasePruningMethod):
    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        return default_mask


class RandomUnstructured(BasePruningMethod):
    PRUNING_TYPE = "unstructured"

    def __init__(self, amount):
        _check_amount(amount)
        self.amount = amount

    def compute_mask(self, t, default_mask):
        n = _count(self.amount, t.nelement())
        if n == 0:
            return default_mask.clone()
        return _without(torch.topk(torch.rand_like(t).view(-1), k=n).indices, default_mask)


class L1Unstructured(RandomUnstructured):
    def compute_mask(self, t, default_mask):
        n = _count(self.amount, t.nelement())
        if n == 0:
            return default_mask.clone()
        return _without(torch.topk(torch.abs(t).view(-1), k=n, largest=False).indices, default_mask)


class RandomStructured(BasePruningMethod):
    PRUNING_TYPE = "structured"

    def __init__(self, amount, dim=-1):
        _check_amount(amount)
        self.amount, self.dim = amount, dim

    def _kept(self, t, n):
        drawn = torch.rand(t.shape[self.dim])
        return drawn > torch.kthvalue(drawn, k=n).values

    def compute_mask(self, t, default_mask):
        _check_structured(t)
        _check_dim(t, self.dim)
        n = _count(self.amount, t.shape[self.dim])
        if n == 0:
            return default_mask
        mask = torch.zeros_like(t)
        mask[_at(t, self.dim, self._kept(t, n))] = 1
        return mask * default_mask.to(dtype=mask.dtype)


class LnStructured(RandomStructured):
    def __init__(self, amount, n, dim=-1):
        super().__init__(amount, dim)
        self.n = n

    def _kept(self, t, n):
        others = [d for d in range(t.dim()) if d != self.dim % t.dim()]
        norms = torch.norm(t, p=self.n, dim=others)
        return torch.topk(norms, k=t.shape[self.dim] - n, largest=True).indices


class CustomFromMask(BasePruningMethod):
    PRUNING_TYPE = "global"

    def __init__(self, mask):
        self.mask = mask

    def compute_mask(self, t, default_mask):
        assert default_mask.shape == self.mask.shape
        return default_mask * self.mask.to(dtype=default_mask.dtype)


def identity(module, name):
    Identity.apply(module, name)
    return module


def random_unstructured(module, name, amount):
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(module, name, amount, importance_scores=None):
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module, name, amount, dim):
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(module, name, amount, n, dim, importance_scores=None):
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module, name, mask):
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(parameters, pruning_method, importance_scores=None, **kwargs):
    parameters = list(parameters)
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    given = [scores.get((module, name), getattr(module, name)) for module, name in parameters]
    masks = [getattr(module, name + "_mask", torch.ones_like(getattr(module, name))) for module, name in parameters]
    method = pruning_method(**kwargs)
    container = PruningContainer()
    container._tensor_name = method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for '
            f"the `pruning_method`. Found method {pruning_method} of type {method.PRUNING_TYPE}"
        )
    container.add_pruning_method(method)
    mask = container.compute_mask(torch.cat([t.reshape(-1) for t in given]), torch.cat([t.reshape(-1) for t in masks]))
    at = 0
    for module, name in parameters:
        parameter = getattr(module, name)
        custom_from_mask(module, name, mask=mask[at : at + parameter.numel()].view_as(parameter))
        at += parameter.numel()


def remove(module, name):
    for key, hook in list(module._forward_pre_hooks.items()):
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            hook.remove(module)
            del module._forward_pre_hooks[key]
            return module
    raise ValueError(f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed")


def is_pruned(module):
    return any([
        isinstance(hook, BasePruningMethod)
        for _, part in module.named_modules()
        for hook in part._forward_pre_hooks.values()
    ])
