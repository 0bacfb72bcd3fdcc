# safetensors and safetensors.torch: files of the run, read only.
import os
import torch
import _weights


class SafetensorError(Exception):
    pass


@torch._C._skip
def _open(filename):
    path = _weights.path_of(filename)
    if not torch._C._has_file(path):
        _weights.missing(path)
    return torch._C._load_safetensors(path)


@torch._C._skip
def load_file(filename, device="cpu"):
    return _open(filename)[0]


class _Slice:
    def __init__(self, tensor):
        self._tensor = tensor

    def get_shape(self):
        return list(self._tensor.shape)

    def __getitem__(self, index):
        return self._tensor[index]


class safe_open:
    def __init__(self, filename, framework, device="cpu"):
        if framework not in ("pt", "torch", "pytorch"):
            raise SafetensorError(f"framework {framework} is invalid; tensors here are torch's: 'pt'")
        self._tensors, self._metadata = _open(filename)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, trace):
        pass

    def keys(self):
        return list(self._tensors)

    def offset_keys(self):
        return list(self._tensors)

    def metadata(self):
        return self._metadata or None

    def get_tensor(self, name):
        if name not in self._tensors:
            raise SafetensorError(f"File does not contain tensor {name}")
        return self._tensors[name]

    def get_slice(self, name):
        return _Slice(self.get_tensor(name))


def load_model(model, filename, strict=True, device="cpu"):
    missing, unexpected = model.load_state_dict(load_file(filename), strict=False)
    # names of a tensor that has another one in the file are not missing
    state = model.state_dict(keep_vars=True)
    there = [v for k, v in state.items() if k not in missing]
    missing = [k for k in missing if not any([state[k] is v for v in there])]
    if strict and (missing or unexpected):
        lines = [f"Error(s) in loading state_dict for {type(model).__name__}:"]
        if missing:
            lines.append("    Missing key(s) in state_dict: " + ", ".join([f'"{k}"' for k in sorted(missing)]))
        if unexpected:
            lines.append("    Unexpected key(s) in state_dict: " + ", ".join([f'"{k}"' for k in sorted(unexpected)]))
        raise RuntimeError("\n".join(lines))
    return set(missing), unexpected


def save_file(tensors, filename, metadata=None):
    raise SafetensorError("nothing here writes files; torch.save(state, path) keeps a state in memory")


def save_model(model, filename, metadata=None, force_contiguous=True):
    raise SafetensorError("nothing here writes files; torch.save(state, path) keeps a state in memory")
