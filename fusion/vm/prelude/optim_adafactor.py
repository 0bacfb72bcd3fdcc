# torch.optim: optimisers that keep less, or step fewer rows, than Adam.
import torch
from torch.optim import Optimizer


def _at_least_zero(name, value):
    if not 0.0 <= value:
        raise ValueError(f"{name} should be >= 0 but is: {value}")


class Adafactor(Optimizer):
    def __init__(
        self,
        params,
        lr=0.01,
        beta2_decay=-0.8,
        eps=(None, 0.001),
        d=1.0,
        weight_decay=0.0,
        *,
        foreach=None,
        maximize=False,
    ):
        _at_least_zero("Learning rate", lr)
        if not 0.0 >= beta2_decay:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None:
            _at_least_zero("epsilon1", eps[0])
        _at_least_zero("epsilon2", eps[1])
        if not 1.0 <= d:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        _at_least_zero("weight_decay", weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "beta2_decay": beta2_decay,
                "eps": eps,
                "d": d,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
            },
        )

    def _begin(self, p, group):
        made = {"step": torch.tensor(0.0)}
        if p.dim() > 1:
            made["row_var"] = torch.zeros_like(p[..., :1])
            made["col_var"] = torch.zeros_like(p[..., :1, :])
        else:
            made["variance"] = torch.zeros_like(p)
        return made

    def _update(self, p, grad, group, state):
        state["step"] += 1
        step, (least, share) = state["step"].item(), group["eps"]
        least = torch.finfo(p.dtype).eps if least is None else least
        new = step ** group["beta2_decay"]
        alpha = max(share, p.norm(2).item() / p.numel() ** 0.5) * min(group["lr"], 1 / step**0.5)
        if group["weight_decay"] != 0:
            p.mul_(1 - group["lr"] * group["weight_decay"])
        if grad.dim() > 1:
            rows, columns = state["row_var"], state["col_var"]
            rows.lerp_(grad.norm(2, -1, True).square() / grad.shape[-1], new)
            columns.lerp_(grad.norm(2, -2, True).square() / grad.shape[-2], new)
            variance = (rows @ columns) / rows.mean(-2, True).clamp(min=least)
        else:
            state["variance"].lerp_(grad.square(), new)
            variance = state["variance"]
        update = variance.clamp(min=least * least).rsqrt() * grad
        much = max(1.0, update.norm(2).item() / (update.numel() ** 0.5 * group["d"]))
        p.add_(update, alpha=-alpha / much)


class SparseAdam(Optimizer):
    """Adam for rows that a gradient reaches; gradients are dense here, and the others' rows are zero."""

    def __init__(self, params, lr=0.001, betas=(0.9, 0.999), eps=1e-8, maximize=False):
        if not 0.0 < lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 < eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        for i in range(2):
            if not 0.0 <= betas[i] < 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {betas[i]}")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})

    def _begin(self, p, group):
        return {"step": 0, "exp_avg": torch.zeros_like(p), "exp_avg_sq": torch.zeros_like(p)}

    def _update(self, p, grad, group, state):
        state["step"] += 1
        beta1, beta2 = group["betas"]
        reached = (grad != 0).reshape(grad.shape[0], -1).any(1).reshape([-1] + [1] * (grad.dim() - 1))
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.copy_(torch.where(reached, mean + (grad - mean) * (1 - beta1), mean))
        square.copy_(torch.where(reached, square + (grad * grad - square) * (1 - beta2), square))
        size = group["lr"] * (1 - beta2 ** state["step"]) ** 0.5 / (1 - beta1 ** state["step"])
        p.sub_(torch.where(reached, size * mean / (square.sqrt() + group["eps"]), 0.0))
