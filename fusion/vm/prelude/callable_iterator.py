# What iter(function, sentinel) gives.


class callable_iterator:
    def __init__(self, function, sentinel):
        if not callable(function):
            raise TypeError("iter(v, w): v must be callable")
        self._function = function
        self._sentinel = sentinel

    def __iter__(self):
        return self

    def __next__(self):
        if self._function is None:
            raise StopIteration
        found = self._function()
        if found == self._sentinel:
            self._function = None
            raise StopIteration
        return found
