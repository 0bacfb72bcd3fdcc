# Keys of classes that say themselves when they are equal, and of classes and functions.
from dataclasses import dataclass

shown = []


def show(*values):
    shown.append(" ".join([str(value) for value in values]))


class Key:
    def __init__(self, a):
        self.a = a

    def __eq__(self, other):
        return isinstance(other, Key) and self.a == other.a

    def __hash__(self):
        return hash(self.a)

    def __repr__(self):
        return f"Key({self.a})"


@dataclass(frozen=True)
class Size:
    h: int
    w: int = 2


d = {Key(1): "a", Key(2): "b"}
d[Key(1)] = "c"
show(d, len(d), Key(2) in d, Key(3) in d, d.get(Key(1)), d.get(Key(3), "none"))
show(d.setdefault(Key(2), "z"), d.pop(Key(2)), d, d.pop(Key(9), "gone"))
s = {Key(1), Key(1), Key(3)}
show(len(s), Key(3) in s, s == {Key(3), Key(1)}, s & {Key(1)}, s - {Key(1)}, s <= {Key(1), Key(3)})
s.add(Key(3))
s.discard(Key(1))
show(s, s | {Key(3)}, s.isdisjoint({Key(4)}), s.issubset([Key(3), Key(4)]))
show({Size(1): 1} == {Size(1): 1}, {Size(1)} == {Size(1)}, {Size(1): 1}[Size(1, 2)])
show({(Size(1), "a"): 5}[Size(1), "a"], dict([(Key(1), 1), (Key(1), 2)]), {**d, **{Key(1): 7}})
show([k for k in dict.fromkeys([Key(1), Key(2), Key(1)])], {k: 1 for k in [Key(1), Key(1)]})
for bad in ([], {}):
    try:
        {Key(1): 1}[bad]
    except TypeError as e:
        show(e)


class Odd:
    def __eq__(self, other):
        return True


try:
    {Odd(): 1}
except TypeError as e:
    show(e)


class Name(str):
    pass


show({"a": 1}[Name("a")], {Name("a"): 2}["a"], {int: 1, Key: 2, print: 3, len: 4}[Key])


def model():
    return shown
