# The builtin open().
import _files


def Open(file, mode="r", buffering=-1, encoding=None, errors=None, newline=None, closefd=True, opener=None):
    return _files.opened(file, mode)
