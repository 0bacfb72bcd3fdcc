"""Shrinks a program that shows a fault to a few lines: shrink(workload, fails).

`fails(workload)` says whether it still shows it.  Calls go, statements go, blocks give way to
their bodies, expressions to a part of theirs, tensors to fewer numbers.
"""
import ast
import copy
import time


def blocks(tree):
    for node in ast.walk(tree):
        for field in ("body", "orelse", "finalbody", "handlers"):
            part = getattr(node, field, None)
            if isinstance(part, list) and part and isinstance(part[0], ast.AST):
                yield node, field


def render(tree):
    made = copy.deepcopy(tree)
    for node in ast.walk(made):
        if hasattr(node, "body") and isinstance(node.body, list) and not node.body and not isinstance(node, ast.Module):
            node.body = [ast.Pass()]
    return ast.unparse(ast.fix_missing_locations(made)) + "\n"


def smaller_statements(tree):
    """Trees with some statements fewer; the larger cuts first."""
    for size in (16, 8, 4, 2, 1):
        for at, (node, field) in enumerate(list(blocks(tree))):
            length = len(getattr(node, field))
            for start in range(length - 1, -1, -size):
                low = max(0, start - size + 1)
                if size > 1 and start - low + 1 < size:
                    continue
                made = copy.deepcopy(tree)
                other, _ = list(blocks(made))[at]
                part = getattr(other, field)
                if isinstance(part[low], (ast.Import, ast.ImportFrom)):
                    continue
                del part[low:start + 1]
                if field == "handlers" and not part and not other.finalbody:
                    continue
                yield made
    for at, (node, field) in enumerate(list(blocks(tree))):  # a block's body in its place
        for k, statement in enumerate(getattr(node, field)):
            if isinstance(statement, (ast.If, ast.For, ast.While, ast.With, ast.Try)):
                made = copy.deepcopy(tree)
                other, _ = list(blocks(made))[at]
                part = getattr(other, field)
                part[k:k + 1] = part[k].body
                yield made


class Rename(ast.NodeTransformer):
    def __init__(self, old, new):
        self.old, self.new = old, new

    def visit_Name(self, node):
        return ast.copy_location(ast.Name(self.new, node.ctx), node) if node.id == self.old else node


def fewer_names(tree):
    """Without `a = b`: b is said in the place of a."""
    for at, (node, field) in enumerate(list(blocks(tree))):
        for k, statement in enumerate(getattr(node, field)):
            if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name) and isinstance(statement.targets[0], ast.Name):
                made = copy.deepcopy(tree)
                other, _ = list(blocks(made))[at]
                del getattr(other, field)[k]
                yield Rename(statement.targets[0].id, statement.value.id).visit(made)


class Swap(ast.NodeTransformer):
    def __init__(self, target, new):
        self.target, self.new, self.count = target, new, -1

    def generic_visit(self, node):
        if isinstance(node, ast.expr):
            self.count += 1
            if self.count == self.target:
                return self.new
        return super().generic_visit(node)


def expressions(tree):
    class Walk(ast.NodeVisitor):
        def __init__(self):
            self.found = []

        def generic_visit(self, node):
            if isinstance(node, ast.expr):
                self.found.append(node)
            super().generic_visit(node)

    walk = Walk()
    walk.visit(tree)
    return walk.found


def smaller_expressions(tree):
    for at, node in enumerate(expressions(tree)):
        if isinstance(node, (ast.Name, ast.Constant)) or isinstance(getattr(node, "ctx", None), (ast.Store, ast.Del)):
            continue
        parts = []
        if isinstance(node, ast.Call):
            parts = ([node.func.value] if isinstance(node.func, ast.Attribute) and not (isinstance(node.func.value, (ast.Name, ast.Attribute)) and ast.unparse(node.func.value).startswith("torch")) else []) + list(node.args)
        elif isinstance(node, ast.BinOp):
            parts = [node.left, node.right]
        elif isinstance(node, (ast.UnaryOp, ast.Starred)):
            parts = [getattr(node, "operand", None) or node.value]
        elif isinstance(node, ast.Subscript):
            parts = [node.value]
        elif isinstance(node, ast.IfExp):
            parts = [node.body, node.orelse]
        elif isinstance(node, ast.Compare):
            parts = [node.left]
        elif isinstance(node, (ast.List, ast.Tuple)) and len(node.elts) > 1:
            parts = list(node.elts)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, (ast.Name, ast.Call)) and ast.unparse(node.value) not in ("torch", "self", "nn", "math"):
            parts = [node.value]
        for part in parts:
            if isinstance(part, ast.expr) and not isinstance(part, ast.Starred):
                yield Swap(at, copy.deepcopy(part)).visit(copy.deepcopy(tree))


def smaller_calls(workload):
    calls = workload["calls"]
    for k in range(len(calls) - 1, -1, -1):
        if len(calls) > 1:
            yield dict(workload, calls=calls[:k] + calls[k + 1:])
    if workload.get("grad"):
        yield {k: v for k, v in workload.items() if k != "grad"}
    if workload.get("autocast"):
        yield {k: v for k, v in workload.items() if k != "autocast"}


def parameters(workload, tree):
    """Without a parameter that nothing needs."""
    for at, node in enumerate(ast.walk(tree)):
        if isinstance(node, ast.FunctionDef) and node.name in ("model", "forward"):
            names = [a.arg for a in node.args.args]
            first = 1 if names and names[0] == "self" else 0
            for k in range(len(names) - 1, first - 1, -1):
                if any(len(call) <= k - first for call in workload["calls"]):
                    continue
                made = copy.deepcopy(tree)
                other = list(ast.walk(made))[at]
                del other.args.args[k]
                back = k - (len(names) - len(node.args.defaults))
                if back >= 0:
                    del other.args.defaults[back]
                yield dict(workload, source=render(made), calls=[c[:k - first] + c[k - first + 1:] for c in workload["calls"]])


def shrink(workload, fails, seconds=60):
    """The smallest that was found within the time."""
    end = time.monotonic() + seconds
    best, moved = workload, True
    while moved and time.monotonic() < end:
        moved = False
        for rule in (smaller_statements, fewer_names, smaller_expressions):
            again = True
            while again and time.monotonic() < end:
                again = False
                for made in rule(ast.parse(best["source"])):
                    try:
                        source = render(made)
                    except (ValueError, AttributeError):
                        continue
                    if len(source) >= len(best["source"]) or time.monotonic() > end:
                        continue
                    smaller = dict(best, source=source)
                    if fails(smaller):
                        best, again, moved = smaller, True, True
                        break
        for make in (smaller_calls, lambda w: parameters(w, ast.parse(w["source"]))):
            again = True
            while again and time.monotonic() < end:
                again = False
                for smaller in make(best):
                    if fails(smaller):
                        best, again, moved = smaller, True, True
                        break
    return best
