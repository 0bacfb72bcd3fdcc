"""PyTorch's rules for attributes of modules, for a CPython that has no PyTorch."""


class Module:
    training: bool
    call_super_init = False

    def __init__(self, *args, **kwargs):
        if not self.call_super_init and kwargs:
            raise TypeError(f"{type(self).__name__}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'")
        if not self.call_super_init and args:
            raise TypeError(f"{type(self).__name__}.__init__() takes 1 positional argument but {len(args) + 1} were given")
        super().__setattr__("training", True)
        for name in ("_parameters", "_buffers", "_modules"):
            super().__setattr__(name, {})
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)

    def forward(self, *inputs):
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __getattr__(self, name):
        for kept in ("_parameters", "_buffers", "_modules"):
            if kept in self.__dict__ and name in self.__dict__[kept]:
                return self.__dict__[kept][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name, value):
        modules = self.__dict__.get("_modules")
        if isinstance(value, Module):
            if modules is None:
                raise AttributeError("cannot assign module before Module.__init__() call")
            for kept in (self.__dict__, self._parameters, self._buffers):
                kept.pop(name, None)
            modules[name] = value
        elif modules is not None and name in modules:
            if value is not None:
                raise TypeError(f"cannot assign '{type(value).__module__ + '.' if type(value).__module__ != 'builtins' else ''}{type(value).__name__}' as child module '{name}' (torch.nn.Module or None expected)")
            modules[name] = value
        else:
            super().__setattr__(name, value)

    def __delattr__(self, name):
        for kept in (self._parameters, self._buffers, self._modules):
            if name in kept:
                del kept[name]
                return
        super().__delattr__(name)

    def named_children(self):
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def named_modules(self, memo=None, prefix=""):
        memo = set() if memo is None else memo
        if self not in memo:
            memo.add(self)
            yield prefix, self
            for name, module in self._modules.items():
                if module is not None:
                    yield from module.named_modules(memo, prefix + ("." if prefix else "") + name)

    def train(self, mode=True):
        self.training = mode
        for _, module in self.named_children():
            module.train(mode)
        return self

    def eval(self):
        return self.train(False)


class ReLU(Module):
    """There are no tensors here: as with any other argument."""

    def forward(self, x):
        raise TypeError(f"torch.nn.functional.relu: x must be a tensor, not {type(x).__name__}")


class Identity(Module):
    def forward(self, x):
        return x
