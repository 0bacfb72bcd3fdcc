# The modules dataclasses and enum.
import dataclasses
from dataclasses import asdict, dataclass, field, replace
from enum import Enum, IntEnum, auto


@dataclass
class Config:
    dim: int
    heads: int = 4
    act: str = "relu"
    sizes: list = field(default_factory=list)

    def head_dim(self):
        return self.dim // self.heads


@dataclass(frozen=True, order=True)
class Point:
    x: int
    y: int = 0


@dataclass
class Child(Config):
    extra: float = 0.5
    made: int = field(init=False, default=7)

    def __post_init__(self):
        self.made = self.dim * 2


class Color(Enum):
    RED = 1
    GREEN = 2
    BLUE = "b"

    def short(self):
        return self.name[0]


class Level(IntEnum):
    LOW = auto()
    HIGH = auto()


def caught(f):
    try:
        return f()
    except Exception as e:
        return type(e).__name__, str(e)


def change(p):
    p.x = 5


def model():
    a, b = Config(8), Config(8, heads=2, sizes=[1])
    a.sizes.append(3)
    p = Point(1, 2)
    return repr(
        (
            a,
            b,
            a == Config(8, 4, "relu", [3]),
            a == b,
            a != b,
            b.head_dim(),
            asdict(b),
            replace(b, heads=1),
            Child(3),
            Child(3, extra=2.0).made,
            p,
            p < Point(1, 3),
            sorted([Point(2), Point(1, 5), Point(1)]),
            caught(lambda: change(p)),
            caught(lambda: Config()),
            caught(lambda: Config(1, 2, 3, 4, 5))[0],
            caught(lambda: Config(1, z=2)),
            [f.name for f in dataclasses.fields(a)],
            dataclasses.is_dataclass(p),
            isinstance(Child(1), Config),
            Color.RED,
            str(Color.GREEN),
            Color.RED.value,
            Color.BLUE.name,
            Color(2) is Color.GREEN,
            Color["BLUE"],
            Color.RED == Color.RED,
            Color.RED == Color.GREEN,
            Color.RED == 1,
            Color.GREEN.short(),
            isinstance(Color.RED, Color),
            caught(lambda: Color(9)),
            Level.HIGH == 2,
            Level.LOW < Level.HIGH,
            Level.HIGH + 1,
            [10, 20, 30][Level.LOW],
            Level.HIGH.name,
        )
    )
