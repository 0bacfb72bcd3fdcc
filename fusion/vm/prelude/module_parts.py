# What nn.Module hands out: its children by name, handles of hooks, what a loaded state lacked.
from collections import OrderedDict

import torch


class Registry:
    """A module's children of a kind by name: m._modules.  What is stored here is the module's."""

    def __init__(self, module, kind):
        self._module = module
        self._kind = kind

    def __getitem__(self, name):
        return self._module._kept(self._kind)[name]

    def __setitem__(self, name, child):
        if self._kind == "buffers":
            self._module.register_buffer(name, child)
        else:
            self._module._take(self._kind, name, child)

    def __delitem__(self, name):
        self._module._kept(self._kind)[name]
        delattr(self._module, name)

    def pop(self, name, *default):
        found = self._module._kept(self._kind)
        child = found.pop(name, *default)
        if name in self:
            delattr(self._module, name)
        return child

    def clear(self):
        for name in self._module._kept(self._kind):
            delattr(self._module, name)

    def update(self, *others, **more):
        for name, child in dict(*others, **more).items():
            self[name] = child

    def setdefault(self, name, child=None):
        if name not in self:
            self[name] = child
        return self[name]

    def get(self, name, default=None):
        return self._module._kept(self._kind).get(name, default)

    def keys(self):
        return self._module._kept(self._kind).keys()

    def values(self):
        return self._module._kept(self._kind).values()

    def items(self):
        return self._module._kept(self._kind).items()

    def copy(self):
        return self._module._kept(self._kind)

    def __iter__(self):
        return iter(self._module._kept(self._kind))

    def __reversed__(self):
        return reversed(self._module._kept(self._kind))

    def __contains__(self, name):
        return name in self._module._kept(self._kind)

    def __len__(self):
        return len(self._module._kept(self._kind))

    def __eq__(self, other):
        return self._module._kept(self._kind) == (other.copy() if isinstance(other, Registry) else other)

    def __repr__(self):
        return repr(self._module._kept(self._kind))


class IncompatibleKeys:
    def __init__(self, missing_keys, unexpected_keys):
        self.missing_keys = missing_keys
        self.unexpected_keys = unexpected_keys

    def __iter__(self):
        return iter((self.missing_keys, self.unexpected_keys))

    def __len__(self):
        return 2

    def __getitem__(self, index):
        return (self.missing_keys, self.unexpected_keys)[index]

    def __repr__(self):
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return (
            f"_IncompatibleKeys(missing_keys={self.missing_keys}, "
            f"unexpected_keys={self.unexpected_keys})"
        )


class Handle:
    """Of a hook in a table by number."""

    next_id = 0

    def __init__(self, hooks):
        self.hooks = hooks
        self.id = Handle.next_id
        Handle.next_id += 1

    def remove(self):
        self.hooks.pop(self.id, None)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.remove()


def hooks(module):
    """Those of a module's calls, by what they are called at and by number."""
    if "_hooks" not in vars(module):
        module._hooks = {
            "before": OrderedDict(), "after": OrderedDict(), "backward": OrderedDict(), "with keywords": OrderedDict(),
        }
    return module._hooks


def hook(tables, when, hook, prepend=False, with_kwargs=False):
    table = tables[when]
    handle = Handle(table)
    table[handle.id] = hook
    if with_kwargs:
        tables["with keywords"][handle.id] = True
    if prepend:
        table.move_to_end(handle.id, last=False)
    return handle


# What a module has by these names, of which Module keeps no table itself.
TABLES = {
    "_forward_pre_hooks": lambda module: hooks(module)["before"],
    "_forward_hooks": lambda module: hooks(module)["after"],
    "_backward_hooks": lambda module: hooks(module)["backward"],
    "_forward_hooks_with_kwargs": lambda module: hooks(module)["with keywords"],
    "_non_persistent_buffers_set": lambda module: {
        name for name, persistent in vars(module).get("_buffer_names", {}).items() if not persistent
    },
}


def _tensors(values):
    return values if isinstance(values, tuple) else (values,)


class Gradients:
    """One call of a module that has hooks on gradients: they are called when the gradients of
    all inputs are there, or, where no input has one, that of the output."""

    def __init__(self, module):
        self._module = module
        self._expected = 0
        self._of_inputs = []
        self._of_outputs = None

    def _call(self):
        for hook in list(self._module._hooks["backward"].values()):
            changed = hook(self._module, tuple(self._of_inputs), self._of_outputs)
            if changed is not None:
                self._of_inputs = list(_tensors(changed))

    def _watch_input(self, i):
        def got(grad):
            self._of_inputs[i] = grad
            self._expected -= 1
            if self._expected > 0:
                return None
            self._call()
            return self._of_inputs[i]

        return got

    def inputs(self, args):
        watched = []
        self._of_inputs = [None] * len(args)
        for i, value in enumerate(args):
            if isinstance(value, torch.Tensor) and value.requires_grad:
                value = value.view_as(value)
                value.register_hook(self._watch_input(i))
                self._expected += 1
            watched.append(value)
        return tuple(watched)

    def _watch_output(self, i, n):
        def got(grad):
            known = [None] * n if self._of_outputs is None else list(self._of_outputs)
            known[i] = grad
            self._of_outputs = tuple(known)
            if self._expected == 0 and i == 0:
                self._call()

        return got

    def outputs(self, result):
        values = _tensors(result)
        for i, value in enumerate(values):
            if isinstance(value, torch.Tensor) and value.requires_grad:
                value.register_hook(self._watch_output(i, len(values)))
        return result
