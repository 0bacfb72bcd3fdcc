# torch.autograd.forward_ad: dual tensors, whose tangents are found by deriving twice backwards.
from collections import namedtuple

import torch

UnpackedDualTensor = namedtuple("UnpackedDualTensor", ["primal", "tangent"])
_levels = []


class dual_level:
    def __enter__(self):
        return enter_dual_level()

    def __exit__(self, kind, error, trace):
        exit_dual_level()
        return False


def enter_dual_level():
    if _levels:
        raise RuntimeError("Nested forward mode AD is not supported at the moment")
    _levels.append([])
    return 0


def exit_dual_level(*, level=None):
    if not _levels:
        raise RuntimeError("Trying to exit a forward AD level that was not active")
    _levels.pop()


def make_dual(tensor, tangent, *, level=None):
    if not _levels:
        raise RuntimeError("Trying to create a dual Tensor for forward AD but no level exists, make sure to enter_dual_level() first.")
    if not tensor.dtype.is_floating_point:
        raise ValueError(f"Expected primal to be floating point or complex, but got: {tensor.dtype}")
    if tuple(tensor.shape) != tuple(tangent.shape):
        raise RuntimeError(
            f"Expected both primal and tangent to have the same shape, but got {tuple(tensor.shape)} and {tuple(tangent.shape)}"
        )
    with torch.enable_grad():
        made = tensor.view_as(tensor) if tensor.requires_grad else tensor.detach().requires_grad_()
    _levels[-1].append((made, tangent))
    return made


def unpack_dual(tensor, *, level=None):
    if not _levels or not tensor.requires_grad or not _levels[-1]:
        return UnpackedDualTensor(tensor, None)
    for dual, tangent in _levels[-1]:
        if dual is tensor:
            return UnpackedDualTensor(tensor.detach(), tangent)
    with torch.enable_grad():
        around = torch.zeros_like(tensor, requires_grad=True)
        duals = [dual for dual, _ in _levels[-1]]
        first = torch.autograd.grad([tensor], duals, [around], create_graph=True, allow_unused=True)
        ways = [(g, t) for g, (_, t) in zip(first, _levels[-1]) if g is not None]
        if not ways:
            return UnpackedDualTensor(tensor.detach(), None)
        ways = [(g, t) for g, t in ways if g.requires_grad]
        made = None
        if ways:
            (made,) = torch.autograd.grad(
                [g for g, _ in ways], [around], [t for _, t in ways], allow_unused=True, retain_graph=True
            )
    return UnpackedDualTensor(tensor.detach(), torch.zeros_like(tensor) if made is None else made.detach())
