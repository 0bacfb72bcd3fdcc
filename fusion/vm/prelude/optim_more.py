# torch.optim, the optimisers that few programs use, parsed when one of them is named.
import math

import torch
from torch.optim import Optimizer, _check


def _positive(name, value):
    if not 0.0 <= value:
        raise ValueError(f"Invalid {name}: {value}")


def _betas(betas):
    for i in range(2):
        if not 0.0 <= betas[i] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {i}: {betas[i]}")


def _decayed(p, grad, group):
    """The gradient with the penalty of large weights."""
    if group["weight_decay"] != 0:
        return grad.add(p, alpha=group["weight_decay"])
    return grad


def _moments(p):
    return {
        "step": torch.tensor(0.0),
        "exp_avg": torch.zeros_like(p),
        "exp_avg_sq": torch.zeros_like(p),
    }


def _decayed_apart(p, grad, group):
    """The same, where decoupled_weight_decay may shrink the weight itself."""
    if group["decoupled_weight_decay"] and group["weight_decay"] != 0:
        p.mul_(1 - group["lr"] * group["weight_decay"])
        return grad
    return _decayed(p, grad, group)


class Adadelta(Optimizer):
    def __init__(
        self,
        params,
        lr=1.0,
        rho=0.9,
        eps=1e-06,
        weight_decay=0,
        foreach=None,
        *,
        capturable=False,
        maximize=False,
        differentiable=False,
    ):
        _positive("learning rate", lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        _positive("epsilon value", eps)
        _positive("weight_decay value", weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "rho": rho,
                "eps": eps,
                "weight_decay": weight_decay,
                "maximize": maximize,
                "capturable": capturable,
                "foreach": foreach,
                "differentiable": differentiable,
            },
        )

    def _begin(self, p, group):
        return {
            "step": torch.tensor(0.0),
            "square_avg": torch.zeros_like(p),
            "acc_delta": torch.zeros_like(p),
        }

    def _update(self, p, grad, group, state):
        state["step"] += 1
        grad = _decayed(p, grad, group)
        rho, square, moved = group["rho"], state["square_avg"], state["acc_delta"]
        square.mul_(rho).addcmul_(grad, grad, value=1 - rho)
        root = square.add(group["eps"]).sqrt_()
        delta = moved.add(group["eps"]).sqrt_().div_(root).mul_(grad)
        moved.mul_(rho).addcmul_(delta, delta, value=1 - rho)
        p.add_(delta, alpha=-group["lr"])


def _number(tensor):
    """What a step computes with: in a graph a tensor, as torch's, else its number."""
    return tensor.double() if torch._C._is_traced() else tensor.item()


def _add_quotient(p, above, below, scale):
    if isinstance(scale, torch.Tensor):
        p.add_(above / below * scale)
    else:
        p.addcdiv_(above, below, value=scale)


class Adamax(Optimizer):
    def __init__(
        self,
        params,
        lr=0.002,
        betas=(0.9, 0.999),
        eps=1e-08,
        weight_decay=0,
        foreach=None,
        *,
        maximize=False,
        differentiable=False,
        capturable=False,
    ):
        _positive("learning rate", lr)
        _positive("epsilon value", eps)
        _betas(betas)
        _positive("weight_decay value", weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def _begin(self, p, group):
        return {
            "step": torch.tensor(0.0),
            "exp_avg": torch.zeros_like(p),
            "exp_inf": torch.zeros_like(p),
        }

    def _update(self, p, grad, group, state):
        state["step"] += 1
        grad = _decayed(p, grad, group)
        beta1, beta2 = group["betas"]
        mean, largest = state["exp_avg"], state["exp_inf"]
        mean.lerp_(grad, 1 - beta1)
        largest.copy_(torch.maximum(largest * beta2, grad.abs().add_(group["eps"])))
        _add_quotient(p, mean, largest, -group["lr"] / (1 - beta1 ** _number(state["step"])))


class NAdam(Optimizer):
    def __init__(
        self,
        params,
        lr=0.002,
        betas=(0.9, 0.999),
        eps=1e-08,
        weight_decay=0,
        momentum_decay=0.004,
        decoupled_weight_decay=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
    ):
        _positive("learning rate", lr)
        _positive("epsilon value", eps)
        _betas(betas)
        _positive("weight_decay value", weight_decay)
        _positive("momentum_decay value", momentum_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "momentum_decay": momentum_decay,
                "decoupled_weight_decay": decoupled_weight_decay,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "differentiable": differentiable,
            },
        )

    def _begin(self, p, group):
        moments = _moments(p)
        return {
            "step": moments["step"],
            "mu_product": torch.tensor(1.0),
            "exp_avg": moments["exp_avg"],
            "exp_avg_sq": moments["exp_avg_sq"],
        }

    def _update(self, p, grad, group, state):
        state["step"] += 1
        step, lr = _number(state["step"]), group["lr"]
        beta1, beta2 = group["betas"]
        grad = _decayed_apart(p, grad, group)
        decay = group["momentum_decay"]
        mu = beta1 * (1.0 - 0.5 * (0.96 ** (step * decay)))
        mu_next = beta1 * (1.0 - 0.5 * (0.96 ** ((step + 1) * decay)))
        state["mu_product"] *= mu
        product = _number(state["mu_product"])
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        root = square.div(1 - beta2**step).sqrt().add_(group["eps"])
        _add_quotient(p, grad, root, -lr * (1.0 - mu) / (1.0 - product))
        _add_quotient(p, mean, root, -lr * mu_next / (1.0 - product * mu_next))


