# torch.Generator, and the state of torch's own: both as what the host keeps of a sequence.
import contextlib
import math

import torch


class Generator:
    def __init__(self, device="cpu"):
        self.device = torch.device(device)
        if self.device.type not in ("cpu", "cuda"):
            raise RuntimeError(f"Device type {self.device.type} is not supported for torch.Generator() api.")
        self.manual_seed(67280421310721)

    def _exchange(self):
        """This generator's sequence becomes torch's, and torch's is kept here meanwhile."""
        outer = torch._C._generator_state()
        torch._C._set_generator_state(self._state)
        self._state = outer

    def _draw(self, function, *args, **keywords):
        self._exchange()
        try:
            return function(*args, **keywords)
        finally:
            self._exchange()

    def manual_seed(self, seed):
        outer = torch._C._generator_state()
        torch.manual_seed(seed)
        self._state = torch._C._generator_state()
        torch._C._set_generator_state(outer)
        self._seed = seed
        return self

    def initial_seed(self):
        return self._seed

    def get_state(self):
        return self._state

    def set_state(self, new_state):
        self._state = new_state
        return self


def get_rng_state():
    return torch._C._generator_state()


def set_rng_state(new_state):
    torch._C._set_generator_state(new_state)


@contextlib.contextmanager
def fork_rng(devices=None, enabled=True):
    outer = torch._C._generator_state()
    try:
        yield
    finally:
        if enabled:
            torch._C._set_generator_state(outer)


def initial_seed():
    """The last that was given; a state has it."""
    state = torch._C._generator_state()
    return state[len(state) - 2]


def seed():
    made = torch.randint(0, 2**62, ()).item()
    torch.manual_seed(made)
    return made


class _Default(Generator):
    """The one that draws where no other is named."""

    def __init__(self):
        self.device = torch.device("cpu")

    def _draw(self, function, *args, **keywords):
        return function(*args, **keywords)

    def _exchange(self):
        pass

    def manual_seed(self, seed):
        torch.manual_seed(seed)
        return self

    def initial_seed(self):
        return torch.initial_seed()

    def get_state(self):
        return torch.get_rng_state()

    def set_state(self, new_state):
        torch.set_rng_state(new_state)
        return self


default_generator = _Default()


def _poisson(rate, unit):
    """A number of events where `rate` are expected: counted one by one, or by Hoermann's rejection."""
    if rate < 10:
        if rate == 0:
            return 0
        least, product, found = math.exp(-rate), unit(), 0
        while product > least:
            product *= unit()
            found += 1
        return found
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    top, wide = 0.9277 - 3.6224 / (b - 2), 1.1239 + 1.1328 / (b - 3.4)
    while True:
        u, v = unit() - 0.5, unit()
        left = 0.5 - abs(u)
        k = math.floor((2 * a / left + b) * u + rate + 0.43)
        if left >= 0.07 and v <= top:
            return k
        if k >= 0 and (left >= 0.013 or v <= left):
            if math.log(v * wide / (a / (left * left) + b)) <= k * math.log(rate) - rate - math.lgamma(k + 1):
                return k


def poisson(input, generator=None):
    if not input.dtype.is_floating_point:
        raise RuntimeError(f"\"poisson_cpu\" not implemented for '{str(input.dtype)[6:].capitalize()}'")
    if (input < 0).any():
        raise RuntimeError("invalid Poisson rate, expected rate to be non-negative")
    unit = lambda: torch.rand((), dtype=torch.float64, generator=generator).item()
    made = [_poisson(rate, unit) for rate in input.detach().reshape(-1).tolist()]
    return torch.tensor(made, dtype=input.dtype).reshape(input.shape)
