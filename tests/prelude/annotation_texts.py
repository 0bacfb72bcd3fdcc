# Annotations are texts under `from __future__ import annotations`, until get_type_hints() is asked.
from __future__ import annotations

import dataclasses
from typing import ClassVar, Dict, List, Optional, get_type_hints

import torch


@dataclasses.dataclass
class Options:
    many: ClassVar[Dict[str, int]] = {}
    first: Optional[int]=None
    layers: List[ 'Layer' ] | None = None
    init: dataclasses.InitVar[int] = 3

    def __post_init__(self, init):
        self.got = init


class Layer:
    w: torch.Tensor


def f(x: torch.Tensor, *, k: Dict[str,int] = {}, y: "int" = 3) -> tuple[int, Layer]:
    return x


def model():
    print(f.__annotations__, Options.__annotations__, Options.__annotations__)
    print(get_type_hints(f), get_type_hints(Options)["first"], get_type_hints(Layer))
    print([(o.name, o.type) for o in dataclasses.fields(Options)], Options(init=4).got)
