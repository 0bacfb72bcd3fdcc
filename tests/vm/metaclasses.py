# Metaclasses, abstract classes, type() with three arguments.
import abc
from abc import ABC, abstractmethod

shown = []


def show(*values):
    shown.append(" ".join([str(value) for value in values]))


class Registry(type):
    known = {}

    def __new__(mcs, name, bases, attributes, tag="none"):
        cls = super().__new__(mcs, name, bases, dict(attributes, added=1))
        if bases:
            mcs.known[name.lower()] = cls
        return cls

    def __init__(cls, name, bases, attributes, tag="none"):
        super().__init__(name, bases, attributes)
        cls.tag = tag

    def __call__(cls, *args, **keywords):
        made = super().__call__(*args, **keywords)
        made.by = "meta"
        return made

    def __iter__(cls):
        return iter(cls.items)

    def __len__(cls):
        return len(cls.items)

    def __getitem__(cls, index):
        return cls.items[index]

    def __contains__(cls, item):
        return item in cls.items

    @property
    def label(cls):
        return "L" + cls.__name__

    def helper(cls, x):
        return x * len(cls)


class Base(metaclass=Registry):
    items = [1, 2, 3]

    def __init__(self, v=0):
        self.v = v


class Left(Base, tag="left"):
    pass


class Right(Base):
    items = []


show(sorted(Registry.known), Left.tag, Right.tag, Left.added, Left(3).v, Left().by)
show(list(Left), len(Right), Left[1], 2 in Left, 2 in Right, Left.label, Left.helper(2))
show(type(Left) is Registry, isinstance(Left, Registry), isinstance(Left, type), type(int) is type)


class Single(type):
    made = {}

    def __call__(cls, *args):
        if cls not in cls.made:
            cls.made[cls] = super(Single, cls).__call__(*args)
        return cls.made[cls]


class Config(metaclass=Single):
    def __init__(self, v):
        self.v = v


show(Config(1) is Config(2), Config(5).v)


class Even(type):
    def __instancecheck__(cls, o):
        return o % 2 == 0


class EvenNumber(metaclass=Even):
    pass


show(isinstance(4, EvenNumber), isinstance(3, EvenNumber))


class Shape(ABC):
    @abstractmethod
    def area(self): ...

    @property
    @abstractmethod
    def name(self): ...

    @classmethod
    @abstractmethod
    def build(cls): ...


class Half(Shape):
    def area(self):
        return 1

    @classmethod
    def build(cls):
        return cls()


class Whole(Half):
    name = "whole"


class Old(metaclass=abc.ABCMeta):
    @abc.abstractmethod
    def go(self): ...


for c in (Shape, Half, Old):
    try:
        c()
        show("made")
    except TypeError as e:
        show(e)
show(Whole.build().area(), isinstance(Whole(), ABC), issubclass(Whole, Shape))

Made = type("Made", (Half,), {"name": "made", "twice": lambda self, x: 2 * x})
show(Made().twice(4), Made.__name__, Made().name)
try:
    class Both(Config, EvenNumber):
        pass
except TypeError as e:
    show(e)


def model():
    return shown
