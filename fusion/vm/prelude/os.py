# Of os, the environment, which is empty until a program writes to it, and the files of the run.
import torch

import _files
import _prelude

sep = "/"
linesep = "\n"
pathsep = ":"
name = "posix"
curdir = "."
devnull = "/dev/null"


class _Environ(dict):
    @torch._C._skip
    def __setitem__(self, key, value):
        for each in (key, value):
            if not isinstance(each, str):
                raise TypeError(f"str expected, not {type(each).__name__}")
        super().__setitem__(key, value)

    @torch._C._skip
    def __delitem__(self, key):
        super().__delitem__(key)

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]


environ = _Environ()


def getenv(key, default=None):
    return environ.get(key, default)


def putenv(key, value):
    return None


def unsetenv(key):
    return None


class PathLike:
    pass


def fspath(path):
    return path if isinstance(path, (str, bytes)) else path.__fspath__()


def getcwd():
    return "/"


def makedirs(name, mode=0o777, exist_ok=False):
    _files.make_folder(name, True, exist_ok)


def mkdir(path, mode=0o777):
    _files.make_folder(path, False, False)


def listdir(path="."):
    return _files.names_in(path)


remove = unlink = _files.remove


def rmdir(path):
    _files.remove_folder(path, False)


def rename(src, dst):
    _files.move(src, dst)


replace = rename


def _walk(top, topdown, found):
    names = listdir(top)
    folders = [n for n in names if _files.is_folder(f"{top}/{n}")]
    here = (top, folders, [n for n in names if n not in folders])
    if topdown:
        found.append(here)
    for each in folders:
        _walk(f"{top}/{each}", topdown, found)
    if not topdown:
        found.append(here)


def walk(top, topdown=True):
    _prelude.acts()
    found = []
    if _files.is_folder(top):
        _walk(top, topdown, found)
    return iter(found)


def cpu_count():
    return 1


def getpid():
    return 1
