# torch.optim.lr_scheduler: what sets the learning rates of an optimiser's groups.  TorchDynamo captures
# none of it.
import math

import torch


class LRScheduler:
    def __init__(self, optimizer, last_epoch=-1):
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                if "initial_lr" not in group:
                    group["initial_lr"] = group["lr"]
            elif "initial_lr" not in group:
                raise KeyError(
                    "param 'initial_lr' is not specified in "
                    f"param_groups[{i}] when resuming an optimizer"
                )
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self):
        self._step_count = 0
        self.step()

    @torch._C._skip
    def get_last_lr(self):
        return self._last_lr

    def get_lr(self):
        raise NotImplementedError

    @torch._C._skip
    def step(self, epoch=None):
        self._step_count += 1
        if epoch is None:
            self.last_epoch = self.last_epoch + 1
            self._set(self.get_lr())
        else:
            self.last_epoch = epoch
            at = getattr(self, "_get_closed_form_lr", None)
            self._set(self.get_lr() if at is None else at())

    def _set(self, rates):
        for group, lr in zip(self.optimizer.param_groups, rates):
            group["lr"] = lr
        self._last_lr = [group["lr"] for group in self.optimizer.param_groups]

    @torch._C._skip
    def state_dict(self):
        """All but the optimiser; of schedules that hold others, theirs in their place."""
        state = {k: v for k, v in vars(self).items() if k not in ("optimizer", "_schedulers")}
        if "_schedulers" in vars(self):
            state["_schedulers"] = [scheduler.state_dict() for scheduler in self._schedulers]
        if "lr_lambdas" in state:
            state["lr_lambdas"] = [None for _ in self.lr_lambdas]
        return state

    @torch._C._skip
    def load_state_dict(self, state_dict):
        for name, value in state_dict.items():
            if name == "_schedulers":
                for scheduler, state in zip(self._schedulers, value):
                    scheduler.load_state_dict(state)
            elif name != "lr_lambdas":
                setattr(self, name, value)

    def _scaled(self, factor):
        return [group["lr"] * factor for group in self.optimizer.param_groups]


_LRScheduler = LRScheduler


class StepLR(LRScheduler):
    def __init__(self, optimizer, step_size, gamma=0.1, last_epoch=-1):
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        due = self.last_epoch > 0 and self.last_epoch % self.step_size == 0
        return self._scaled(self.gamma if due else 1)

    def _get_closed_form_lr(self):
        n = self.last_epoch // self.step_size
        return [base * self.gamma**n for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    def __init__(self, optimizer, milestones, gamma=0.1, last_epoch=-1):
        self.milestones = list(milestones)
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return self._scaled(self.gamma ** self.milestones.count(self.last_epoch))

    def _get_closed_form_lr(self):
        n = len([m for m in self.milestones if m <= self.last_epoch])
        return [base * self.gamma**n for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    def __init__(self, optimizer, gamma, last_epoch=-1):
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return self._scaled(self.gamma if self.last_epoch > 0 else 1)

    def _get_closed_form_lr(self):
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class LambdaLR(LRScheduler):
    def __init__(self, optimizer, lr_lambda, last_epoch=-1):
        many = isinstance(lr_lambda, (list, tuple))
        self.lr_lambdas = list(lr_lambda) if many else [lr_lambda] * len(optimizer.param_groups)
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        return [base * f(self.last_epoch) for base, f in zip(self.base_lrs, self.lr_lambdas)]


class LinearLR(LRScheduler):
    def __init__(
        self, optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1
    ):
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_iters = total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        n = self.total_iters
        if self.last_epoch == 0:
            return self._scaled(self.start_factor)
        if self.last_epoch > n:
            return self._scaled(1)
        slope = self.end_factor - self.start_factor
        return self._scaled(1 + slope / (n * self.start_factor + (self.last_epoch - 1) * slope))

    def _get_closed_form_lr(self):
        slope = self.end_factor - self.start_factor
        t = min(self.total_iters, self.last_epoch)
        return [base * (self.start_factor + slope * t / self.total_iters) for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    def __init__(self, optimizer, T_max, eta_min=0.0, last_epoch=-1):
        self.T_max = T_max
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self):
        t, n, low = self.last_epoch, self.T_max, self.eta_min
        groups = self.optimizer.param_groups
        if t == 0:
            return [group["lr"] for group in groups]
        if (t - 1 - n) % (2 * n) == 0:
            return [
                group["lr"] + (base - low) * (1 - math.cos(math.pi / n)) / 2
                for base, group in zip(self.base_lrs, groups)
            ]
        ratio = (1 + math.cos(math.pi * t / n)) / (1 + math.cos(math.pi * (t - 1) / n))
        return [ratio * (group["lr"] - low) + low for group in groups]

    def _get_closed_form_lr(self):
        low = self.eta_min
        height = (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        return [low + (base - low) * height for base in self.base_lrs]