class RAdam(Optimizer):
    def __init__(
        self,
        params,
        lr=0.001,
        betas=(0.9, 0.999),
        eps=1e-08,
        weight_decay=0,
        decoupled_weight_decay=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
    ):
        _positive("learning rate", lr)
        _positive("epsilon value", eps)
        _betas(betas)
        _positive("weight_decay value", weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "maximize": maximize,
                "foreach": foreach,
                "capturable": capturable,
                "decoupled_weight_decay": decoupled_weight_decay,
                "differentiable": differentiable,
            },
        )

    def _begin(self, p, group):
        return _moments(p)

    def _update(self, p, grad, group, state):
        state["step"] += 1
        step = _number(state["step"])
        beta1, beta2 = group["betas"]
        grad = _decayed_apart(p, grad, group)
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        rest = 1 - beta2**step
        end = 2 / (1 - beta2) - 1
        length = end - 2 * step * (beta2**step) / rest
        move = mean / (1 - beta1**step) * group["lr"]
        rectified = (length - 4) * (length - 2) * end / ((end - 4) * (end - 2) * length)
        if isinstance(length, torch.Tensor):
            factor = rest**0.5 / square.sqrt().add_(group["eps"]) * rectified.clamp(min=0) ** 0.5
            move = move * torch.where(length > 5.0, factor, 1.0)
        elif length > 5.0:
            move = move * (rest**0.5 / square.sqrt().add_(group["eps"])) * rectified**0.5
        p.add_(move, alpha=-1.0)


class ASGD(Optimizer):
    def __init__(
        self,
        params,
        lr=0.01,
        lambd=0.0001,
        alpha=0.75,
        t0=1000000.0,
        weight_decay=0,
        foreach=None,
        maximize=False,
        differentiable=False,
        capturable=False,
    ):
        _positive("learning rate", lr)
        _positive("weight_decay value", weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "lambd": lambd,
                "alpha": alpha,
                "t0": t0,
                "weight_decay": weight_decay,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def _begin(self, p, group):
        return {
            "step": torch.tensor(0.0),
            "eta": torch.tensor(float(group["lr"])),
            "mu": torch.tensor(1.0),
            "ax": torch.zeros_like(p),
        }

    def _update(self, p, grad, group, state):
        state["step"] += 1
        step, lr, lambd = state["step"].item(), group["lr"], group["lambd"]
        grad = _decayed(p, grad, group)
        eta, mean = state["eta"].item(), state["ax"]
        p.mul_(1 - lambd * eta)
        p.add_(grad, alpha=-eta)
        if state["mu"].item() != 1:
            mean.add_(p.sub(mean).mul_(state["mu"]))
        else:
            mean.copy_(p)
        state["eta"].copy_(torch.tensor(lr / ((1 + lambd * lr * step) ** group["alpha"])))
        state["mu"].copy_(torch.tensor(1 / max(1, step - group["t0"])))


class Rprop(Optimizer):
    def __init__(
        self,
        params,
        lr=0.01,
        etas=(0.5, 1.2),
        step_sizes=(1e-06, 50),
        *,
        capturable=False,
        foreach=None,
        maximize=False,
        differentiable=False,
    ):
        _positive("learning rate", lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(
            params,
            {
                "lr": lr,
                "etas": etas,
                "step_sizes": step_sizes,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "capturable": capturable,
            },
        )

    def _begin(self, p, group):
        return {
            "step": torch.tensor(0.0),
            "prev": torch.zeros_like(p),
            "step_size": torch.full_like(p, float(group["lr"])),
        }

    def _update(self, p, grad, group, state):
        state["step"] += 1
        low, high = group["etas"]
        agreed = grad * state["prev"]
        factor = torch.where(agreed > 0, high, torch.where(agreed < 0, low, 1.0)).to(p.dtype)
        state["step_size"].mul_(factor).clamp_(group["step_sizes"][0], group["step_sizes"][1])
        grad = torch.where(agreed < 0, torch.zeros_like(grad), grad)
        p.addcmul_(grad.sign(), state["step_size"], value=-1)
        state["prev"].copy_(grad)
