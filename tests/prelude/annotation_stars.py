# What annotations alone read of `from typing import *` is there when they are asked for.
from typing import *


class Options:
    steps: Optional[int] = None
    sizes: List[int] = []
    kind: Literal["a", "b"] = "a"


def f(x: Union[int, str]) -> Dict[str, int]:
    return {}


def model():
    print(get_type_hints(Options), f.__annotations__)
