# torch.optim.LBFGS: the limited-memory BFGS method, with a line search by the strong Wolfe
# conditions (Nocedal and Wright, Numerical Optimization, algorithms 7.4, 3.5 and 3.6).
import torch
from torch.optim import Optimizer


def _cubic(x1, f1, g1, x2, f2, g2, bounds=None):
    """Where the cubic through two points with their slopes is least, kept within the bounds."""
    lowest, highest = bounds if bounds is not None else ((x1, x2) if x1 <= x2 else (x2, x1))
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1**2 - g1 * g2
    if square < 0:
        return (lowest + highest) / 2.0
    d2 = square**0.5
    if x1 <= x2:
        at = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        at = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(at, lowest), highest)


def _strong_wolfe(evaluate, x, t, d, loss, grad, slope, c1=1e-4, c2=0.9, least_change=1e-9, most=25):
    largest = d.abs().max()
    grad = grad.clone()
    new_loss, new_grad = evaluate(x, t, d)
    evaluations = 1
    new_slope = new_grad.dot(d)
    last_t, last_loss, last_grad, last_slope = 0, loss, grad, slope
    done = False
    n = 0
    while n < most:
        if new_loss > (loss + c1 * t * slope) or (n > 1 and new_loss >= last_loss):
            ends = [[last_t, last_loss, last_grad, last_slope], [t, new_loss, new_grad.clone(), new_slope]]
            break
        if abs(new_slope) <= -c2 * slope:
            ends = [[t, new_loss, new_grad, new_slope]]
            done = True
            break
        if new_slope >= 0:
            ends = [[last_t, last_loss, last_grad, last_slope], [t, new_loss, new_grad.clone(), new_slope]]
            break
        before = t
        t = _cubic(last_t, last_loss, last_slope, t, new_loss, new_slope, bounds=(t + 0.01 * (t - last_t), t * 10))
        last_t, last_loss, last_grad, last_slope = before, new_loss, new_grad.clone(), new_slope
        new_loss, new_grad = evaluate(x, t, d)
        evaluations += 1
        new_slope = new_grad.dot(d)
        n += 1
    if n == most:
        ends = [[0, loss, grad, slope], [t, new_loss, new_grad, new_slope]]
    stalled = False
    low, high = (0, 1) if ends[0][1] <= ends[-1][1] else (1, 0)
    while not done and n < most:
        if abs(ends[1][0] - ends[0][0]) * largest < least_change:
            break
        t = _cubic(ends[0][0], ends[0][1], ends[0][3], ends[1][0], ends[1][1], ends[1][3])
        least, greatest = min(ends[0][0], ends[1][0]), max(ends[0][0], ends[1][0])
        margin = 0.1 * (greatest - least)
        if min(greatest - t, t - least) < margin:
            if stalled or t >= greatest or t <= least:
                t = greatest - margin if abs(t - greatest) < abs(t - least) else least + margin
                stalled = False
            else:
                stalled = True
        else:
            stalled = False
        new_loss, new_grad = evaluate(x, t, d)
        evaluations += 1
        new_slope = new_grad.dot(d)
        n += 1
        point = [t, new_loss, new_grad.clone(), new_slope]
        if new_loss > (loss + c1 * t * slope) or new_loss >= ends[low][1]:
            ends[high] = point
            low, high = (0, 1) if ends[0][1] <= ends[1][1] else (1, 0)
        else:
            if abs(new_slope) <= -c2 * slope:
                done = True
            elif new_slope * (ends[high][0] - ends[low][0]) >= 0:
                ends[high] = ends[low]
            ends[low] = point
    if len(ends) == 1:
        low = 0
    return ends[low][1], ends[low][2], ends[low][0], evaluations


class LBFGS(Optimizer):
    def __init__(
        self, params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-7, tolerance_change=1e-9,
        history_size=100, line_search_fn=None,
    ):
        if line_search_fn not in (None, "strong_wolfe"):
            raise RuntimeError("only 'strong_wolfe' is supported")
        super().__init__(params, {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        })
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def _grads(self):
        return torch.cat([
            torch.zeros_like(p).view(-1) if p.grad is None else p.grad.reshape(-1) for p in self._params
        ])

    def _move(self, t, direction):
        at = 0
        for p in self._params:
            p.add_(direction[at : at + p.numel()].view_as(p), alpha=t)
            at += p.numel()

    def _evaluate(self, closure, x, t, d):
        self._move(t, d)
        loss = float(closure())
        grad = self._grads()
        for p, kept in zip(self._params, x):
            p.copy_(kept)
        return loss, grad

    def _direction(self, state, grad, history):
        if state["n_iter"] == 1:
            state["old_dirs"], state["old_stps"], state["ro"], state["H_diag"] = [], [], [], 1
            return grad.neg()
        y = grad.sub(state["prev_flat_grad"])
        s = state["d"].mul(state["t"])
        ys = y.dot(s)
        if ys > 1e-10:
            if len(state["old_dirs"]) == history:
                state["old_dirs"].pop(0)
                state["old_stps"].pop(0)
                state["ro"].pop(0)
            state["old_dirs"].append(y)
            state["old_stps"].append(s)
            state["ro"].append(1.0 / ys)
            state["H_diag"] = ys / y.dot(y)
        old = list(zip(state["old_dirs"], state["old_stps"], state["ro"]))
        factors = []
        q = grad.neg()
        for y, s, ro in reversed(old):
            factors.append(s.dot(q) * ro)
            q.add_(y, alpha=-factors[-1].item())
        d = torch.mul(q, state["H_diag"])
        for (y, s, ro), factor in zip(old, reversed(factors)):
            d.add_(s, alpha=(factor - y.dot(d) * ro).item())
        return d

    @torch.compiler.disable
    def step(self, closure):
        def evaluated():
            with torch.enable_grad():
                return closure()

        with torch.no_grad():
            return self._iterate(evaluated)

    def _iterate(self, closure):
        group = self.param_groups[0]
        lr = group["lr"]
        state = self._states[0][0]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first = closure()
        loss = float(first)
        evaluations = 1
        state["func_evals"] += 1
        grad = self._grads()
        if grad.abs().max() <= group["tolerance_grad"]:
            return first
        n = 0
        while n < group["max_iter"]:
            n += 1
            state["n_iter"] += 1
            d = state["d"] = self._direction(state, grad, group["history_size"])
            state["prev_flat_grad"] = grad.clone()
            before = loss
            t = min(1.0, 1.0 / grad.abs().sum()) * lr if state["n_iter"] == 1 else lr
            slope = grad.dot(d)
            if slope > -group["tolerance_change"]:
                break
            spent = 0
            if group["line_search_fn"] is not None:
                x = [p.clone() for p in self._params]
                loss, grad, t, spent = _strong_wolfe(
                    lambda x, t, d: self._evaluate(closure, x, t, d), x, t, d, loss, grad, slope
                )
                self._move(t, d)
                done = grad.abs().max() <= group["tolerance_grad"]
            else:
                self._move(t, d)
                done = False
                if n != group["max_iter"]:
                    loss = float(closure())
                    grad = self._grads()
                    done = grad.abs().max() <= group["tolerance_grad"]
                    spent = 1
            state["t"] = t
            evaluations += spent
            state["func_evals"] += spent
            if n == group["max_iter"] or evaluations >= group["max_eval"] or done:
                break
            if d.mul(t).abs().max() <= group["tolerance_change"]:
                break
            if abs(loss - before) < group["tolerance_change"]:
                break
        state["t"] = t
        state["prev_loss"] = before
        return first
