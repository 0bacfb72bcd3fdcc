"""What a program can call, and with which parameters: read from the engine.

Rows of ops.def come from `breakeven ops --json`; functions, classes and methods of
the prelude from its texts, by their syntax trees; natives, whose arguments C code
reads, have their signatures in examples.py, and one that has none there fails.
"""
import ast
import json
import os
import re
import subprocess

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PRELUDE = os.path.join(ROOT, "fusion/vm/prelude")
REQUIRED = object()


class Parameter:
    def __init__(self, name, default, named_only=False):
        self.name, self.default, self.named_only = name, default, named_only


class Signature:
    """`binds`: there is a function that refuses what it does not know, by name."""

    def __init__(self, parameters, varargs=None, keywords=None, binds=True):
        self.parameters, self.varargs, self.keywords, self.binds = parameters, varargs, keywords, binds


def of_arguments(arguments, bound):
    """Of a syntax tree; `bound`: the first parameter is the instance."""
    places = arguments.posonlyargs + arguments.args
    defaults = [REQUIRED] * (len(places) - len(arguments.defaults)) + [ast.unparse(d) for d in arguments.defaults]
    found = [Parameter(p.arg, d) for p, d in zip(places, defaults)][bound:]
    for p, d in zip(arguments.kwonlyargs, arguments.kw_defaults):
        found.append(Parameter(p.arg, REQUIRED if d is None else ast.unparse(d), True))
    return Signature(found, arguments.vararg and arguments.vararg.arg, arguments.kwarg and arguments.kwarg.arg)


def of_text(text):
    """Of "x, dim=0, *, keepdim=False"."""
    return of_arguments(ast.parse(f"def f({text}): pass").body[0].args, 0)


def of_row(text):
    """Of ops.def's "Tensor x, int[]? dim=None, *, bool keepdim=False"."""
    found, named = [], False
    for part in filter(None, (p.strip() for p in text.split(", "))):
        if part == "*":
            named = True
            continue
        name, _, default = part.split(" ", 1)[1].partition("=")
        found.append(Parameter(name, default or REQUIRED, named))
    return Signature(found)


def modules():
    """module -> its texts, as preludes.def says."""
    with open(os.path.join(ROOT, "fusion/vm/preludes.def")) as file:
        rows = re.findall(r'PRELUDE\("([\w.]+)",\s*prelude_(\w+)_text\)', file.read())
    found = {}
    for module, name in rows:
        with open(os.path.join(PRELUDE, name + ".py")) as file:
            found.setdefault(module, []).append(ast.parse(file.read()))
    return found


class Class:
    def __init__(self, node, module):
        self.node, self.module = node, module
        self.bases = [ast.unparse(b).split(".")[-1] for b in node.bases]
        self.methods = {n.name: n for n in node.body if isinstance(n, ast.FunctionDef)}


def public(name):
    return not name.startswith("_")


def prelude(wanted):
    """(functions: spelling -> Signature, classes: spelling -> Class) of the modules wanted."""
    functions, classes, aliases = {}, {}, {}
    for module, trees in modules().items():
        if module not in wanted:
            continue
        for tree in trees:
            for node in tree.body:
                if isinstance(node, ast.FunctionDef) and public(node.name):
                    functions.setdefault(f"{module}.{node.name}", of_arguments(node.args, module == "torch.Tensor"))
                elif isinstance(node, ast.ClassDef):
                    classes.setdefault(f"{module}.{node.name}", Class(node, module))
                elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute):
                    aliases[f"{module}.{ast.unparse(node.targets[0])}"] = ast.unparse(node.value).replace("F.", "torch.nn.functional.")
    for name, real in aliases.items():
        if name in functions or real not in functions:
            continue
        s = functions[real]
        bound = name.startswith("torch.Tensor.")
        functions[name] = Signature(s.parameters[bound:], s.varargs, s.keywords)
    return functions, classes


def method_of(classes, owner, name):
    """The syntax tree of a method, by the class or its bases; None."""
    if name in owner.methods:
        return owner.methods[name]
    for base in owner.bases:
        found = classes.get(f"{owner.module}.{base}")
        found = found and method_of(classes, found, name)
        if found:
            return found
    return None


def rows(binary):
    """spelling -> Signature of ops.def; methods without their tensor."""
    done = subprocess.run([binary, "ops", "--json"], capture_output=True, text=True, check=True)
    found = {}
    for row in json.loads(done.stdout)["ops"]:
        signature = of_row(row["signature"])
        for spelling in row["spellings"]:
            if spelling.startswith("torch._C.") or spelling.startswith("op:"):
                continue
            bound = spelling.startswith("Tensor.")
            name = spelling.replace("Tensor.", "torch.Tensor.") if bound else spelling
            found[name] = Signature(signature.parameters[bound:])
    return found
