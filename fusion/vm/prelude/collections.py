# The module collections; namedtuple is not written here.


def OrderedDict(*args, **keywords):
    return dict(*args, **keywords)


class _Wrapped:
    # What a dict can do, by the dict in self.data.
    def __getitem__(self, key):
        return self.data[key]

    def __setitem__(self, key, value):
        self.data[key] = value

    def __delitem__(self, key):
        del self.data[key]

    def __contains__(self, key):
        return key in self.data

    def __len__(self):
        return len(self.data)

    def __iter__(self):
        return iter(self.data)

    def __eq__(self, other):
        return self.data == (other.data if isinstance(other, _Wrapped) else other)

    def get(self, key, default=None):
        return self.data.get(key, default)

    def keys(self):
        return self.data.keys()

    def values(self):
        return self.data.values()

    def items(self):
        return self.data.items()

    def pop(self, *args):
        return self.data.pop(*args)

    def setdefault(self, key, default=None):
        return self.data.setdefault(key, default)

    def update(self, *args, **keywords):
        self.data.update(*args, **keywords)

    def popitem(self):
        return self.data.popitem()

    def clear(self):
        self.data.clear()


class defaultdict(_Wrapped):
    def __init__(self, default_factory=None, *args, **keywords):
        self.default_factory = default_factory
        self.data = dict(*args, **keywords)

    def __getitem__(self, key):
        if key not in self.data:
            if self.default_factory is None:
                raise KeyError(key)
            self.data[key] = self.default_factory()
        return self.data[key]

    def __repr__(self):
        return f"defaultdict({self.default_factory!r}, {self.data!r})"


class Counter(_Wrapped):
    def __init__(self, items=(), **counts):
        self.data = {}
        self.update(items, **counts)

    def __getitem__(self, key):
        return self.data.get(key, 0)

    def update(self, items=(), **counts):
        if isinstance(items, (dict, Counter)):
            for key, n in items.items():
                self.data[key] = self[key] + n
        else:
            for key in items:
                self.data[key] = self[key] + 1
        for key, n in counts.items():
            self.data[key] = self[key] + n

    def subtract(self, items=(), **counts):
        if isinstance(items, (dict, Counter)):
            for key, n in items.items():
                self.data[key] = self[key] - n
        else:
            for key in items:
                self.data[key] = self[key] - 1
        for key, n in counts.items():
            self.data[key] = self[key] - n

    def elements(self):
        return iter([key for key, n in self.data.items() for _ in range(n)])

    def total(self):
        return sum(self.data.values())

    def copy(self):
        return Counter(self.data)

    def _joined(self, other, combine):
        result = Counter()
        for key in [*self.data, *[k for k in other.data if k not in self.data]]:
            n = combine(self[key], other[key])
            if n > 0:
                result.data[key] = n
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
        pairs = sorted(self.data.items(), key=lambda pair: pair[1], reverse=True)
        return pairs if n is None else pairs[:n]

    def __repr__(self):
        return f"Counter({dict(self.most_common())!r})"


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
        for item in items:
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
        for item in items:
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
