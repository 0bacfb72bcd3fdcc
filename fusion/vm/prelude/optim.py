# torch.optim: optimisers, each step in the order of PyTorch's own sums.
#
# What changes with each step is kept in tensors, so that a graph of a step holds for all:
# where one is traced, the factors that depend on the step are computed in it.
import math

import _module_parts
import torch
from _optimizer_state import State


def _power(base, step):
    """One call: pow."""
    return base ** step.double()


required = object()  # the default of what a call has to give


class Optimizer:
    def __init__(self, params, defaults):
        self.defaults = defaults
        self._others = {}
        self.param_groups = []
        self._states = []  # by group and parameter
        groups = list(params)
        if len(groups) == 0:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    @torch.compiler.disable
    def add_param_group(self, param_group):
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        group = param_group
        params = group["params"]
        if isinstance(params, set):
            raise TypeError("optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets will change between runs. Please use a list instead.")
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
        self._states.append([{} for _ in group["params"]])

    def _pairs(self, group):
        return zip(self.param_groups[group]["params"], self._states[group])

    @property
    def state(self):
        given = vars(self).get("_given_state")
        return State(self) if given is None else given

    @state.setter
    def state(self, value):
        """An optimizer around another one keeps that one's."""
        self._given_state = value

    @torch.compiler.disable
    def zero_grad(self, set_to_none=True):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    if set_to_none:
                        p.grad = None
                    else:
                        p.grad.detach_().zero_()

    _begin = None  # of parameter and group: what is kept of the parameter before its first step

    _step_hooks = None

    def _step_hook(self, when, hook):
        if self._step_hooks is None:
            self._step_hooks = {"before": {}, "after": {}}
        return _module_parts.hook(self._step_hooks, when, hook)

    def register_step_pre_hook(self, hook):
        return self._step_hook("before", hook)

    def register_step_post_hook(self, hook):
        return self._step_hook("after", hook)

    def step(self, closure=None):
        if self._step_hooks is None:
            return self._whole_step(closure)
        args, keywords = () if closure is None else (closure,), {}
        for hook in list(self._step_hooks["before"].values()):
            changed = hook(self, args, keywords)
            if changed is not None:
                args, keywords = changed
        loss = self._whole_step(*args, **keywords)
        for hook in list(self._step_hooks["after"].values()):
            hook(self, args, keywords)
        return loss

    def _whole_step(self, closure=None):
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        with torch.no_grad():
            self._begin_all()
            self._step()
        return loss

    @torch._C._skip
    def _begin_all(self):
        if self._begin is None:
            return
        for i, group in enumerate(self.param_groups):
            for p, state in self._pairs(i):
                if len(state) == 0 and p.grad is not None:
                    state.update(self._begin(p, group))

    def _step(self):
        """A frame of its own."""
        for i, group in enumerate(self.param_groups):
            if group.get("differentiable"):
                raise NotImplementedError("optimizer: differentiable=True is not in the language: a step has no gradient")
            for p, state in self._pairs(i):
                if p.grad is not None:
                    self._update(p, -p.grad if group["maximize"] else p.grad, group, state)

    @torch.compiler.disable
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
        return {"state": {numbers[p]: dict(s) for p, s in self.state.items()}, "param_groups": groups}

    @torch.compiler.disable
    def load_state_dict(self, state_dict):
        loaded = state_dict["param_groups"]
        if len(loaded) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        if any([len(a["params"]) != len(b["params"]) for a, b in zip(self.param_groups, loaded)]):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        states = [state for states in self._states for state in states]
        for k, state in state_dict["state"].items():
            states[k].clear()
            states[k].update({
                name: v.clone() if isinstance(v, torch.Tensor) else v for name, v in state.items()
            })
        # other dicts than those that the program gave
        self.param_groups = [
            {**group, **packed, "params": group["params"]} for group, packed in zip(self.param_groups, loaded)
        ]

    def __repr__(self):
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines += [""] * (i > 0) + [f"Parameter Group {i}"]
            for name in sorted(group):
                if name != "params":
                    lines.append(f"    {name}: {group[name]}")
        return "\n".join(lines) + "\n)"


