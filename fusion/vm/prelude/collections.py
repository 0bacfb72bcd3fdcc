# The module collections; namedtuple is not written here.
from _bases import MutableMapping


class OrderedDict(dict):
    def popitem(self, last=True):
        if last:
            return super().popitem()
        for key in self:
            return key, self.pop(key)
        raise KeyError("dictionary is empty")

    def move_to_end(self, key, last=True):
        value = self.pop(key)
        rest = [] if last else list(self.items())
        self[key] = value
        for other, kept in rest:
            del self[other]
            self[other] = kept

    def copy(self):
        return type(self)(self)

    def __eq__(self, other):
        if isinstance(other, OrderedDict):
            return list(self.items()) == list(other.items())
        return super().__eq__(other)

    def __repr__(self):
        return f"{type(self).__name__}({dict(self)!r})" if len(self) else f"{type(self).__name__}()"


class defaultdict(dict):
    def __init__(self, default_factory=None, *args, **keywords):
        super().__init__(*args, **keywords)
        self.default_factory = default_factory

    def __missing__(self, key):
        if self.default_factory is None:
            raise KeyError(key)
        self[key] = value = self.default_factory()
        return value

    def copy(self):
        return defaultdict(self.default_factory, self)

    def __repr__(self):
        return f"defaultdict({self.default_factory!r}, {dict(self)!r})"


class Counter(dict):
    def __init__(self, items=(), **counts):
        self.update(items, **counts)

    def __missing__(self, key):
        return 0

    def _change(self, sign, items, counts):
        if isinstance(items, dict):
            for key, n in items.items():
                self[key] = self[key] + sign * n
        else:
            for key in items:
                self[key] = self[key] + sign
        for key, n in counts.items():
            self[key] = self[key] + sign * n

    def update(self, items=(), **counts):
        self._change(1, items, counts)

    def subtract(self, items=(), **counts):
        self._change(-1, items, counts)

    def elements(self):
        return iter([key for key, n in self.items() for _ in range(n)])

    def total(self):
        return sum(self.values())

    def copy(self):
        return Counter(self)

    def _joined(self, other, combine):
        result = Counter()
        for key in [*self, *[k for k in other if k not in self]]:
            n = combine(self[key], other[key])
            if n > 0:
                result[key] = n
        return result

    def __add__(self, other):
        return self._joined(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._joined(other, lambda a, b: a - b)

    def __and__(self, other):
        return self._joined(other, min)

    def __or__(self, other):
        return self._joined(other, max)

    def most_common(self, n=None):
        pairs = sorted(self.items(), key=lambda pair: pair[1], reverse=True)
        return pairs if n is None else pairs[:n]

    def __repr__(self):
        return f"Counter({dict(self.most_common())!r})"


class UserDict(MutableMapping):
    def __init__(self, items=(), **keywords):
        self.data = {}
        self.update(items, **keywords)

    def __len__(self):
        return len(self.data)

    def __iter__(self):
        return iter(self.data)

    def __contains__(self, key):
        return key in self.data

    def __getitem__(self, key):
        if key not in self.data and hasattr(type(self), "__missing__"):
            return self.__missing__(key)
        return self.data[key]

    def __setitem__(self, key, value):
        self.data[key] = value

    def __delitem__(self, key):
        del self.data[key]

    def clear(self):
        self.data.clear()

    def copy(self):
        return type(self)(self.data)


class ChainMap(MutableMapping):
    def __init__(self, *maps):
        self.maps = list(maps) or [{}]

    def __len__(self):
        return len(self._joined())

    def __iter__(self):
        return iter(self._joined())

    def __contains__(self, key):
        return any([key in m for m in self.maps])

    def __getitem__(self, key):
        for m in self.maps:
            if key in m:
                return m[key]
        raise KeyError(key)

    def __setitem__(self, key, value):
        self.maps[0][key] = value

    def __delitem__(self, key):
        del self.maps[0][key]

    def _joined(self):
        joined = {}
        for m in reversed(self.maps):
            joined.update(m)
        return joined

    def new_child(self, m=None):
        return ChainMap({} if m is None else m, *self.maps)


class UserList(list):
    @property
    def data(self):
        return self._plain


class deque:
    def __init__(self, items=(), maxlen=None):
        self.data = []
        self.maxlen = maxlen
        self.extend(items)

    def append(self, item):
        self.data.append(item)
        if self.maxlen is not None and len(self.data) > self.maxlen:
            self.data.pop(0)

    def appendleft(self, item):
        self.data.insert(0, item)
        if self.maxlen is not None and len(self.data) > self.maxlen:
            self.data.pop()

    def extend(self, items):
        for item in list(items) if items is self else items:
            self.append(item)

    def pop(self):
        if not self.data:
            raise IndexError("pop from an empty deque")
        return self.data.pop()

    def popleft(self):
        if not self.data:
            raise IndexError("pop from an empty deque")
        return self.data.pop(0)

    def extendleft(self, items):
        for item in list(items) if items is self else items:
            self.appendleft(item)

    def rotate(self, n=1):
        if self.data:
            n %= len(self.data)
            self.data = self.data[-n:] + self.data[:-n] if n else self.data

    def remove(self, item):
        self.data.remove(item)

    def insert(self, index, item):
        self.data.insert(index, item)

    def index(self, *args):
        return self.data.index(*args)

    def count(self, item):
        return self.data.count(item)

    def reverse(self):
        self.data.reverse()

    def copy(self):
        return deque(self.data, self.maxlen)

    def clear(self):
        self.data.clear()

    def __len__(self):
        return len(self.data)

    def __iter__(self):
        return iter(self.data)

    def __getitem__(self, index):
        return self.data[index]

    def __setitem__(self, index, value):
        self.data[index] = value

    def __contains__(self, item):
        return item in self.data

    def __reversed__(self):
        return reversed(self.data)

    def __delitem__(self, index):
        del self.data[index]

    def __eq__(self, other):
        return isinstance(other, deque) and self.data == other.data

    def __add__(self, other):
        return deque(self.data + other.data, self.maxlen)

    def __repr__(self):
        if self.maxlen is None:
            return f"deque({self.data!r})"
        return f"deque({self.data!r}, maxlen={self.maxlen})"
