# Patterns of classes, dicts and sequences, names inside them.
from collections import namedtuple
from dataclasses import dataclass

shown = []


def show(*values):
    shown.append(" ".join([str(value) for value in values]))


@dataclass
class Scale:
    by: float


@dataclass
class Shift:
    by: float
    sign: int = 1


class Plain:
    __match_args__ = ("left", "right")

    def __init__(self, left, right):
        self.left = left
        self.right = right


Point = namedtuple("Point", ["x", "y"])


def said(op):
    match op:
        case Scale(by=b):
            return "scale", b
        case Shift(b, sign=-1):
            return "back", b
        case Shift(b):
            return "shift", b
        case Plain(Plain(a, b), right=(c, *_) as whole):
            return "nested", a, b, c, whole
        case Plain(left, None | 0):
            return "plain", left
        case Point(x, y=0):
            return "point", x
        case {"kind": "pow", "p": int() as p, **rest}:
            return "pow", p, rest
        case {"kind": ("a" | "b") as kind}:
            return "kind", kind
        case {}:
            return "dict"
        case [int(a), [b, *others], *_]:
            return "list", a, b, others
        case (str() as s) | [str(s)]:
            return "text", s
        case int(n) | float(n) if n > 3:
            return "number", n
        case None | False:
            return "nothing"
        case _:
            return "other"


for op in (
    Scale(2.0), Shift(1.0), Shift(1.0, -1), Plain(Plain(1, 2), (3, 4)), Plain(5, 0), Plain(5, 7),
    Point(1, 0), Point(1, 2), {"kind": "pow", "p": 2, "z": 1}, {"kind": "pow", "p": 2.5},
    {"kind": "b"}, {"other": 1}, [1, [2, 3, 4], 5], ["x"], "abc", 5, 4.5, 2, None, False, True,
):
    show(said(op))

try:
    match Scale(1):
        case Scale(1, 2):
            show("never")
except TypeError as e:
    show(e)


def model():
    return shown
