"""tests/oracle/constructs.py -- one construct a program: how torch.compile captures it.

Each program of constructs.txt is a header line `# name | group | inputs of call 1 | inputs of call 2 ...`
and its source.  Inputs are separated by ";": "f 4,3" float32 [4, 3] (p: positive, n:
negative; another dtype: see DTYPES), k=3 any Python value, l= a list and d= a
dict of vectors.  record_constructs.py runs them on PyTorch and writes
construct_cases.json; autocast.txt is of the same form, for autocast_cases.json.
"""
import ast
import os
import random

TEXT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "constructs.txt")


DTYPES = {"d": "float64", "h": "float16", "g": "bfloat16", "i": "int64", "j": "int32", "s": "int16", "c": "int8", "u": "uint8", "b": "bool"}


def programs(text=TEXT):
    """(name, group, calls, source); a call is a list of input texts."""
    with open(text) as file:
        text = "\n" + file.read()
    for block in text.split("\n# ")[1:]:
        head, source = block.split("\n", 1)
        name, group, *calls = (part.strip() for part in head.split(" | "))
        yield name, group, [[text.strip() for text in call.split(";")] for call in calls], "import torch\n" + source.strip("\n") + "\n"


def tensor(text, rng):
    letter, _, sizes = text.partition(" ")
    shape = [int(n) for n in sizes.split(",") if n]
    count = 1
    for n in shape:
        count *= n
    if letter in "iuscj":
        data = [rng.randint(0 if letter == "u" else -5, 9) for _ in range(count)]
    elif letter == "b":
        data = [rng.random() < 0.5 for _ in range(count)]
    else:
        data = [round(rng.gauss(0, 1), 4) for _ in range(count)]
        if letter in "pn":
            data = [(abs(v) + 0.5) * (1 if letter == "p" else -1) for v in data]
    dtype = DTYPES.get(letter, "float32")
    return {"tensor": {"shape": shape, "dtype": dtype, "data": data}}


def value(text, rng):
    kind, _, rest = text.partition("=")
    if kind == "k":
        return {"value": ast.literal_eval(rest)}
    if kind == "l":
        return {"list": [tensor(t, rng) for t in rest.split(",")]}
    if kind == "d":
        pairs = (t.split(":") for t in rest.split(","))
        return {"dict": {key: tensor(t, rng) for key, t in pairs}}
    return tensor(text, rng)


def cases(text=TEXT):
    """A group "autocast:bfloat16" is one whose calls stand in torch.autocast; of one that
    ends in "-values", no graphs are recorded."""
    for name, group, calls, source in programs(text):
        rng = random.Random(name)
        group, _, autocast = group.partition(":")
        ambient = {"autocast": autocast} if autocast else {}
        yield {"name": name, "group": group, "source": source, **ambient, "inputs": [[value(v, rng) for v in call] for call in calls]}
