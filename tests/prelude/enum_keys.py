# Members of enums that are texts and numbers too, as keys of dicts: each stays itself, and is found by what it equals.
import json
from enum import Enum, IntEnum


class Act(str, Enum):
    RELU = "relu"
    TANH = "tanh"


class Size(IntEnum):
    SMALL = 1
    LARGE = 2


class Level(int, Enum):
    LOW = 3
    HIGH = 4


def take(relu=0, tanh=0):
    return relu * 10 + tanh


def texts():
    table = {Act.RELU: 1, Act.TANH: 2}
    kept = {}
    kept[Act.RELU] = 3
    kept["tanh"] = 4
    table["relu"] = table[Act.RELU] + 8
    large = {str(i): i for i in range(20)}
    large[Act.RELU] = 7
    print([k.name for k in table], {k.value: v for k, v in table.items()}, kept[Act.TANH] + kept["relu"], list(map(type, kept)) == [Act, str])
    print(take(**table), large["relu"], large.pop(Act.RELU), "relu" in table, Act.TANH in {"tanh": 1}, table.get("tanh"), list(table)[0] is Act.RELU)
    print(len({Act.RELU, "relu", "tanh", Act.TANH}), (Act.RELU,) == ("relu",), [Act.RELU] == ["relu"], hash(Act.RELU) == hash("relu"), table == {"relu": 9, "tanh": 2})
    print(json.dumps({Act.RELU: 1, "k": Act.TANH}), "-".join(table), sorted(table) == ["relu", "tanh"], max(table).name, dict(table, c=3)["c"], {**table}["relu"], repr(table))


def numbers():
    table = {Size.SMALL: "x", 2: "y", Size.LARGE: "z", True: "w", Level.LOW: "l"}
    print([type(k).__name__ for k in table], list(table.values()), {Size.SMALL: 3}[1], table[3.0], {Level.HIGH: 1} == {4: 1}, hash(Level.LOW), {Size.LARGE, 2, 2.0, Level.LOW, 3} == {2, 3})


def model():
    texts()
    numbers()
