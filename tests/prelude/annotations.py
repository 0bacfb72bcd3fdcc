# Annotations as values, and what [] and | make of types, as configs and parsers of arguments use them.
import argparse
import dataclasses
import functools
import inspect
import typing
from typing import Any, Callable, ClassVar, Dict, Generic, List, Literal, NamedTuple, Optional, Sequence, Tuple, TypeVar, Union, get_args, get_origin, get_type_hints

import torch

T = TypeVar("T")
Shape = Union[int, Tuple[int, int]]


class Box(NamedTuple):
    low: float
    high: "float" = 1.0


@dataclasses.dataclass
class Options:
    count: ClassVar[int] = 0
    lr: float = 0.1
    steps: Optional[int] = None
    sizes: List[int] = dataclasses.field(default_factory=list)
    kind: Literal["a", "b"] = "a"
    mode: int | str | None = None
    next: "Optional[Options]" = None


class More(Options):
    extra: Dict[str, float] = {}


class Stack(Generic[T]):
    items: List[T]

    def push(self, x: T) -> "Stack":
        return self


class Ints(List[int]):
    pass


def logged(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        return f(*args, **kwargs)
    return inner


@logged
def scale(x: torch.Tensor, k: Union[int, float] = 2, *rest: int, f: Callable[[int], str] | None = None, **more: Any) -> Tuple[torch.Tensor, ...]:
    return (x,)


def plain(x, y):
    return x


def case_functions():
    print(scale.__annotations__, plain.__annotations__)
    print(get_type_hints(scale)["f"], Stack.push.__annotations__, get_type_hints(Stack.push)["return"] is Stack)
    s = inspect.signature(scale)
    print(s.return_annotation, s.parameters["k"].annotation, inspect.signature(plain).parameters["x"].annotation is inspect.Parameter.empty)
    scale.__annotations__["new"] = int
    print("new" in scale.__annotations__)


def case_classes():
    print(Options.__annotations__)
    print(get_type_hints(Options))
    print(list(get_type_hints(More)), More.__annotations__, Box.__annotations__, get_type_hints(Box))
    print([(f.name, f.type) for f in dataclasses.fields(Options)])
    print(Ints([1, 2]) + [3], Stack[int]().push(1) is not None, type("E", (), {}).__annotations__)


def case_types():
    print(Shape, List[int], Optional[str], Union[int, None], Dict[str, List[int]], Callable[..., int], Callable[[int, str], bool], Tuple[int, ...], Any, T, List[T], Sequence[int])
    print(list[int], dict[str, int], tuple[int, ...], int | None, int | str | float, List[int] | None, Optional[int] | str, Literal["a", 1])
    print(get_origin(List[int]), get_origin(Optional[int]) is Union, get_origin(int), get_origin(list[int]), get_origin(Dict), get_args(Optional[int]), get_args(Callable[[int], str]), get_args(int), get_args(List), get_args(Literal["a", "b"]))
    print(Optional[int] == Union[int, None], List[int] == List[int], List[int] == List[str], Union[int, int] is int, {List[int]: 1}[List[int]], Optional[int].__args__, List[int].__origin__, Union[int, str].__origin__ is Union)
    print(isinstance(3, int | None), isinstance(None, int | None), isinstance("x", int | None), isinstance(3, Union[int, str]), isinstance(3.0, (int | str, list)), issubclass(Ints, list))
    print(List["Options"], Optional["Options"], typing.List[torch.Tensor], Optional[torch.Tensor], Dict[str, Any], list[int](), List[T][int], Dict[str, T][int])
    try:
        isinstance([1], List[int])
    except TypeError as e:
        print(e)


def arguments(cls):
    parser = argparse.ArgumentParser()
    for name, kind in get_type_hints(cls).items():
        default = getattr(cls, name, None)
        if get_origin(kind) is Union:
            kind = [a for a in get_args(kind) if a is not type(None)][0]
        if get_origin(kind) is Literal:
            parser.add_argument(f"--{name}", choices=get_args(kind), default=default)
        elif get_origin(kind) is list:
            parser.add_argument(f"--{name}", nargs="*", type=get_args(kind)[0])
        elif kind in (int, float, str):
            parser.add_argument(f"--{name}", type=kind, default=default)
    return parser


def case_parser():
    print(arguments(Options).parse_args(["--steps", "3", "--sizes", "1", "2", "--kind", "b"]))
    try:
        def later(x: Unknown): return x  # noqa: F821
        later.__annotations__
    except NameError as e:
        print(e)


def model():
    case_functions()
    case_classes()
    case_types()
    case_parser()
