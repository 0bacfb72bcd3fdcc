# The module logging: messages go nowhere, but what would write one ends a graph.

import _prelude

DEBUG = 10
INFO = 20
WARNING = 30
ERROR = 40
CRITICAL = 50


class Logger:
    def __init__(self, name):
        self.name = name

    def debug(self, *args, **keywords):
        _prelude.log()

    def info(self, *args, **keywords):
        _prelude.log()

    def warning(self, *args, **keywords):
        _prelude.log()

    def error(self, *args, **keywords):
        _prelude.log()

    def critical(self, *args, **keywords):
        _prelude.log()

    def exception(self, *args, **keywords):
        _prelude.log()

    def setLevel(self, level):
        pass

    def isEnabledFor(self, level):
        return False


def getLogger(name="root"):
    return Logger(name)


def basicConfig(*args, **keywords):
    pass


def debug(*args, **keywords):
    _prelude.log()


def info(*args, **keywords):
    _prelude.log()


def warning(*args, **keywords):
    _prelude.log()


def error(*args, **keywords):
    _prelude.log()
