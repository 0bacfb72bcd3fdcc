# torch.compiler and torch._dynamo beside what steers a capture; torch._inductor, torch._functorch,
# torch._logging.  What tunes torch's own compiler is kept, to be read again, and changes nothing.
import collections

import torch


class _Patch:
    """The options within a block, or a function that it decorates."""

    def __init__(self, config, changes):
        self._config = config
        self._changes = changes
        self._before = []

    def __enter__(self):
        kept = self._config.__dict__
        self._before.append({name: kept[name] for name in self._changes if name in kept})
        kept.update(self._changes)
        return self

    def __exit__(self, kind, error, trace):
        for name in self._changes:
            self._config.__dict__.pop(name, None)
        self._config.__dict__.update(self._before.pop())

    def __call__(self, function):
        def patched(*args, **kwargs):
            with self:
                return function(*args, **kwargs)

        return function if isinstance(function, type) else patched


class _Config:
    def __init__(self, name, **defaults):
        self.__dict__["_name"] = name
        self.__dict__.update(defaults)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(f"{self._name}.{name} does not exist")
        self.__dict__[name] = _Config(f"{self._name}.{name}")  # a group, as config.triton
        return self.__dict__[name]

    def patch(self, name=None, value=None, **changes):
        if isinstance(name, dict):
            changes = name
        elif name is not None:
            changes = {name: value}
        return _Patch(self, changes)

    def load_config(self, config):
        self.__dict__.update(config)

    def save_config_portable(self):
        return {name: value for name, value in self.__dict__.items() if not name.startswith("_")}

    def get_config_copy(self):
        return self.save_config_portable()


class _Disabled(torch.nn.Module):
    """A module that no piece captures, its hooks included."""

    def __init__(self, module):
        super().__init__()
        self._orig_mod = module

    def __getattr__(self, name):
        found = self.__dict__["_modules"]["_orig_mod"]
        return found if name == "_orig_mod" else getattr(found, name)

    def forward(self, *args, **kwargs):
        return torch._C._disable(lambda: self._orig_mod(*args, **kwargs))()


def disable(fn=None, recursive=True, *, reason=None, wrapping=True):
    if fn is None:
        return lambda given: disable(given, recursive)
    if isinstance(fn, torch.nn.Module):
        return _Disabled(fn)
    if isinstance(fn, type):
        fn.__init__ = disable(fn.__init__, recursive)
        return fn
    if type(fn) is type(disable):
        return torch._C._disable(fn, recursive)
    return torch._C._disable(lambda *args, **kwargs: fn(*args, **kwargs), recursive)


def skip(fn=None):
    return disable(fn, False)


def disallow_in_graph(fn):
    return disable(fn) if type(fn) is type(disable) else fn


def mark_static(t, index=None):
    """Sizes are static until they change; what a class holds is static anyway."""
    return t if isinstance(t, type) else None


def mark_static_address(t, guard=False):
    return None


def mark_unbacked(t, index, hint_override=None, strict=False, specialize_on=None):
    return None


def _same(fn):
    return fn


forbid_in_graph = _same
assume_constant_result = _same
nonstrict_trace = _same


def nested_compile_region(fn=None):
    return _same if fn is None else fn


def substitute_in_graph(original_fn, *, can_constant_fold_through=False, skip_signature_check=False):
    return _same


def is_exporting():
    return False


def is_dynamo_supported():
    return True


def is_inductor_supported():
    return True


def cudagraph_mark_step_begin():
    return None


def list_backends(exclude_tags=("debug", "experimental")):
    return ["cudagraphs", "inductor", "onnxrt", "openxla", "tvm"]


def reset_code_caches():
    return None


_ExportResult = collections.namedtuple("ExportResult", "graph_module guards")


def export(f, *extra_args, **options):
    """The function again: a graph of it is made where it is called."""
    exported = f.forward if isinstance(f, torch.nn.Module) and len(extra_args) > 0 else f
    made = _ExportResult(f, set())
    return made if len(extra_args) > 0 and exported is not None else lambda *args, **kwargs: made


def _numbers(tree):
    if isinstance(tree, torch.Tensor):
        return tree.numpy()
    if isinstance(tree, (tuple, list)):
        return type(tree)([_numbers(part) for part in tree])
    return {key: _numbers(part) for key, part in tree.items()} if isinstance(tree, dict) else tree


def _tensors(tree):
    if isinstance(tree, (tuple, list)):
        return type(tree)([_tensors(part) for part in tree])
    if isinstance(tree, dict):
        return {key: _tensors(part) for key, part in tree.items()}
    return torch.as_tensor(tree) if hasattr(tree, "__array__") and not isinstance(tree, torch.Tensor) else tree


def wrap_numpy(fn):
    """A function of arrays as one of tensors."""

    def wrapped(*args, **kwargs):
        return _tensors(fn(*_numbers(args), **_numbers(kwargs)))

    return wrapped


_STANCES = ("default", "eager_then_compile", "aot_eager_then_compile", "force_eager", "eager_on_recompile", "fail_on_recompile")


class set_stance:
    """A mode says how a call is executed, so a stance changes nothing."""

    def __init__(self, stance="default", *, skip_guard_eval_unsafe=False, force_backend=None):
        if stance not in _STANCES:
            raise RuntimeError(f"invalid torch.compile stance 'DynamoStance(stance={stance!r})'")

    def __call__(self, fn):
        return fn

    def __enter__(self):
        return None

    def __exit__(self, kind, error, trace):
        return None


class OptimizedModule(torch.nn.Module):
    """What torch.compile makes of a module; here it stays what it is."""


config = _Config(
    "torch._dynamo.config",
    suppress_errors=False,
    verbose=False,
    cache_size_limit=8,
    recompile_limit=8,
    accumulated_cache_size_limit=256,
    accumulated_recompile_limit=256,
    specialize_int=False,
    specialize_float=False,
    assume_static_by_default=True,
    automatic_dynamic_shapes=True,
    dynamic_shapes=True,
    capture_scalar_outputs=False,
    capture_dynamic_output_shape_ops=False,
    inline_inbuilt_nn_modules=True,
    guard_nn_modules=True,
    optimize_ddp=True,
    error_on_recompile=False,
)


def set_logs(**options):
    return None
