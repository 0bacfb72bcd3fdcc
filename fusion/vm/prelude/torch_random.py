# torch.random and torch.Generator: states of the CPU's generator that take turns.
import torch


class Generator:
    """A generator of its own: its state takes the default one's place while it draws."""

    def __init__(self, device="cpu"):
        if torch.device(device).split(":")[0] != "cpu":
            raise NotImplementedError(f"torch.Generator: device='{device}' is not in the language; leave it out")
        self.device = torch.device("cpu")
        self._seed = 67280421310721
        self._state = None

    def _begin(self):
        if self._state is None:
            torch._C._cpu_seed(self._seed)
        else:
            torch.set_rng_state(self._state)

    def draws(self, function, *args, **keywords):
        kept = torch.get_rng_state()
        self._begin()
        try:
            return function(*args, **keywords)
        finally:
            self._state = torch.get_rng_state()
            torch.set_rng_state(kept)

    def manual_seed(self, seed):
        self._seed = seed
        self._state = None
        return self

    def initial_seed(self):
        return self._seed

    def seed(self):
        return self.manual_seed(torch.randint(0, 2**62, ()).item()).initial_seed()

    def get_state(self):
        self.draws(lambda: None)
        return self._state.clone()

    def set_state(self, new_state):
        self._state = new_state.clone()
        return self

    def clone_state(self):
        made = Generator()
        made._seed = self._seed
        return made.set_state(self.get_state())

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        generator = kwargs.pop("generator")
        return generator.draws(func, *args, **kwargs)


class _Default(Generator):
    """The one that draws where no other is named."""

    def __init__(self):
        self.device = torch.device("cpu")

    def draws(self, function, *args, **keywords):
        return function(*args, **keywords)

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


def seed():
    made = torch.randint(0, 2**62, ()).item()
    torch.manual_seed(made)
    return made


class fork_rng:
    def __init__(self, devices=None, enabled=True, _caller="fork_rng", _devices_kw="devices", device_type="cuda"):
        self.enabled = enabled

    def __enter__(self):
        self.kept = torch.get_rng_state() if self.enabled else None

    def __exit__(self, kind, error, trace):
        if self.enabled:
            torch.set_rng_state(self.kept)
