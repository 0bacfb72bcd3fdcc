"""Programs that people wrote, changed at random: make(seed) gives a workload like generate.make().

The sources are the programs recorded with PyTorch (tests/oracle); what PyTorch answered is
not read.  Each is changed in some places (a break, an update of a variable, another number,
another operator), and its calls get other values, sizes and dtypes.  Its modes must agree;
that eager fails is no fault where every mode fails like it.
"""
import ast
import copy
import functools
import json
import os
import random

HERE = os.path.dirname(os.path.abspath(__file__))
FILES = ["cases.json", "construct_cases.json", "autocast_cases.json"]
CHANGES = {"break": 5, "number": 4, "operator": 2, "update": 3, "repeat": 1, "result": 2, "condition": 1, "remove": 1}
OPERATORS = [ast.Add, ast.Sub, ast.Mult]
COMPARISONS = [ast.Gt, ast.Lt, ast.GtE, ast.LtE]


@functools.cache
def corpus():
    cases = []
    for name in FILES:
        with open(os.path.join(HERE, "..", "oracle", name)) as file:
            cases += [c for c in json.load(file)["cases"] if c.get("inputs")]
    return cases


# The source.
def blocks(tree):
    """The lists of statements inside functions."""
    for f in ast.walk(tree):
        if isinstance(f, (ast.FunctionDef, ast.Lambda)) and isinstance(getattr(f, "body", None), list):
            for node in ast.walk(f):
                for field in ("body", "orelse", "finalbody"):
                    block = getattr(node, field, None)
                    if isinstance(block, list) and block:
                        yield block


def statement(text):
    return ast.parse(text).body


def assigned(block, at):
    """The plain names that the statements before that place assign."""
    return sorted({t.id for s in block[:at] if isinstance(s, ast.Assign) for t in s.targets if isinstance(t, ast.Name)})


def change(rng, tree, kind):
    """Changes one place; False where the program has none."""
    block = rng.choice(list(blocks(tree)) or [[]])
    if not block:
        return False
    at = rng.randrange(len(block))
    if kind == "break":
        block[at:at] = statement(rng.choice(["torch._dynamo.graph_break()", "print('here')", "torch._dynamo.graph_break()", "import torch\ntorch.ones(2).sum().item()"]))
    elif kind == "update":
        names = assigned(block, at)
        if not names:
            return False
        n = rng.choice(names)
        block[at:at] = statement(rng.choice([f"{n} = {n} * 1.5", f"{n} = {n} + 1", f"{n} += 1", f"print({n} is None)", f"{n} = {n}"]))
    elif kind == "repeat":
        block.insert(at, copy.deepcopy(block[at]))
    elif kind == "remove":
        if len(block) < 2 or isinstance(block[at], ast.Return):
            return False
        del block[at]
    elif kind == "result":
        last = block[-1]
        if not isinstance(last, ast.Return) or last.value is None:
            return False
        block[-1:] = [ast.Assign([ast.Name("result", ast.Store())], last.value), *statement("print('done')"), ast.Return(ast.Name("result", ast.Load()))]
    else:
        return change_expression(rng, tree, kind)
    return True


def change_expression(rng, tree, kind):
    nodes = [n for b in blocks(tree) for s in b for n in ast.walk(s)]
    if kind == "number":
        able = [n for n in nodes if isinstance(n, ast.Constant) and type(n.value) in (int, float)]
        if not able:
            return False
        n = rng.choice(able)
        n.value = n.value + rng.choice([1, -1, 2]) if isinstance(n.value, int) else n.value * rng.choice([0.5, 2, -1])
    elif kind == "operator":
        able = [n for n in nodes if isinstance(n, (ast.BinOp, ast.AugAssign)) and type(n.op) in OPERATORS]
        if not able:
            return False
        rng.choice(able).op = rng.choice(OPERATORS)()
    else:
        able = [n for n in nodes if isinstance(n, ast.Compare) and len(n.ops) == 1 and type(n.ops[0]) in COMPARISONS]
        if not able:
            return False
        rng.choice(able).ops = [rng.choice(COMPARISONS)()]
    return True


# The calls.
def other_numbers(rng, tensor):
    def number(x):
        return round(x * rng.uniform(-1.5, 1.5), 4) if isinstance(x, float) else x

    tensor["data"] = [number(x) for x in tensor["data"]]


def resized(rng, tensor, sizes):
    """A tensor whose sizes are renamed by `sizes`; its numbers are its own, over and over."""
    shape = [sizes.get(s, s) for s in tensor["shape"]]
    n = 1
    for s in shape:
        n *= s
    data = tensor["data"] or [1.0]
    tensor.update(shape=shape, data=[data[(i * 7) % len(data)] for i in range(n)] if shape != tensor["shape"] else tensor["data"])
    tensor.pop("strides", None)


def tensors_of(value):
    """All tensors in it, in lists and dicts too."""
    if isinstance(value, list):
        return [t for v in value for t in tensors_of(v)]
    if not isinstance(value, dict):
        return []
    if isinstance(value.get("tensor"), dict):
        return [value["tensor"]]
    return [t for v in value.values() for t in tensors_of(v)]


def other_call(rng, call):
    call = copy.deepcopy(call)
    tensors = [t for t in tensors_of(call) if isinstance(t.get("data"), list)]
    able = sorted({s for t in tensors for s in t["shape"]})
    if able and rng.random() < 0.5:
        one = rng.choice(able)
        sizes = {one: rng.choice([1, 2, 3, 5, one + 1, max(1, one - 1)])}
        for t in tensors:
            resized(rng, t, sizes)
    for t in tensors:
        if rng.random() < 0.7:
            other_numbers(rng, t)
    if rng.random() < 0.15:
        to = rng.choice(["float64", "bfloat16", "float16"])
        for t in tensors:
            if t["dtype"] == "float32":
                t["dtype"] = to
    for v in call:
        if isinstance(v, dict) and type(v.get("value")) in (int, float) and rng.random() < 0.5:
            v["value"] += rng.choice([1, -1, 2])
    return call


def make(seed):
    rng = random.Random(seed)
    case = rng.choice(corpus())
    tree = ast.parse(case["source"])
    done, want = 0, rng.choice([0, 1, 1, 2, 3])
    for _ in range(20):
        if done == want:
            break
        done += change(rng, tree, rng.choices(list(CHANGES), list(CHANGES.values()))[0])
    calls = copy.deepcopy(case["inputs"][:4])
    while len(calls) < rng.choice([2, 3, 4]):
        calls.append(other_call(rng, rng.choice(case["inputs"])))
    source = case["source"] if done == 0 else ast.unparse(ast.fix_missing_locations(tree)) + "\n"
    workload = {"name": f"seed {seed}", "source": source, "calls": calls}
    for said in ("autocast",):
        if case.get(said):
            workload[said] = case[said]
    if case.get("grad") or rng.random() < 0.2:
        workload["grad"] = True
    if rng.random() < 0.05:
        workload["deny"] = [rng.choice(["add", "mul", "sum", "sin", "relu"])]
    return workload


if __name__ == "__main__":
    import sys

    made = make(int(sys.argv[1]))
    print(made["source"])
    print(json.dumps(made["calls"])[:1000])
