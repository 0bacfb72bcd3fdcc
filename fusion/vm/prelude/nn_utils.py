# torch.nn.utils.
import math
import torch


def _listed(parameters):
    return [parameters] if isinstance(parameters, torch.Tensor) else list(parameters)


def get_total_norm(tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None):
    tensors = _listed(tensors)
    norm_type = float(norm_type)
    if len(tensors) == 0:
        return torch.tensor(0.0)
    norms = torch.stack([torch.linalg.vector_norm(t, norm_type) for t in tensors])
    total = torch.linalg.vector_norm(norms, norm_type)
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise RuntimeError(
            f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, "
            "so it cannot be clipped. To disable this error and scale the gradients by the "
            "non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return total


# TorchDynamo ends the graph where these three group the gradients by device and dtype.
@torch._C._skip
def clip_grad_norm_(
    parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None
):
    with torch.no_grad():
        grads = [p.grad for p in _listed(parameters) if p.grad is not None]
        total = get_total_norm(grads, norm_type, error_if_nonfinite)
        scale = (max_norm / (total + 1e-6)).clamp(max=1.0)
        for g in grads:
            g.mul_(scale)
    return total


clip_grad_norm = clip_grad_norm_


@torch._C._skip
def clip_grad_value_(parameters, clip_value, foreach=None):
    with torch.no_grad():
        for p in _listed(parameters):
            if p.grad is not None:
                p.grad.clamp_(-clip_value, clip_value)


def parameters_to_vector(parameters):
    return torch.cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec, parameters):
    if not isinstance(vec, torch.Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {torch.typename(vec)}")
    at = 0
    for p in parameters:
        p.data = vec[at : at + p.numel()].view_as(p).data
        at += p.numel()


def skip_init(module_cls, *args, **kwargs):
    """A layer whose parameters nobody has drawn."""
    state = torch.get_rng_state()
    made = module_cls(*args, **kwargs)
    torch.set_rng_state(state)
    return made
