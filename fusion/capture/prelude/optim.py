# torch.optim: optimisers, each step in the order of PyTorch's own sums.
import math
import torch


class Optimizer:
    def __init__(self, params, defaults):
        self.defaults = defaults
        self.state = {}
        self.param_groups = []
        groups = list(params)
        if len(groups) == 0:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group):
        group = dict(param_group)
        params = group["params"]
        group["params"] = [params] if isinstance(params, torch.Tensor) else list(params)
        for p in group["params"]:
            if not isinstance(p, torch.Tensor):
                raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {type(p)}")
            if not p.is_leaf:
                raise ValueError("can't optimize a non-leaf Tensor")
            if any([any([p is q for q in other["params"]]) for other in self.param_groups]):
                raise ValueError("some parameters appear in more than one parameter group")
        for name, value in self.defaults.items():
            if name not in group:
                group[name] = value
        self.param_groups.append(group)

    def zero_grad(self, set_to_none=True):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    if set_to_none:
                        p.grad = None
                    else:
                        p.grad.detach_().zero_()

    def _of(self, p):
        """What the optimiser keeps of a parameter."""
        if p not in self.state:
            self.state[p] = {}
        return self.state[p]

    def step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        with torch.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    if p.grad is not None:
                        self._update(p, -p.grad if group["maximize"] else p.grad, group)
        return loss

    def state_dict(self):
        numbers = {}
        for group in self.param_groups:
            for p in group["params"]:
                numbers[p] = len(numbers)
        groups = []
        for group in self.param_groups:
            packed = {k: v for k, v in group.items() if k != "params"}
            packed["params"] = [numbers[p] for p in group["params"]]
            groups.append(packed)
        return {"state": {numbers[p]: s for p, s in self.state.items()}, "param_groups": groups}

    def load_state_dict(self, state_dict):
        params = [p for group in self.param_groups for p in group["params"]]
        self.state = {params[k]: dict(s) for k, s in state_dict["state"].items()}
        for group, packed in zip(self.param_groups, state_dict["param_groups"]):
            for name, value in packed.items():
                if name != "params":
                    group[name] = value

    def __repr__(self):
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            for name in sorted(group):
                if name != "params":
                    lines.append(f"    {name}: {group[name]}")
        return "\n".join(lines) + "\n)"


def _check(lr, weight_decay):
    if lr < 0.0:
        raise ValueError(f"Invalid learning rate: {lr}")
    if weight_decay < 0.0:
        raise ValueError(f"Invalid weight_decay value: {weight_decay}")


class SGD(Optimizer):
    def __init__(
        self,
        params,
        lr=0.001,
        momentum=0,
        dampening=0,
        weight_decay=0,
        nesterov=False,
        *,
        maximize=False,
        foreach=None,
        differentiable=False,
        fused=None,
    ):
        _check(lr, weight_decay)
        if momentum < 0.0:
            raise ValueError(f"Invalid momentum value: {momentum}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(
            params,
            {
                "lr": lr,
                "momentum": momentum,
                "dampening": dampening,
                "weight_decay": weight_decay,
                "nesterov": nesterov,
                "maximize": maximize,
            },
        )

    def _update(self, p, grad, group):
        if group["weight_decay"] != 0:
            grad = torch.add(grad, p, alpha=group["weight_decay"])
        momentum = group["momentum"]
        if momentum != 0:
            state = self._of(p)
            kept = state.get("momentum_buffer")
            if kept is None:
                kept = grad.clone()
                state["momentum_buffer"] = kept
            else:
                kept.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
            grad = torch.add(grad, kept, alpha=momentum) if group["nesterov"] else kept
        p.add_(grad, alpha=-group["lr"])


