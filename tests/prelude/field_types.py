# The types of a dataclass's fields, as parsers of a command line are made of them.
import argparse
from dataclasses import dataclass, field, fields


@dataclass
class Options:
    lr: float = 0.1
    steps: int = 3
    name: str = "a"
    flag: bool = False
    sizes: list = field(default_factory=list)


def model():
    parser = argparse.ArgumentParser()
    for f in fields(Options):
        if f.type in (int, float, str):
            parser.add_argument(f"--{f.name}", type=f.type, default=f.default)
    print(parser.parse_args(["--lr", "2", "--steps", "5"]), [f.type.__name__ for f in fields(Options)])
    print([f.type for f in fields(Options)], fields(Options)[0].type("3"))
