# Of the module warnings, the context in which they are caught: nobody warns here.


class catch_warnings:
    def __init__(self, record=False, module=None, action=None, category=Warning, lineno=0, append=False):
        self.record = record

    def __enter__(self):
        return [] if self.record else None

    def __exit__(self, kind, error, trace):
        return False


def resetwarnings():
    pass


def warn_explicit(*args, **keywords):
    pass
