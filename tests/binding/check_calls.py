"""Which callables there are, each with an example: from tests/ops, and from examples.py."""
import importlib.util
import os
import re

import examples
import layers
import signatures
import table
from naive import Nd

IN_PLACE = ("Tensor.zero_", "Tensor.fill_", "Tensor.copy_")  # there is no other form
MOST = 8  # examples of one callable
HERE = os.path.dirname(os.path.abspath(__file__))


def ops_check():
    """tests/ops/check.py, whose name is ours too."""
    spec = importlib.util.spec_from_file_location("ops_check", os.path.join(HERE, "..", "ops", "check.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def tensor_text(nd):
    numbers = ", ".join("float('%r')" % v if isinstance(v, float) and v - v != 0 else repr(v) for v in nd.flat())
    return f"torch.tensor([{numbers}], dtype=torch.{nd.dtype}).reshape({tuple(nd.shape)})"


def examples_of(spelling, row, check):
    """The calls of a row of tests/ops that this spelling can say: with gradients, then without."""
    found, plain = [], []
    for call in row.calls:
        plainly = spelling[:-1] if spelling in IN_PLACE else spelling
        if call.raises or (call.only == "inplace" and plainly == spelling) or len(plain) == MOST:
            continue
        if not check.takes(plainly, call):
            continue
        dtypes = call.dtypes or row.dtypes
        dtype = "float32" if "float32" in dtypes else dtypes[0]
        lines, leaves, names = [], [], []
        for k, given in enumerate(call.inputs):
            nd = given.numbers(dtype, k + 1)
            names.append(table.NAMES[k])
            lines.append(f"{names[-1]} = {tensor_text(nd)}")
            if nd.dtype in ("float32", "float64"):
                leaves += [f"leaf_{names[-1]} = {names[-1]}.requires_grad_()", f"{names[-1]} = leaf_{names[-1]}.clone()"]
        text, called = call.text, f"{spelling}({{}})"
        if spelling.startswith("Tensor."):
            first, _, text = text.partition(", ")
            called = f"{first}.{spelling[len('Tensor.'):]}({{}})"
        wrap = call.wrap or row.wrap
        called = wrap.replace("{}", called) if wrap else called
        if leaves:
            found.append((lines + leaves, called, text, names + [line.split()[0] for line in leaves[::2]]))
        plain.append((lines, called, text, names))
    return [e for pair in zip(found, plain) for e in pair] if len(found) == len(plain) else plain + found


def of_ops(binary, plan):
    """Functions and methods of tensors."""
    check, found, faults = ops_check(), [], []
    known = signatures.rows(binary)
    functions, _ = signatures.prelude({"torch", "torch.nn.functional", "torch.linalg", "torch.special", "torch.fft", "torch.Tensor"})
    known.update({name + "_": s for name, s in known.items() if name.startswith("torch.Tensor.")})
    known.update(functions)
    known.update({name: signatures.of_text(text) for name, text in examples.NATIVES.items()})
    for name, (_, spellings) in check.op_rows().items():
        row = table.ROWS.get(name)
        for spelling in spellings if row and not row.why else ():
            if spelling.startswith("op:"):
                continue
            if spelling + "_" in IN_PLACE:
                spelling += "_"  # methods in place alone
            full = spelling.replace("Tensor.", "torch.Tensor.", 1) if spelling.startswith("Tensor.") else spelling
            some = examples.of(full) + examples_of(spelling, row, check)
            if not some:
                faults.append(f"{full}: no example")
            elif full not in known:
                faults.append(f"{full}: no signature")
            else:
                found.append(plan(full, known[full], some))
    return found, faults


def plans(binary, plan):
    found, faults = of_ops(binary, plan)
    more, wrong = layers.plans(plan)
    return found + more, faults + wrong
