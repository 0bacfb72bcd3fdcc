# The module itertools.  What ends is made at once, as a list's iterator; what does not is an object
# that knows where it is.


def chain(*iterables):
    return iter([item for items in iterables for item in items])


def _from_iterable(iterables):
    for items in iterables:
        yield from items


chain.from_iterable = _from_iterable


def compress(data, selectors):
    return iter([item for item, chosen in zip(data, selectors) if chosen])


def filterfalse(predicate, iterable):
    if predicate is None:
        predicate = bool
    return iter([item for item in iterable if not predicate(item)])


def tee(iterable, n=2):
    items = list(iterable)
    return tuple([iter(items) for _ in range(n)])


def batched(iterable, n):
    items = list(iterable)
    return iter([tuple(items[i : i + n]) for i in range(0, len(items), n)])


class count:
    def __init__(self, start=0, step=1):
        self._at = start
        self._step = step

    def __iter__(self):
        return self

    def __next__(self):
        at = self._at
        self._at = at + self._step
        return at

    def __repr__(self):
        return f"count({self._at!r})" if self._step == 1 else f"count({self._at!r}, {self._step!r})"


class cycle:
    def __init__(self, iterable):
        self._items = []
        self._rest = iter(iterable)  # None: all items are known
        self._at = 0

    def __iter__(self):
        return self

    def __next__(self):
        if self._rest is not None:
            for item in self._rest:
                self._items.append(item)
                return item
            self._rest = None
        if not self._items:
            raise StopIteration
        item = self._items[self._at]
        self._at = (self._at + 1) % len(self._items)
        return item


class _Repeat:
    def __init__(self, object):
        self._object = object

    def __iter__(self):
        return self

    def __next__(self):
        return self._object

    def __repr__(self):
        return f"repeat({self._object!r})"


def repeat(object, times=None):
    return _Repeat(object) if times is None else iter([object] * times)


def accumulate(iterable, func=None, initial=None):
    result = []
    started = initial is not None
    total = initial
    if started:
        result.append(total)
    for item in iterable:
        if not started:
            total = item
            started = True
        elif func is None:
            total = total + item
        else:
            total = func(total, item)
        result.append(total)
    return iter(result)


def islice(iterable, *bounds):
    cut = slice(*bounds)
    start = 0 if cut.start is None else cut.start
    step = 1 if cut.step is None else cut.step
    result = []
    position = 0
    wanted = start
    if cut.stop is not None and cut.stop <= start:
        return iter(result)
    for item in iterable:
        if position == wanted:
            result.append(item)
            wanted += step
        position += 1
        if cut.stop is not None and position >= cut.stop:
            break
    return iter(result)


def product(*iterables, repeat=1):
    rows = [()]
    for items in [list(items) for items in iterables] * repeat:
        rows = [row + (item,) for row in rows for item in items]
    return iter(rows)


def _chosen(pool, r, step):
    """Rows of r items in the pool's order; the next is at least step places on."""
    rows = [()]
    starts = [0]
    for _ in range(r):
        longer = []
        begins = []
        for row, start in zip(rows, starts):
            for i in range(start, len(pool)):
                longer.append(row + (pool[i],))
                begins.append(i + step)
        rows = longer
        starts = begins
    return iter(rows)


def combinations(iterable, r):
    return _chosen(list(iterable), r, 1)


def combinations_with_replacement(iterable, r):
    return _chosen(list(iterable), r, 0)


def permutations(iterable, r=None):
    pool = list(iterable)
    rows = [()]
    for _ in range(len(pool) if r is None else r):
        rows = [row + (i,) for row in rows for i in range(len(pool)) if i not in row]
    return iter([tuple([pool[i] for i in row]) for row in rows])


def zip_longest(*iterables, fillvalue=None):
    columns = [list(items) for items in iterables]
    height = max([len(column) for column in columns], default=0)
    return iter(
        [
            tuple([column[i] if i < len(column) else fillvalue for column in columns])
            for i in range(height)
        ]
    )


def pairwise(iterable):
    items = list(iterable)
    return zip(items, items[1:])


def starmap(function, iterable):
    return iter([function(*args) for args in iterable])


def takewhile(predicate, iterable):
    result = []
    for item in iterable:
        if not predicate(item):
            break
        result.append(item)
    return iter(result)


def dropwhile(predicate, iterable):
    items = list(iterable)
    start = 0
    while start < len(items) and predicate(items[start]):
        start += 1
    return iter(items[start:])


def groupby(iterable, key=None):
    groups = []
    for item in iterable:
        k = item if key is None else key(item)
        if groups and groups[-1][0] == k:
            groups[-1][1].append(item)
        else:
            groups.append((k, [item]))
    return iter(groups)
