# torch.Generator, and the state of torch's own: both as what the host keeps of a sequence.
import contextlib

import torch


class Generator:
    def __init__(self, device="cpu"):
        self.device = torch.device(device)
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
