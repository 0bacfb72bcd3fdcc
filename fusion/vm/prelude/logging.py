# The module logging: messages go nowhere, but what would write one ends a graph.

import _prelude

DEBUG = 10
INFO = 20
WARNING = 30
ERROR = 40
CRITICAL = 50
NOTSET = 0
WARN = WARNING
FATAL = CRITICAL
_NAMES = {0: "NOTSET", 10: "DEBUG", 20: "INFO", 30: "WARNING", 40: "ERROR", 50: "CRITICAL"}


class Logger:
    def __init__(self, name):
        self.name = name
        self.handlers = []
        self.propagate = True
        self.level = 0

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

    def log(self, level, *args, **keywords):
        _prelude.log()

    def addHandler(self, handler):
        self.handlers.append(handler)

    def removeHandler(self, handler):
        self.handlers.remove(handler)

    def hasHandlers(self):
        return len(self.handlers) > 0


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


def critical(*args, **keywords):
    _prelude.log()


class Handler:
    def __init__(self, *args, **keywords):
        pass

    def setLevel(self, level):
        pass

    def setFormatter(self, formatter):
        pass


class StreamHandler(Handler):
    pass


class FileHandler(Handler):
    pass


class NullHandler(Handler):
    pass


class Formatter:
    def __init__(self, *args, **keywords):
        pass


def exception(*args, **keywords):
    _prelude.log()


def log(level, *args, **keywords):
    _prelude.log()


warn, fatal = warning, critical


def disable(level=CRITICAL):
    pass


def captureWarnings(capture):
    pass


def getLevelName(level):
    if isinstance(level, str):
        return dict([(name, number) for number, name in _NAMES.items()]).get(level, "Level " + level)
    return _NAMES.get(level, f"Level {level}")


class Filter:
    def __init__(self, name=""):
        self.name = name

    def filter(self, record):
        return True
