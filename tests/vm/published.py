# What published model files import and use beside torch.
from __future__ import annotations

import inspect
import typing as t
from types import SimpleNamespace
from typing import Callable, NamedTuple, Optional, cast, overload

try:
    import xformers.ops as xops
except ImportError as error:
    xops = None
    why = (type(error).__name__, str(error))

try:
    from flash_attn import flash_attn_func
except ModuleNotFoundError:
    flash_attn_func = None


class Stem(NamedTuple):
    channels: int
    kernel: int = 3
    layer: Optional[Callable] = None

    def area(self):
        return self.kernel * self.kernel


class Layer:
    def __init__(self, size: int, *, bias: bool = True, **more):
        self.size = size

    def forward(self, x, mask=None, *rest):
        return x


@overload
def double(x: int) -> int: ...
def double(x):
    return cast(int, x) * 2


def told(function):
    found = inspect.signature(function).parameters
    return [
        (name, "none" if p.default is inspect.Parameter.empty else p.default)
        for name, p in found.items()
    ]


def refused(function, *args, **keywords):
    try:
        function(*args, **keywords)
    except TypeError as error:
        return str(error)


def model():
    stem = Stem(8, layer=double)
    channels, kernel, layer = stem
    space = SimpleNamespace(a=1, b="two")
    space.c = [3]
    return (
        xops,
        why,
        flash_attn_func,
        (stem.channels, stem[1], stem.area(), len(stem), kernel, layer(4)),
        (stem == Stem(8, 3, double), Stem(1) == (1, 3, None), Stem(1)._asdict()),
        (repr(Stem(1)), repr(Stem(2)._replace(kernel=5)), Stem._fields, Stem._field_defaults),
        refused(Stem),
        (repr(space), vars(space), space == SimpleNamespace(a=1, b="two", c=[3])),
        (told(Layer), told(Layer(1).forward), told(double), told(lambda a, b=2: a)),
        "bias" in inspect.signature(Layer).parameters,
        (inspect.isfunction(double), inspect.isclass(Stem), inspect.ismethod(Layer(1).forward)),
        (__name__ == "__main__", t.TYPE_CHECKING),
    )
