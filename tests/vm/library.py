# The small modules of Python's library.
import collections
import contextlib
import copy
import functools
import itertools
import math
import operator
import random
import time
import warnings
from abc import ABC, abstractmethod
from collections import Counter, OrderedDict, defaultdict, deque, namedtuple
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

Point = namedtuple("Point", ["x", "y"])
Config = namedtuple("Config", "d h act", defaults=(8, "relu"))
Pair = Tuple[int, Optional[int]]
Ints = List[int]


class Shape(ABC):
    @abstractmethod
    def area(self) -> float:
        ...


class Square(Shape):
    def __init__(self, side: float):
        self.side = side

    def area(self) -> float:
        return self.side**2


def caught(f):
    try:
        return f()
    except Exception as e:
        return type(e).__name__


def typed(x: Optional[List[int]] = None, *rest: Any, f: Callable[[int], int] = abs) -> Dict[str, Union[int, None]]:
    return {"x": x, "f": f(-1)}


def named():
    p = Point(1, y=2)
    x, y = p
    c = Config(4)
    return p, p.x, p[1], x + y, p == (1, 2), p._replace(x=5), p._asdict(), Point._fields, c, isinstance(p, tuple), isinstance(p, Point), caught(lambda: Point(1)), caught(lambda: p.z), type(p).__name__, len(p), hash(p) == hash((1, 2))


def dicts():
    d = defaultdict(list)
    d["a"].append(1)
    d["a"].append(2)
    d["b"].append(3)
    c = Counter("hello")
    q = deque([1, 2, 3], maxlen=3)
    q.append(4)
    q.appendleft(0)
    o = OrderedDict(a=1, b=2)
    o.move_to_end("a")
    return sorted(d.items()), len(d), "c" in d, c["l"], c["z"], c.most_common(1), list(q), q.popleft(), list(o), o.popitem()


@functools.lru_cache(maxsize=None)
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


@contextlib.contextmanager
def manager(log):
    log.append("in")
    yield 5
    log.append("out")


def contexts():
    log = []
    with manager(log) as v:
        log.append(v)
    with contextlib.nullcontext(3) as n:
        log.append(n)
    with contextlib.suppress(ValueError):
        raise ValueError("x")
    return log


def wrapped():
    def trace(f):
        @functools.wraps(f)
        def call(*args, **kw):
            return "t", f(*args, **kw)

        return call

    @trace
    def g(a, b=2):
        return a + b

    return g(1), g(1, b=5), g.__name__


def copies():
    a = [1, [2, 3], {"k": [4]}]
    b, c = copy.copy(a), copy.deepcopy(a)
    a[1].append(9)
    a[2]["k"].append(8)
    s = Square(3)
    t = copy.deepcopy(s)
    s.side = 4
    loop = []
    loop.append(loop)
    m = copy.deepcopy(loop)
    return b, c, t.area(), m[0] is m


def iterations():
    it = itertools
    return (
        list(it.chain([1], (2, 3))),
        list(it.product("ab", [1, 2])),
        list(it.combinations(range(4), 2)),
        list(it.permutations([1, 2, 3], 2)),
        list(it.islice(it.count(5), 3)),
        list(it.islice([1, 2, 3, 4, 5], 1, None, 2)),
        list(it.accumulate([1, 2, 3])),
        list(it.accumulate([1, 2, 3], operator.mul)),
        list(it.repeat(1, 3)),
        list(it.zip_longest([1, 2], [3], fillvalue=0)),
        list(it.takewhile(lambda x: x < 3, [1, 2, 3, 1])),
        list(it.dropwhile(lambda x: x < 3, [1, 2, 3, 1])),
        list(it.pairwise([1, 2, 3])),
        [(k, list(g)) for k, g in it.groupby([1, 1, 2, 1])],
        list(it.starmap(pow, [(2, 3), (3, 2)])),
    )


def model():
    warnings.warn("nothing")
    random.seed(1)
    r = random.random()
    t = time.time()
    add = functools.partial(operator.add, 1)
    kw = functools.partial(typed, f=lambda v: v * 10)
    return (
        typed(),
        kw([1]),
        add(2),
        functools.reduce(lambda a, b: a * b, [1, 2, 3, 4]),
        functools.reduce(operator.add, [], 7),
        named(),
        dicts(),
        fib(30),
        contexts(),
        wrapped(),
        copies(),
        iterations(),
        operator.itemgetter(1)([1, 2]),
        operator.attrgetter("side")(Square(2)),
        Square(2).area(),
        0 <= r < 1,
        time.time() > t,
        math.isclose(math.pi, 3.14159265358979),
        list(filter(None, [0, 1, "", 2])),
        list(filter(lambda v: v % 2, range(5))),
        caught(lambda: functools.reduce(operator.add, [])),
        collections.OrderedDict([("a", 1)]) == {"a": 1},
    )
