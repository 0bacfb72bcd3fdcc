# optimizer.state, a mapping of parameters to what is kept for them.
import torch


class State:
    # What an optimiser keeps for each parameter, a dict; what it keeps by another key beside them.
    def __init__(self, optimizer):
        self._optimizer = optimizer

    def _find(self, key):
        if isinstance(key, torch.Tensor):
            for i in range(len(self._optimizer.param_groups)):
                for p, state in self._optimizer._pairs(i):
                    if p is key:
                        return state
        return self._optimizer._others.get(key)

    def __getitem__(self, key):
        found = self._find(key)
        if found is None:
            found = self._optimizer._others[key] = {}
        return found

    def __setitem__(self, key, value):
        found = self._find(key)
        if isinstance(key, torch.Tensor) and found is not None and isinstance(value, dict):
            found.clear()
            found.update(value)
        else:
            self._optimizer._others[key] = value

    def _pairs(self):
        pairs = []
        for i in range(len(self._optimizer.param_groups)):
            pairs += [(p, state) for p, state in self._optimizer._pairs(i) if len(state) > 0]
        return pairs + list(self._optimizer._others.items())

    def __contains__(self, key):
        found = self._find(key)
        return found is not None and (not isinstance(key, torch.Tensor) or len(found) > 0)

    def __len__(self):
        return len(self._pairs())

    def __iter__(self):
        return iter([k for k, v in self._pairs()])

    def get(self, key, default=None):
        return self[key] if key in self else default

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def keys(self):
        return [k for k, v in self._pairs()]

    def values(self):
        return [v for k, v in self._pairs()]

    def items(self):
        return self._pairs()
