# Of sys, what says where a program runs: Python 3.12 on Linux, without a command line.
from collections import namedtuple

version_info = namedtuple("version_info", "major minor micro releaselevel serial")(3, 12, 0, "final", 0)
version = "3.12.0 (breakeven)"
platform = "linux"
byteorder = "little"
maxsize = 9223372036854775807
argv = [""]
path = []
modules = {}


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
