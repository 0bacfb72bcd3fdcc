# Sets; printed sorted, since CPython's order is its own.
def s(x):
    return sorted(x)


def caught(f):
    try:
        return f()
    except Exception as e:
        return type(e).__name__, str(e)


def model():
    a, b = {1, 2, 3}, {3, 4}
    c = set(a)
    c |= {9}
    c -= {1}
    c &= {2, 3, 9, 10}
    c ^= {2, 5}
    d = set("hello")
    d.add("x")
    d.discard("h")
    d.discard("nothing")
    d.update("ab", ["c"])
    e = frozenset([1, 2])
    return (
        s(a | b),
        s(a & b),
        s(a - b),
        s(a ^ b),
        s(c),
        s(d),
        a <= {1, 2, 3, 4},
        a < a,
        a >= {1},
        a == {3, 2, 1},
        a != b,
        2 in a,
        7 not in a,
        len(a),
        bool(set()),
        s(a.union([7], [8])),
        s(a.intersection([1, 2], [2])),
        s(a.difference([1])),
        s(a.symmetric_difference([1, 5])),
        a.issubset(range(9)),
        a.issuperset([1]),
        a.isdisjoint([7]),
        {e: 1}[frozenset([2, 1])],
        s(e | {5}),
        type(e | {5}).__name__,
        type({5} | e).__name__,
        repr(set()),
        repr({1}),
        repr(frozenset({1})),
        s({x % 3 for x in range(10)}),
        caught(lambda: {[1]}),
        caught(lambda: a.remove(99)),
        caught(lambda: set().pop()),
        isinstance(a, set),
        isinstance(e, (list, frozenset)),
        max(a),
        sum(a),
        s(x * 2 for x in a),
        {1, True, 1.0} == {1},
        s(set([3, 1]) | set((2,))),
        [x in {1, 2} for x in (1, 3)],
    )
