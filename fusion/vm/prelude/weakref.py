# The module weakref: what it refers to is kept as long as the reference is.


class ref:
    def __init__(self, object, callback=None):
        self._object = object

    def __call__(self):
        return self._object

    def __eq__(self, other):
        return isinstance(other, ref) and self._object == other._object

    def __hash__(self):
        return hash(self._object)


ReferenceType = ref


class WeakMethod(ref):
    pass


def proxy(object, callback=None):
    return object


class WeakKeyDictionary(dict):
    pass


class WeakValueDictionary(dict):
    pass


class WeakSet(set):
    pass


class finalize:
    """Its function is called by hand alone: nothing is collected before the run ends."""

    def __init__(self, obj, func, /, *args, **kwargs):
        self._call = (func, args, kwargs)
        self.alive = True

    def __call__(self, _=None):
        if not self.alive:
            return None
        self.alive = False
        func, args, kwargs = self._call
        return func(*args, **kwargs)

    def detach(self):
        self.alive = False
