# The module logging: messages go nowhere.

DEBUG = 10
INFO = 20
WARNING = 30
ERROR = 40
CRITICAL = 50


class Logger:
    def __init__(self, name):
        self.name = name

    def debug(self, *args, **keywords):
        pass

    def info(self, *args, **keywords):
        pass

    def warning(self, *args, **keywords):
        pass

    def error(self, *args, **keywords):
        pass

    def critical(self, *args, **keywords):
        pass

    def exception(self, *args, **keywords):
        pass

    def setLevel(self, level):
        pass

    def isEnabledFor(self, level):
        return False


def getLogger(name="root"):
    return Logger(name)


def basicConfig(*args, **keywords):
    pass


def debug(*args, **keywords):
    pass


def info(*args, **keywords):
    pass


def warning(*args, **keywords):
    pass


def error(*args, **keywords):
    pass
