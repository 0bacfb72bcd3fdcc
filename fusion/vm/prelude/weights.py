# torch.load, torch.save and torch.serialization: files of the run, and what the program itself has saved.
#
# Nothing is written to the disk: what is saved under a path can be loaded from it in the same run.
import collections
import copy
import torch

_saved = {}  # path to what was saved there
_sizes = {}  # path to about how many bytes that has


class UnpicklingError(Exception):
    pass


def path_of(f):
    """The path of what names a file; None of an object in memory."""
    if isinstance(f, str):
        return f
    if isinstance(f, bytes):
        return f.decode()
    if hasattr(f, "__fspath__"):
        return f.__fspath__()
    return getattr(f, "_weights_path", None)


def missing(path):
    raise FileNotFoundError(
        f"[Errno 2] No such file or directory: '{path}' (a run has the files that it was given "
        f"as weights, and what it has saved itself)"
    )


@torch._C._skip
def exists(path):
    return path in _saved or torch._C._has_file(path)


def paths():
    return list(_saved)


@torch._C._skip
def forget(path):
    """Whether the program had saved something there."""
    there = path in _saved
    if there:
        del _saved[path]
    return there


@torch._C._skip
def copy_of(source, target):
    there = source in _saved
    if there:
        _saved[target] = _saved[source]
        _sizes[target] = _sizes[source]
    return there


def _bytes_in(value, seen):
    """Of tensors, their bytes, each one once; of what else there is, some."""
    if isinstance(value, torch.Tensor):
        if value in seen:
            return 0
        seen[value] = True
        return 192 + value.numel() * value.element_size()
    if isinstance(value, dict):
        return 16 + sum([_bytes_in(k, seen) + _bytes_in(v, seen) for k, v in value.items()])
    if isinstance(value, (list, tuple)):
        return 16 + sum([_bytes_in(each, seen) for each in value])
    return len(value) + 8 if isinstance(value, str) else 16


@torch._C._skip
def size_of(path):
    """About what torch.save() would write; None where there is no such file."""
    if path in _saved:
        return _sizes[path]
    return 600 + _bytes_in(load(path), {}) if torch._C._has_file(path) else None


def frozen(value, tensors):
    """A copy that nobody else has: tensors apart from their graphs, one for one."""
    if isinstance(value, torch.Tensor):
        if value not in tensors:
            kept = value.detach().clone()
            if isinstance(value, torch.nn.Parameter):
                kept = torch.nn.Parameter(kept, value.requires_grad)
            elif value.requires_grad:
                kept.requires_grad_()
            tensors[value] = kept
        return tensors[value]
    if isinstance(value, collections.OrderedDict):
        made = collections.OrderedDict([(k, frozen(v, tensors)) for k, v in value.items()])
        if hasattr(value, "_metadata"):
            made._metadata = copy.deepcopy(value._metadata)
        return made
    if type(value) is dict:
        return {k: frozen(v, tensors) for k, v in value.items()}
    if type(value) is list:
        return [frozen(v, tensors) for v in value]
    if type(value) is tuple:
        return tuple([frozen(v, tensors) for v in value])
    return copy.deepcopy(value)


@torch._C._skip
def save(obj, f, pickle_module=None, pickle_protocol=2, _use_new_zipfile_serialization=True, _disable_byteorder_record=False):
    path = path_of(f)
    kept = frozen(obj, {})
    if path is not None:
        _saved[path] = kept
        _sizes[path] = 600 + _bytes_in(kept, {})
    elif hasattr(f, "write") and hasattr(f, "read"):
        f._saved = kept
    else:
        raise AttributeError(
            "expected 'f' to be string, path, or a file-like object with a 'write' attribute"
        )


@torch._C._skip
def load(f, map_location=None, pickle_module=None, *, weights_only=True, mmap=None, **pickle_load_args):
    path = path_of(f)
    if path is None:
        if not hasattr(f, "_saved"):
            raise EOFError("torch.load: nothing was saved into this object; a run reads files by path")
        return frozen(f._saved, {})
    if path in _saved:
        return frozen(_saved[path], {})
    if not torch._C._has_file(path):
        missing(path)
    found, leaves = torch._C._load_torch(path, collections.OrderedDict)
    for leaf in leaves:
        leaf.requires_grad_()
    return found
