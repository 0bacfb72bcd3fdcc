# torch.nn: modules and parameters by name or in a list.  Few programs have any, so that nn.py is
# parsed without them.
import _prelude
from torch.nn import Module, Parameter


class ModuleDict(Module):
    def __init__(self, modules=None):
        _prelude.begin(self)
        self.update({} if modules is None else modules)

    def update(self, modules):
        for name, module in modules.items() if hasattr(modules, "items") else modules:
            self.add_module(name, module)

    def __getitem__(self, name):
        return getattr(self, name)

    def __setitem__(self, name, module):
        self.add_module(name, module)

    def __delitem__(self, name):
        delattr(self, name)

    def pop(self, name):
        module = self[name]
        del self[name]
        return module

    def clear(self):
        for name in self.keys():
            del self[name]

    def __len__(self):
        return len(self._own("modules"))

    def __iter__(self):
        return iter(self.keys())

    def __contains__(self, name):
        return name in self.keys()

    def keys(self):
        return [name for name, _ in self._own("modules")]

    def values(self):
        return [module for _, module in self._own("modules")]

    def items(self):
        return self._own("modules")


def _described(value, kind):
    return f"Parameter containing: [{kind} of size {'x'.join([str(n) for n in value.shape])}]"


def _parameter(value):
    return Parameter(value) if _prelude.parameter_of(value) is None else value


class ParameterList(Module):
    def __init__(self, values=None):
        _prelude.begin(self)
        self.extend(() if values is None else values)

    def _as_argument(self):
        return list(self)

    def append(self, value):
        setattr(self, str(len(self)), _parameter(value))
        return self

    def __setitem__(self, index, value):
        setattr(self, self._own("parameters")[index][0], _parameter(value))

    def extend(self, values):
        for value in values:
            self.append(value)
        return self

    def __len__(self):
        return len(self._own("parameters"))

    def __iter__(self):
        return iter([value for _, value in self._own("parameters")])

    def __getitem__(self, index):
        found = [value for _, value in self._own("parameters")][index]
        return ParameterList(found) if isinstance(index, slice) else found

    def extra_repr(self):
        return "\n".join([f"  ({name}): {_described(value, value.dtype)}" for name, value in self._own("parameters")])


class ParameterDict(Module):
    def __init__(self, values=None):
        _prelude.begin(self)
        self.update({} if values is None else values)

    def update(self, parameters):
        """Of a plain dict in the order of its names, as PyTorch does."""
        pairs = parameters.items() if hasattr(parameters, "items") else parameters
        if isinstance(parameters, dict):
            from collections import OrderedDict

            if not isinstance(parameters, OrderedDict):
                pairs = sorted(pairs, key=lambda pair: pair[0])
        for name, value in pairs:
            self[name] = value

    def __getitem__(self, name):
        return getattr(self, name)

    def __setitem__(self, name, value):
        self.register_parameter(name, _parameter(value))

    def keys(self):
        return [name for name, _ in self._own("parameters")]

    def values(self):
        return [value for _, value in self._own("parameters")]

    def items(self):
        return self._own("parameters")

    def __iter__(self):
        return iter(self.keys())

    def __len__(self):
        return len(self._own("parameters"))

    def __contains__(self, name):
        return name in self.keys()

    def extra_repr(self):
        own = self._own("parameters")
        return "\n".join([f"  ({name}): {_described(value, value.type())}" for name, value in own])
