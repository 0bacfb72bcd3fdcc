# Of sys, what says where a program runs: Python 3.12 on Linux, without a command line.
import _prelude
from collections import namedtuple

version_info = namedtuple("version_info", "major minor micro releaselevel serial")(3, 12, 0, "final", 0)
version = "3.12.0 (breakeven)"
platform = "linux"
byteorder = "little"
maxsize = 9223372036854775807
argv = [""]
path = []


class _Program:
    """The program's own module: globals() are those of who asks."""

    def __getattr__(self, name):
        names = globals()
        if name in names:
            return names[name]
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")

    def __setattr__(self, name, value):
        globals()[name] = value


class _Modules(dict):
    """What can be imported is there, whether it was or not."""

    def __missing__(self, name):
        if name in ("__main__", "model"):
            return _program
        try:
            return _prelude.import_module(name)
        except ImportError:
            raise KeyError(name) from None

    def __contains__(self, name):
        return self.get(name) is not None

    def get(self, name, default=None):
        try:
            return self[name]
        except KeyError:
            return default


_program = _Program()
modules = _Modules()


class _Text:
    _is_of_the_run = True  # print() writes there itself

    def write(self, text):
        print(text, end="", file=self)
        return len(text)

    def flush(self):
        pass

    def isatty(self):
        return False


stdout = _Text()
stderr = _Text()


def exit(status=None):
    raise SystemExit(status)


def getrecursionlimit():
    return 1000


def setrecursionlimit(limit):
    pass
