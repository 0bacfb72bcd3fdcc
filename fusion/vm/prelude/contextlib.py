# The module contextlib, and the part of abc, enum and logging that is code.
import functools
import sys
from abc import ABC


class _Manager:
    def __init__(self, function, args, keywords):
        self.again = lambda: _Manager(function, args, keywords)
        self.generator = function(*args, **keywords)

    def __call__(self, function):
        """As a decorator: each call of the function is inside a manager of its own."""

        def inside(*args, **keywords):
            with self.again():
                return function(*args, **keywords)

        return functools.wraps(function)(inside)

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
        return _Manager(function, args, keywords)

    return functools.wraps(function)(make)


class AbstractContextManager(ABC):
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        return None


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

    def push(self, manager):
        self.managers.append(manager if hasattr(type(manager), "__exit__") else _Exit(manager))
        return manager

    def callback(self, function, *args, **keywords):
        self.managers.append(_Callback(lambda: function(*args, **keywords)))
        return function

    def pop_all(self):
        made = ExitStack()
        made.managers, self.managers = self.managers, []
        return made

    def close(self):
        self.__exit__(None, None, None)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        raised = error
        while self.managers:
            try:
                if self.managers.pop().__exit__(kind if error is not None else None, error, trace):
                    kind, error, trace = None, None, None
            except BaseException as other:
                kind, error, trace = type(other), other, None
        if error is not None and error is not raised:
            raise error
        return raised is not None and error is None


class _Callback:
    def __init__(self, function):
        self.function = function

    def __exit__(self, kind, error, trace):
        self.function()
        return False


class _Exit:
    def __init__(self, function):
        self.function = function

    def __exit__(self, kind, error, trace):
        return self.function(kind, error, trace)


class closing:
    def __init__(self, thing):
        self.thing = thing

    def __enter__(self):
        return self.thing

    def __exit__(self, kind, error, trace):
        self.thing.close()
        return False


class ContextDecorator:
    def __call__(self, function):
        def inside(*args, **keywords):
            with self:
                return function(*args, **keywords)

        return inside


class redirect_stdout:
    _name = "stdout"

    def __init__(self, new_target):
        self._new_target = new_target
        self._old_targets = []

    def __enter__(self):
        self._old_targets.append(getattr(sys, self._name))
        setattr(sys, self._name, self._new_target)
        return self._new_target

    def __exit__(self, kind, error, trace):
        setattr(sys, self._name, self._old_targets.pop())


class redirect_stderr(redirect_stdout):
    _name = "stderr"
