# torch.nn: Module and containers.  Parameters, buffers and submodules are plain attributes:
# a tensor that Parameter() made, one whose name register_buffer() noted, and an
# instance of Module.
import torch
import _module_parts
import _prelude
import _state_dict

Parameter = _prelude.Parameter
Buffer = _prelude.Buffer


def _indented(text):
    return "\n  ".join(text.split("\n"))


def _clear_gradients(parameters, set_to_none):
    for parameter in parameters:
        if parameter.grad is not None:
            if set_to_none:
                parameter.grad = None
            else:
                parameter.grad.detach_().zero_()


class _Nothing:
    pass


_NOTHING = _Nothing()


class Module:
    training = True
    _version = 1  # of what a state dict holds
    call_super_init = False
    __call__ = _prelude.forward

    def __init__(self, *args, **keywords):
        """PyTorch's is not cooperative: what follows in the order of the bases is not called."""
        _prelude.begin(self)
        if self.call_super_init:
            super().__init__(*args, **keywords)
        elif keywords:
            raise TypeError(
                f"{type(self).__name__}.__init__() got an unexpected keyword argument "
                f"'{list(keywords)[0]}'"
            )
        elif args:
            raise TypeError(
                f"{type(self).__name__}.__init__() takes 1 positional argument but "
                f"{len(args) + 1} were given"
            )

    def forward(self, *args, **keywords):
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def _call_impl(self, *args, **keywords):
        seen = None
        if self._hooks["backward"]:
            seen = _module_parts.Gradients(self)
            args = seen.inputs(args)
        for key, hook in list(self._hooks["before"].items()):
            if key in self._hooks["with keywords"]:
                changed = hook(self, args, keywords)
                if changed is not None:
                    args, keywords = changed
                continue
            changed = hook(self, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        result = self.forward(*args, **keywords)
        for key, hook in list(self._hooks["after"].items()):
            if key in self._hooks["with keywords"]:
                changed = hook(self, args, keywords, result)
            else:
                changed = hook(self, args, result)
            if changed is not None:
                result = changed
        return result if seen is None else seen.outputs(result)

    def _hook(self, when, hook, prepend, with_kwargs=False):
        return _module_parts.hook(_module_parts.hooks(self), when, hook, prepend, with_kwargs)

    def register_forward_pre_hook(self, hook, *, prepend=False, with_kwargs=False):
        return self._hook("before", hook, prepend, with_kwargs)

    def register_forward_hook(
        self, hook, *, prepend=False, with_kwargs=False, always_call=False
    ):
        return self._hook("after", hook, prepend, with_kwargs)

    def _load_hook(self, when, hook):
        if "_load_hooks" not in vars(self):
            _prelude.set(self, "_load_hooks", {"before": {}, "after": {}})
        return _module_parts.hook(self._load_hooks, when, hook)

    def _register_load_state_dict_pre_hook(self, hook, with_module=False):
        return self._load_hook("before", (hook, with_module))

    def register_load_state_dict_pre_hook(self, hook):
        return self._load_hook("before", (hook, True))

    def register_load_state_dict_post_hook(self, hook):
        return self._load_hook("after", hook)

    def __getattr__(self, name):
        child = _prelude.child(self, name, _NOTHING)
        if child is not _NOTHING:
            return child
        if name == "_parameters" or name == "_buffers" or name == "_modules":
            return _module_parts.Registry(self, name[1:])
        if name in _module_parts.TABLES:
            return _module_parts.TABLES[name](self)
        if "parametrizations" in vars(self) and name in self.parametrizations:
            return self.parametrizations[name]()
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def _may_take(self, what, kind, name):
        """Refuses a name that cannot be a child's, or that something else has."""
        if not isinstance(name, str):
            raise TypeError(f"{what} name should be a string. Got {type(name).__name__}")
        # hasattr() would read the rest of Module's methods from their files
        taken = name in vars(self) or any([name in vars(c) for c in type(self).__mro__])
        taken = taken and name not in self._kept(kind)
        if "." in name and not (taken and what == "module"):
            raise KeyError(f'{what} name can\'t contain "."' + (f", got: {name}" if what == "module" else ""))
        if name == "":
            raise KeyError(f'{what} name can\'t be empty string ""')
        if taken:
            raise KeyError(f"attribute '{name}' already exists")

    def register_buffer(self, name, tensor, persistent=True):
        self._may_take("buffer", "buffers", name)
        if tensor is not None and not isinstance(tensor, torch.Tensor):
            kind = type(tensor).__name__
            raise TypeError(f"cannot assign '{kind}' object to buffer '{name}' (torch Tensor or None required)")
        if "_buffer_names" not in vars(self):
            _prelude.set(self, "_buffer_names", {})
        self._buffer_names[name] = persistent
        _prelude.set(self, name, tensor)

    def register_parameter(self, name, param):
        self._may_take("parameter", "parameters", name)
        if param is not None and not isinstance(param, Parameter):
            kind = param.type() if isinstance(param, torch.Tensor) else type(param).__name__
            raise TypeError(
                f"cannot assign '{kind}' object to parameter '{name}' (torch.nn.Parameter or None required)"
            )
        self._take("parameters", name, param)

    def _take(self, kind, name, child):
        """Stores a child, or None in its place."""
        if child is None:
            if "_vacant" not in vars(self):
                _prelude.set(self, "_vacant", {})
            self._vacant[name] = kind
        _prelude.set(self, name, child)

    def add_module(self, name, module):
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{type(module).__name__} is not a Module subclass")
        self._may_take("module", "modules", name)
        self._take("modules", name, module)

    def register_module(self, name, module):
        self.add_module(name, module)

    def _kept(self, wanted):
        """All of them by name, places that are None, too."""
        places = vars(self).get("_buffer_names" if wanted == "buffers" else "_vacant", {})
        own = dict(self._own(wanted))
        found = {}
        for name, value in vars(self).items():
            vacant = value is None and name in places
            if name in own or (vacant and (wanted == "buffers" or places[name] == wanted)):
                found[name] = value
        return found

    def _own(self, wanted):
        """`training` is no child, and is not looked at: what loops over children holds in both modes."""
        entries = vars(self)
        if wanted == "modules":
            return [
                (name, entries[name])
                for name in entries
                if name != "training" and isinstance(entries[name], Module)
            ]
        if wanted == "buffers":
            buffers = entries.get("_buffer_names", {})
            return [(name, value) for name, value in entries.items() if name in buffers and value is not None]
        found = []
        for name in entries:
            parameter = None if name == "training" else _prelude.parameter_of(entries[name])
            if parameter is not None:
                found.append((name, parameter))
        return found

    def named_children(self):
        return iter(self._own("modules"))

    def children(self):
        return iter([module for _, module in self._own("modules")])

    def _walk(self, prefix, found, once=True):
        if once and any([module is self for _, module in found]):
            return found
        found.append((prefix, self))
        for name, module in self._own("modules"):
            module._walk(prefix + "." + name if prefix else name, found, once)
        return found

    def named_modules(self, memo=None, prefix="", remove_duplicate=True):
        seen = set() if memo is None else memo
        for name, module in self._walk(prefix, [], remove_duplicate):
            if not remove_duplicate or module not in seen:
                seen.add(module)
                yield name, module

    def modules(self):
        return iter([module for _, module in self._walk("", [])])

    def _named(self, wanted, prefix, recurse, once=True):
        found = []
        for path, module in self._walk(prefix, [], once) if recurse else [(prefix, self)]:
            for name, value in module._own(wanted):
                if not once or not any([other is value for _, other in found]):
                    found.append((path + "." + name if path else name, value))
        return found

    def named_parameters(self, prefix="", recurse=True, remove_duplicate=True):
        return iter(self._named("parameters", prefix, recurse, remove_duplicate))

    def parameters(self, recurse=True):
        return iter([value for _, value in self._named("parameters", "", recurse)])

    def named_buffers(self, prefix="", recurse=True, remove_duplicate=True):
        return iter(self._named("buffers", prefix, recurse, remove_duplicate))

    def buffers(self, recurse=True):
        return iter([value for _, value in self._named("buffers", "", recurse)])

    @torch._C._skip
    def state_dict(self, destination=None, prefix="", keep_vars=False):
        return _state_dict.of(self, destination, prefix, keep_vars)

    def _save_to_state_dict(self, destination, prefix, keep_vars):
        """Every name, those of a tensor that two modules share, too."""
        kept = vars(self).get("_buffer_names", {})
        for name, value in self._own("parameters"):
            destination[prefix + name] = value if keep_vars else value.detach()
        for name, value in self._own("buffers"):
            if kept[name]:
                destination[prefix + name] = value
        if hasattr(type(self), "get_extra_state"):
            destination[prefix + "_extra_state"] = self.get_extra_state()

    def _load_from_state_dict(
        self, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs
    ):
        keys = (missing_keys, unexpected_keys, error_msgs)
        _state_dict.load_own(self, state_dict, prefix, local_metadata, strict, keys)

    @torch._C._skip
    def load_state_dict(self, state_dict, strict=True, assign=False):
        return _state_dict.load(self, state_dict, strict, assign)

    def get_submodule(self, target):
        module = self
        for name in target.split(".") if target else []:
            module = getattr(module, name)
        return module

    def get_parameter(self, target):
        path, _, name = target.rpartition(".")
        return getattr(self.get_submodule(path), name)

    def get_buffer(self, target):
        return self.get_parameter(target)

    def set_submodule(self, target, module, strict=False):
        path, _, name = target.rpartition(".")
        setattr(self.get_submodule(path), name, module)

    def train(self, mode=True):
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        return self.train(False)

    def apply(self, fn):
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def requires_grad_(self, requires_grad=True):
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none=True):
        _clear_gradients(self.parameters(), set_to_none)

    def _convert(self, dtype, all=False):
        """Parameters and buffers: those of floats, or all."""
        changed = {}  # a tensor that two modules share stays one
        for module in self.modules():
            for name, value in module._own("parameters"):
                if value not in changed and (all or value.dtype.is_floating_point):
                    made = Parameter(value.detach().to(dtype), value.requires_grad)
                    changed[value] = value if value.dtype == dtype else made
                if value in changed:
                    _prelude.set(module, name, changed[value])
            for name, value in module._own("buffers"):
                if all or value.dtype.is_floating_point:
                    _prelude.set(module, name, value.to(dtype))
        return self

    def to(self, *args, device=None, dtype=None, non_blocking=False, memory_format=None):
        if device == "meta" or args == ("meta",):
            return self  # a skeleton for functional_call: what its tensors hold is not asked for
        wanted = torch._C.conversion(*args, device=device, dtype=dtype, non_blocking=non_blocking)
        if wanted is not None and not wanted.is_floating_point:
            raise TypeError(f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={wanted}")
        if wanted is not None:
            self._convert(wanted)
        if device is not None or (args and isinstance(args[0], (str, int))):
            self._move(args[0] if device is None else device)
        if memory_format is not None:
            self._lay(memory_format)
        return self

    def _lay(self, memory_format):
        rank = {"torch.channels_last": 4, "torch.channels_last_3d": 5}.get(memory_format, 0)
        for value in [*self.parameters(), *self.buffers()]:
            if value.dim() == rank:
                value.data = value.data.to(memory_format=memory_format)

    def _move(self, device):
        for module in self.modules():
            for kind in ("parameters", "buffers"):
                for name, value in module._own(kind):
                    value.to(device=device)

    def type(self, dst_type):
        return self._convert(torch._C.conversion(dst_type), True)

    def float(self):
        return self._convert(torch.float32)

    def double(self):
        return self._convert(torch.float64)

    def half(self):
        return self._convert(torch.float16)

    def bfloat16(self):
        return self._convert(torch.bfloat16)

    def cpu(self):
        return self

    def cuda(self, device=None):
        self._move("cuda" if device is None else device)
        return self

    def share_memory(self):
        return self

    def register_full_backward_hook(self, hook, prepend=False):
        return self._hook("backward", hook, prepend)

    def register_backward_hook(self, hook):
        return self._hook("backward", hook, False)

    def _get_name(self):
        name = type(self).__name__
        return "Parametrized" + name if "parametrizations" in vars(self) else name

    _compiled_call_impl = None

    def compile(self, *args, **keywords):
        _prelude.set(self, "_compiled_call_impl", self._call_impl)

    def extra_repr(self):
        return ""

    def __repr__(self):
        lines = [
            f"({name}): {_indented(repr(module))}" for name, module in self._kept("modules").items()
        ]
        extra = self.extra_repr().split("\n")
        extra = extra if extra != [""] else []
        name = self._get_name()
        if not lines and len(extra) < 2:
            return f"{name}({''.join(extra)})"
        return name + "(\n  " + "\n  ".join(extra + lines) + "\n)"


# ---- containers


class _Container(Module):
    def __len__(self):
        return len(self._own("modules"))

    def __iter__(self):
        return self.children()

    def _number(self, index):
        n = len(self)
        if index < -n or index >= n:
            raise IndexError(f"index {index} is out of range")
        return index + n if index < 0 else index

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(*self._picked(index))
        return self._own("modules")[self._number(index)][1]

    def __setitem__(self, index, module):
        setattr(self, self._own("modules")[self._number(index)][0], module)

    def append(self, module):
        setattr(self, str(len(self)), module)
        return self

    def extend(self, modules):
        for module in modules:
            self.append(module)
        return self

    def insert(self, index, module):
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        n = len(self)
        if not -n <= index <= n:
            raise IndexError(f"Index out of range: {index}")
        modules = list(self.children())
        modules.insert(index, module)
        for i, each in enumerate(modules):
            setattr(self, str(i), each)
        return self

    def __delitem__(self, index):
        names = [name for name, _ in self._own("modules")]
        gone = names[index] if isinstance(index, slice) else [names[self._number(index)]]
        kept = [(name, module) for name, module in self._own("modules") if name not in gone]
        numbered = all([name.isdigit() for name in names])
        for name in names:
            delattr(self, name)
        for i, (name, module) in enumerate(kept):
            setattr(self, str(i) if numbered else name, module)

    def pop(self, index=-1):
        module = self[index]
        del self[index]
        return module

    def __iadd__(self, other):
        return self.extend(other)

    def __add__(self, other):
        modules = list(self.children()) + list(other)
        return Sequential(*modules) if isinstance(self, Sequential) else ModuleList(modules)


class Sequential(_Container):
    def __init__(self, *args):
        _prelude.begin(self)
        if len(args) == 1 and isinstance(args[0], dict):
            for name, module in args[0].items():
                self.add_module(name, module)
        else:
            for i, module in enumerate(args):
                setattr(self, str(i), module)

    def _picked(self, index):
        return ({name: module for name, module in self._own("modules")[index]},)

    def forward(self, input):
        for module in self:
            input = module(input)
        return input


class ModuleList(_Container):
    def __init__(self, modules=None):
        _prelude.begin(self)
        for i, module in enumerate(() if modules is None else modules):
            setattr(self, str(i), module)

    def _picked(self, index):
        return (list(self.children())[index],)

    def __contains__(self, module):
        return any([each is module for each in self.children()])

    def __repr__(self):
        """Modules in a row that print the same are one line with their number."""
        texts = [repr(module) for module in self]
        if not texts:
            return self._get_name() + "()"
        lines = []
        first = 0
        for i, text in enumerate(texts):
            if i + 1 < len(texts) and texts[i + 1] == text:
                continue
            many = f"({first}-{i}): {i - first + 1} x " if first < i else f"({i}): "
            lines.append(_indented(many + text))
            first = i + 1
        return self._get_name() + "(\n  " + "\n  ".join(lines) + "\n)"