def _check(lr, weight_decay):
    if not isinstance(lr, torch.Tensor) and lr < 0.0:
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
                "foreach": foreach,
                "differentiable": differentiable,
                "fused": fused,
            },
        )

    def _update(self, p, grad, group, state):
        if group["weight_decay"] != 0:
            grad = grad.add(p, alpha=group["weight_decay"])
        momentum = group["momentum"]
        if momentum != 0:
            kept = state.get("momentum_buffer")
            if kept is None:
                kept = grad.detach().clone()
                state["momentum_buffer"] = kept
            else:
                kept.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
            grad = grad.add(kept, alpha=momentum) if group["nesterov"] else kept
        if isinstance(group["lr"], torch.Tensor):
            p.addcmul_(grad, group["lr"], value=-1)
        else:
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
                **({"foreach": foreach, "maximize": maximize} if self.decoupled else {"maximize": maximize, "foreach": foreach}),
                "capturable": capturable,
                "differentiable": differentiable,
                "fused": fused,
            },
        )

    def _begin(self, p, group):
        state = {
            "step": torch.tensor(0.0),
            "exp_avg": torch.zeros_like(p),
            "exp_avg_sq": torch.zeros_like(p),
        }
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = torch.zeros_like(p)
        return state

    def _update(self, p, grad, group, state):
        beta1, beta2 = group["betas"]
        step = state["step"]
        step += 1
        if group["weight_decay"] != 0:
            if self.decoupled:
                p.mul_(1 - group["lr"] * group["weight_decay"])
            else:
                grad = grad.add(p, alpha=group["weight_decay"])
        mean, square = state["exp_avg"], state["exp_avg_sq"]
        mean.lerp_(grad, 1 - beta1)
        square.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        if not torch._C._is_traced():
            self._apply(p, mean, square, group, state)
            return
        rest1 = 1 - _power(beta1, step)
        rest2 = 1 - _power(beta2, step)
        size = (group["lr"] / rest1).neg()
        root = rest2.sqrt()
        if group["amsgrad"]:
            square = state["max_exp_avg_sq"].copy_(torch.maximum(state["max_exp_avg_sq"], square))
        p.addcdiv_(mean, (square.sqrt() / (root * size)).add_(group["eps"] / size))

    def _apply(self, p, mean, square, group, state):
        """The same with numbers."""
        beta1, beta2 = group["betas"]
        step = state["step"].item()
        size = float(group["lr"]) / (1 - beta1**step)
        root = math.sqrt(1 - beta2**step)
        if group["amsgrad"]:
            square = state["max_exp_avg_sq"].copy_(torch.maximum(state["max_exp_avg_sq"], square))
        p.addcdiv_(mean, (square.sqrt() / root).add_(group["eps"]), value=-size)


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
        super().__init__(
            params,
            lr,
            betas,
            eps,
            weight_decay,
            amsgrad,
            maximize=maximize,
            foreach=foreach,
            capturable=capturable,
            differentiable=differentiable,
            fused=fused,
        )


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
                "momentum": momentum,
                "alpha": alpha,
                "eps": eps,
                "centered": centered,
                "weight_decay": weight_decay,
                "capturable": capturable,
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
            },
        )

    def _begin(self, p, group):
        state = {"step": torch.tensor(0.0), "square_avg": torch.zeros_like(p)}
        if group["momentum"] > 0:
            state["momentum_buffer"] = torch.zeros_like(p)
        if group["centered"]:
            state["grad_avg"] = torch.zeros_like(p)
        return state

    def _update(self, p, grad, group, state):
        step = state["step"]
        step += 1
        if group["weight_decay"] != 0:
            grad = grad.add(p, alpha=group["weight_decay"])
        alpha, square = group["alpha"], state["square_avg"]
        square.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if group["centered"]:
            mean = state["grad_avg"]
            mean.lerp_(grad, 1 - alpha)
            size = square.addcmul(mean, mean, value=-1).sqrt_()
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
                "foreach": foreach,
                "maximize": maximize,
                "differentiable": differentiable,
                "fused": fused,
            },
        )

    def _begin(self, p, group):
        return {
            "step": torch.tensor(0.0),
            "sum": torch.full_like(p, group["initial_accumulator_value"]),
        }

    def _update(self, p, grad, group, state):
        step, total = state["step"], state["sum"]
        step += 1
        if group["weight_decay"] != 0:
            grad = grad.add(p, alpha=group["weight_decay"])
        lr, decay = group["lr"], group["lr_decay"]
        total.addcmul_(grad, grad, value=1)
        root = total.sqrt().add_(group["eps"])
        if decay == 0:
            p.addcdiv_(grad, root, value=-lr)
        elif torch._C._is_traced():
            p.addcdiv_(grad, root * ((1 + (step.double() - 1) * decay) / -lr))
        else:
            p.addcdiv_(grad, root, value=-lr / (1 + (step.item() - 1) * decay))
