# The module pickle, within a run: the bytes of an object name a copy of it that the run keeps.
import copy

import _prelude

HIGHEST_PROTOCOL = 5
DEFAULT_PROTOCOL = 4
_MARK = b"pickled "
_kept = []


class PickleError(Exception):
    pass


class PicklingError(PickleError):
    pass


class UnpicklingError(PickleError):
    pass


def dumps(obj, protocol=None, *, fix_imports=True, buffer_callback=None):
    _prelude.acts()
    _kept.append(copy.deepcopy(obj))
    return _MARK + str(len(_kept) - 1).encode() + b".\n"


def loads(data, *, fix_imports=True, encoding="ASCII", errors="strict", buffers=()):
    _prelude.acts()
    end = data.find(b".\n")
    if data[: len(_MARK)] != _MARK or end < 0:
        raise UnpicklingError("invalid load key; a run reads what it has pickled itself")
    return copy.deepcopy(_kept[int(data[len(_MARK):end].decode())])


def dump(obj, file, protocol=None, *, fix_imports=True, buffer_callback=None):
    file.write(dumps(obj))


def load(file, *, fix_imports=True, encoding="ASCII", errors="strict", buffers=()):
    line = file.readline()
    if not line:
        raise EOFError("Ran out of input")
    return loads(line)