class Adam(Optimizer):
    decoupled = False

    def __init__(
        self,
        params,
        lr=0.001,
        betas=(0.9, 0.999),
        eps=1e-08,
        weight_decay=0,
        amsgrad=False,
        *,
        foreach=None,
        maximize=False,
        capturable=False,
        differentiable=False,
        fused=None,
    ):
        _check(lr, weight_decay)
        if eps < 0.0:
            raise ValueError(f"Invalid epsilon value: {eps}")
        for i in range(2):
            if betas[i] < 0.0 or betas[i] >= 1.0:
                raise ValueError(f"Invalid beta parameter at index {i}: {betas[i]}")
        super().__init__(
            params,
            {
                "lr": lr,
                "betas": betas,
                "eps": eps,
                "weight_decay": weight_decay,
                "amsgrad": amsgrad,
                "maximize": maximize,
            },
        )

    def _update(self, p, grad, group):
        beta1, beta2 = group["betas"]
        state = self._of(p)
        if not state:
            state["step"] = 0
            state["exp_avg"] = torch.zeros_like(p)
            state["exp_avg_sq"] = torch.zeros_like(p)
            if group["amsgrad"]:
                state["max_exp_avg_sq"] = torch.zeros_like(p)
        state["step"] = state["step"] + 1
        step = state["step"]
        if group["weight_decay"] != 0:
            if self.decoupled:
                p.mul_(1 - group["lr"] * group["weight_decay"])
            else:
                grad = torch.add(grad, p, alpha=group["weight_decay"])
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        size = group["lr"] / (1 - beta1**step)
        root = math.sqrt(1 - beta2**step)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = torch.maximum(state["max_exp_avg_sq"], square)
            square = state["max_exp_avg_sq"]
        denominator = (square.sqrt() / root).add_(group["eps"])
        p.addcdiv_(mean, denominator, value=-size)


class AdamW(Adam):
    decoupled = True

    def __init__(
        self,
        params,
        lr=0.001,
        betas=(0.9, 0.999),
        eps=1e-08,
        weight_decay=0.01,
        amsgrad=False,
        *,
        maximize=False,
        foreach=None,
        capturable=False,
        differentiable=False,
        fused=None,
    ):
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize=maximize)


class RMSprop(Optimizer):
    def __init__(
        self,
        params,
        lr=0.01,
        alpha=0.99,
        eps=1e-08,
        weight_decay=0,
        momentum=0,
        centered=False,
        capturable=False,
        foreach=None,
        maximize=False,
        differentiable=False,
    ):
        _check(lr, weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "alpha": alpha,
                "eps": eps,
                "weight_decay": weight_decay,
                "momentum": momentum,
                "centered": centered,
                "maximize": maximize,
            },
        )

    def _update(self, p, grad, group):
        state = self._of(p)
        if not state:
            state["square_avg"] = torch.zeros_like(p)
            if group["momentum"] > 0:
                state["momentum_buffer"] = torch.zeros_like(p)
            if group["centered"]:
                state["grad_avg"] = torch.zeros_like(p)
        if group["weight_decay"] != 0:
            grad = torch.add(grad, p, alpha=group["weight_decay"])
        alpha, square = group["alpha"], state["square_avg"]
        square.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"]
            mean.lerp_(grad, 1 - alpha)
            size = torch.addcmul(square, mean, mean, value=-1).sqrt_()
        else:
            size = square.sqrt()
        size.add_(group["eps"])
        if group["momentum"] > 0:
            kept = state["momentum_buffer"]
            kept.mul_(group["momentum"]).addcdiv_(grad, size)
            p.add_(kept, alpha=-group["lr"])
        else:
            p.addcdiv_(grad, size, value=-group["lr"])


class Adagrad(Optimizer):
    def __init__(
        self,
        params,
        lr=0.01,
        lr_decay=0,
        weight_decay=0,
        initial_accumulator_value=0,
        eps=1e-10,
        foreach=None,
        *,
        maximize=False,
        differentiable=False,
        fused=None,
    ):
        _check(lr, weight_decay)
        super().__init__(
            params,
            {
                "lr": lr,
                "lr_decay": lr_decay,
                "eps": eps,
                "weight_decay": weight_decay,
                "initial_accumulator_value": initial_accumulator_value,
                "maximize": maximize,
            },
        )

    def _update(self, p, grad, group):
        state = self._of(p)
        if not state:
            state["step"] = 0
            state["sum"] = torch.full_like(p, group["initial_accumulator_value"])
        state["step"] = state["step"] + 1
        if group["weight_decay"] != 0:
            grad = torch.add(grad, p, alpha=group["weight_decay"])
        size = group["lr"] / (1 + (state["step"] - 1) * group["lr_decay"])
        state["sum"].addcmul_(grad, grad, value=1)
        p.addcdiv_(grad, state["sum"].sqrt().add_(group["eps"]), value=-size)
