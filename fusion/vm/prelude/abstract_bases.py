# What a class has from `class C(collections.abc.Mapping)` and its like, beside what it defines.
# __builtin__: what it passes for when isinstance() asks.
import collections.abc


class Mapping:
    __builtin__ = collections.abc.Mapping

    def __contains__(self, key):
        try:
            self[key]
        except KeyError:
            return False
        return True

    def get(self, key, default=None):
        return self[key] if key in self else default

    def keys(self):
        return [key for key in self]

    def values(self):
        return [self[key] for key in self]

    def items(self):
        return [(key, self[key]) for key in self]

    def __eq__(self, other):
        return dict(self.items()) == (dict(other.items()) if hasattr(other, "items") else other)


class MutableMapping(Mapping):
    def pop(self, key, *default):
        if key in self or not default:
            value = self[key]
            del self[key]
            return value
        return default[0]

    def popitem(self):
        for key in self:
            return key, self.pop(key)
        raise KeyError

    def clear(self):
        for key in list(self):
            del self[key]

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, items=(), **keywords):
        for key, value in {**dict(items), **keywords}.items():
            self[key] = value


class Sequence:
    __builtin__ = collections.abc.Sequence

    def __iter__(self):
        for at in range(len(self)):
            yield self[at]

    def __contains__(self, value):
        return any([value is kept or value == kept for kept in self])

    def __reversed__(self):
        for at in range(len(self) - 1, -1, -1):
            yield self[at]

    def index(self, value):
        for at, kept in enumerate(self):
            if kept is value or kept == value:
                return at
        raise ValueError

    def count(self, value):
        return sum([kept is value or kept == value for kept in self])


class MutableSequence(Sequence):
    def append(self, value):
        self.insert(len(self), value)

    def extend(self, values):
        for value in list(values):
            self.append(value)

    def pop(self, index=-1):
        value = self[index]
        del self[index]
        return value

    def remove(self, value):
        del self[self.index(value)]

    def clear(self):
        while len(self) > 0:
            self.pop()

    def reverse(self):
        n = len(self)
        for at in range(n // 2):
            self[at], self[n - at - 1] = self[n - at - 1], self[at]

    def __iadd__(self, values):
        self.extend(values)
        return self
