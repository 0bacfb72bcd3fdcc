# The module contextlib, and the part of abc, enum and logging that is code.


class _Manager:
    def __init__(self, generator):
        self.generator = generator

    def __enter__(self):
        return next(self.generator)

    def __exit__(self, kind, error, trace):
        if error is None:
            next(self.generator, None)
            return False
        try:
            self.generator.throw(error)
        except StopIteration as end:
            return end is not error
        except BaseException as other:
            if other is not error:
                raise
            return False
        raise RuntimeError("generator didn't stop after throw()")


def contextmanager(function):
    def make(*args, **keywords):
        return _Manager(function(*args, **keywords))

    return make


class nullcontext:
    def __init__(self, enter_result=None):
        self.enter_result = enter_result

    def __enter__(self):
        return self.enter_result

    def __exit__(self, kind, error, trace):
        return False


class suppress:
    def __init__(self, *kinds):
        self.kinds = kinds

    def __enter__(self):
        return None

    def __exit__(self, kind, error, trace):
        return error is not None and isinstance(error, self.kinds)


class ExitStack:
    def __init__(self):
        self.managers = []

    def enter_context(self, manager):
        entered = manager.__enter__()
        self.managers.append(manager)
        return entered

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        while self.managers:
            self.managers.pop().__exit__(kind, error, trace)
        return False
