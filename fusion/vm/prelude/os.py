# Of os, the environment, which is empty until a program writes to it.
import torch


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
