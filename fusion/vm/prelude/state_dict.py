# nn.Module.state_dict; load_state_dict: what it compares, and its messages.
import collections

import _module_parts
import _prelude
import torch


def of(module, destination, prefix, keep_vars):
    if destination is None:
        destination = collections.OrderedDict()
        destination._metadata = collections.OrderedDict()
    if hasattr(destination, "_metadata"):
        destination._metadata[prefix[:-1]] = {"version": module._version}
    module._save_to_state_dict(destination, prefix, keep_vars)
    for name, child in module._own("modules"):
        child.state_dict(destination=destination, prefix=prefix + name + ".", keep_vars=keep_vars)
    return destination


def _own_places(module):
    """Parameters and persistent buffers that are not None, by name."""
    kept = vars(module).get("_buffer_names", {})
    found = dict(module._own("parameters"))
    for name, value in module._own("buffers"):
        if kept[name]:
            found[name] = value
    return found


def _put(module, name, param, given, assign):
    if not assign:
        with torch.no_grad():
            param.copy_(given)
        return
    if _prelude.parameter_of(param) is not None:
        if _prelude.parameter_of(given) is not None:
            given.requires_grad_(param.requires_grad)
        else:
            given = torch.nn.Parameter(given.detach(), param.requires_grad)
    _prelude.set(module, name, given)


def _load_one(module, name, key, param, given, assign, wrong):
    if not isinstance(given, torch.Tensor):
        wrong.append(
            f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like '
            f"object from checkpoint but received {type(given)}"
        )
        return
    if param.dim() == 0 and given.dim() == 1:
        given = given[0]  # files of before PyTorch 0.4
    if given.shape != param.shape:
        wrong.append(
            f"size mismatch for {key}: copying a param with shape {given.shape} from checkpoint, "
            f"the shape in current model is {param.shape}."
        )
        return
    try:
        _put(module, name, param, given, assign)
    except Exception as error:
        wrong.append(
            f'While copying the parameter named "{key}", whose dimensions in the model are '
            f"{param.size()} and whose dimensions in the checkpoint are {given.size()}, an exception "
            f"occurred : {error.args}."
        )


def load_own(module, state, prefix, metadata, strict, keys):
    missing, unexpected, wrong = keys
    for hook, with_module in list(vars(module).get("_load_hooks", {"before": {}})["before"].values()):
        args = (state, prefix, metadata, strict, missing, unexpected, wrong)
        hook(module, *args) if with_module else hook(*args)
    places = _own_places(module)
    if "num_batches_tracked" in places and (metadata.get("version") or 1) < 2:
        # files of before PyTorch 0.4.1 have none
        state.setdefault(prefix + "num_batches_tracked", places["num_batches_tracked"].clone())
    for name, param in places.items():
        key = prefix + name
        if key in state:
            _load_one(module, name, key, param, state[key], metadata["assign_to_params_buffers"], wrong)
        elif strict:
            missing.append(key)
    extra = prefix + "_extra_state"
    if hasattr(type(module), "set_extra_state"):
        if extra in state:
            module.set_extra_state(state[extra])
        elif strict:
            missing.append(extra)
    elif strict and extra in state:
        unexpected.append(extra)
    if not strict:
        return
    children = dict(module._own("modules"))
    for key in state:
        if key.startswith(prefix) and key != extra:
            parts = key[len(prefix):].split(".", 1)
            if parts[0] not in (children if len(parts) > 1 else places):
                unexpected.append(key)


def _walk(module, state, prefix, metadata, assign, keys):
    missing, unexpected, wrong = keys
    own = dict(metadata.get(prefix[:-1], {}))
    own["assign_to_params_buffers"] = assign
    module._load_from_state_dict(state, prefix, own, True, missing, unexpected, wrong)
    for name, child in module._own("modules"):
        below = prefix + name + "."
        part = {k: v for k, v in state.items() if k.startswith(below)}
        _walk(child, part, below, metadata, assign, keys)
    kept = _module_parts.IncompatibleKeys(missing, unexpected)
    for hook in list(vars(module).get("_load_hooks", {"after": {}})["after"].values()):
        if hook(module, kept) is not None:
            raise AssertionError(
                "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to "
                "return new values, if incompatible_keys need to be modified, it should be done inplace."
            )


def load(module, state_dict, strict, assign):
    if not isinstance(state_dict, dict) and not hasattr(state_dict, "items"):
        raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
    missing, unexpected, wrong = [], [], []
    metadata = getattr(state_dict, "_metadata", None) or {}
    _walk(module, dict(state_dict), "", metadata, assign, (missing, unexpected, wrong))
    if strict and unexpected:
        shown = ", ".join([f'"{name}"' for name in unexpected])
        wrong.insert(0, f"Unexpected key(s) in state_dict: {shown}. ")
    if strict and missing:
        shown = ", ".join([f'"{name}"' for name in missing])
        wrong.insert(0, f"Missing key(s) in state_dict: {shown}. ")
    if wrong:
        lines = "\n\t".join(wrong)
        raise RuntimeError(f"Error(s) in loading state_dict for {type(module).__name__}:\n\t{lines}")
    return _module_parts.IncompatibleKeys(missing, unexpected)
