# einops: patterns of axes, as reshapes, permutations and reductions.
import math

import torch


class EinopsError(RuntimeError):
    pass


_REDUCTIONS = ("min", "max", "sum", "mean", "prod", "any", "all")


class _Side:
    # One side of a pattern: a list of groups, each a list of names; "..." stands as itself.
    def __init__(self, text, pattern):
        self.groups = []
        self.names = []
        self.ellipsis = False
        group = None
        word = ""
        for c in text.replace("...", "\u2026") + " ":
            if c in "() \u2026":
                if word:
                    self.take(word, group, pattern)
                    word = ""
                if c == "(":
                    if group is not None:
                        raise EinopsError(f"Axis composition is one-level (brackets inside brackets not allowed), in {pattern!r}")
                    group = []
                elif c == ")":
                    if group is None:
                        raise EinopsError(f"Brackets are not balanced, in {pattern!r}")
                    self.groups.append(group)
                    group = None
                elif c == "\u2026":
                    if self.ellipsis:
                        raise EinopsError(f"Expression may contain dots only inside ellipsis (...), in {pattern!r}")
                    self.ellipsis = True
                    if group is None:
                        self.groups.append("...")
                    else:
                        group.append("...")
            else:
                word += c
        if group is not None:
            raise EinopsError(f"Imbalanced parentheses in expression: {pattern!r}")

    def take(self, word, group, pattern):
        if not (word.isdigit() or word.isidentifier()):
            raise EinopsError(f"Invalid axis identifier: {word} in {pattern!r}")
        if not word.isdigit():
            if word in self.names:
                raise EinopsError(f"Indexing expression contains duplicate dimension \"{word}\"")
            self.names.append(word)
        if group is None:
            self.groups.append([] if word == "1" else [word])
        elif word != "1":
            group.append(word)


def _sides(pattern):
    parts = pattern.split("->")
    if len(parts) != 2:
        raise EinopsError(f"the pattern {pattern!r} has no -> between two sides")
    return _Side(parts[0], pattern), _Side(parts[1], pattern)


# The names of the dims that "..." stands for, and the groups with them in its place.
def _spread(side, n):
    dims = [f"\u2026{i}" for i in range(n)]
    groups = []
    for group in side.groups:
        if group == "...":
            groups += [[d] for d in dims]
        else:
            flat = []
            for name in group:
                flat += dims if name == "..." else [name]
            groups.append(flat)
    return groups


def _lengths(tensor, groups, given, pattern, what):
    found = dict(given)
    for size, group in zip(tensor.shape, groups):
        unknown = None
        product = 1
        for name in group:
            length = int(name) if name.isdigit() else found.get(name)
            if length is not None:
                product = product * length
            elif unknown is None:
                unknown = name
            else:
                raise EinopsError(f' Error while processing {what}-reduction pattern "{pattern}".\n Could not infer sizes for {{{name!r}}}')
        if unknown is not None:
            if size % product != 0:
                raise EinopsError(f' Error while processing {what}-reduction pattern "{pattern}".\n Input tensor shape: {tuple(tensor.shape)}. Additional info: {given}.\n Shape mismatch, can\'t divide axis of length {size} in chunks of {product}')
            found[unknown] = size // product
        elif size != product:
            raise EinopsError(f' Error while processing {what}-reduction pattern "{pattern}".\n Input tensor shape: {tuple(tensor.shape)}. Additional info: {given}.\n Shape mismatch, {size} != {product}')
    return found


def _apply(tensor, pattern, operation, given):
    if isinstance(tensor, (list, tuple)):
        if len(tensor) == 0:
            raise TypeError("Rearrange/Reduce/Repeat can't be applied to an empty list")
        tensor = torch.stack(list(tensor))
    left, right = _sides(pattern)
    if right.ellipsis and not left.ellipsis:
        raise EinopsError(f"Ellipsis found in right side, but not left side of a pattern {pattern}")
    fixed = len(left.groups) - (1 if left.ellipsis else 0)
    inside = left.ellipsis and "..." not in left.groups
    free = tensor.dim() - fixed - (1 if inside else 0) if left.ellipsis else 0
    if (left.ellipsis and free < 0) or (not left.ellipsis and fixed != tensor.dim()):
        raise EinopsError(f' Error while processing {operation}-reduction pattern "{pattern}".\n Input tensor shape: {tuple(tensor.shape)}. Additional info: {given}.\n Wrong shape: expected {"at least " if left.ellipsis else ""}{fixed} dims. Received {tensor.dim()}-dim tensor.')
    groups = _spread(left, free)
    results = _spread(right, free)
    ins = [name for group in groups for name in group]
    outs = [name for group in results for name in group]
    for name in given:
        if name not in left.names and name not in right.names:
            raise EinopsError(f"Axis {name} is not used in transform")
    new = [name for name in outs if name not in ins]
    if operation == "rearrange":
        unmatched = [name for name in ins if name not in outs] + new
        if unmatched:
            raise EinopsError(f"Identifiers only on one side of expression (should be on both): {set(unmatched)}")
    elif operation == "repeat":
        gone = [name for name in ins if name not in outs]
        if gone:
            raise EinopsError(f"Unexpected identifiers on the left side of repeat: {set(gone)}")
        for name in new:
            if not name.isdigit() and name not in given:
                raise EinopsError(f"Specify sizes for new axes in repeat: {{{name!r}}}")
    elif new:
        raise EinopsError(f"Unexpected identifiers on the right side of reduce {operation}: {set(new)}")
    lengths = _lengths(tensor, groups, given, pattern, operation)
    if any(len(group) != 1 for group in groups):
        tensor = tensor.reshape([int(n) if n.isdigit() else lengths[n] for n in ins])
    kept = [name for name in ins if name in outs]
    if len(kept) < len(ins):
        tensor = _reduced(tensor, operation, [i for i in range(len(ins)) if ins[i] not in outs])
    order = [kept.index(name) for name in outs if name in kept]
    if order != list(range(len(order))):
        tensor = tensor.permute(order)
    if new:
        at = 0
        sizes = []
        for name in outs:
            if name in new:
                tensor = tensor.unsqueeze(at)
                sizes.append(int(name) if name.isdigit() else lengths[name])
            else:
                sizes.append(-1)
            at += 1
        tensor = tensor.expand(sizes)
    if any(len(group) != 1 for group in results):
        tensor = tensor.reshape([math.prod([int(n) if n.isdigit() else lengths[n] for n in group]) for group in results])
    return tensor


def _reduced(tensor, operation, dims):
    if callable(operation):
        return operation(tensor, tuple(dims))
    if operation == "mean":
        return tensor.mean(dims)
    if operation == "sum":
        return tensor.sum(dims)
    if operation == "min":
        return tensor.amin(dims)
    if operation == "max":
        return tensor.amax(dims)
    for d in sorted(dims, reverse=True):
        tensor = tensor.prod(d) if operation == "prod" else tensor.any(d) if operation == "any" else tensor.all(d)
    return tensor


def rearrange(tensor, pattern, **axes_lengths):
    return _apply(tensor, pattern, "rearrange", axes_lengths)


def repeat(tensor, pattern, **axes_lengths):
    return _apply(tensor, pattern, "repeat", axes_lengths)


def reduce(tensor, pattern, reduction, **axes_lengths):
    if not callable(reduction) and reduction not in _REDUCTIONS:
        raise EinopsError(f"Unknown reduction {reduction}. Expect one of {_REDUCTIONS}.")
    return _apply(tensor, pattern, reduction, axes_lengths)


def parse_shape(x, pattern):
    names = pattern.split()
    if "..." in names:
        at = names.index("...")
        rest = len(names) - at - 1
        pairs = list(zip(names[:at], x.shape)) + list(zip(names[at + 1 :], x.shape[len(x.shape) - rest :]))
    else:
        if len(names) != len(x.shape):
            raise RuntimeError(f"Can't parse shape with different number of dimensions: {pattern} {tuple(x.shape)}")
        pairs = list(zip(names, x.shape))
    found = {}
    for name, size in pairs:
        if name.isdigit():
            if int(name) != size:
                raise RuntimeError(f"Length of anonymous axis does not match: {pattern} {tuple(x.shape)}")
        elif name != "_":
            found[name] = size
    return found


def asnumpy(tensor):
    return tensor.numpy()


def einsum(*operands_and_pattern):
    tensors = operands_and_pattern[:-1]
    pattern = operands_and_pattern[-1]
    letters = {}
    compact = ""
    for part in pattern.replace(",", " , ").replace("->", " -> ").split():
        if part in (",", "->", "..."):
            compact += part
        elif part.startswith("(") or part.endswith(")"):
            raise NotImplementedError("Shape rearrangement is not yet supported in einsum.")
        else:
            if part not in letters:
                letters[part] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[len(letters)]
            compact += letters[part]
    return torch.einsum(compact, *tensors)


def pack(tensors, pattern):
    names = pattern.split()
    at = names.index("*")
    after = len(names) - at - 1
    shapes = []
    flat = []
    for t in tensors:
        if t.dim() < len(names) - 1:
            raise EinopsError(f"packed tensor with shape {tuple(t.shape)} has fewer dims than the pattern {pattern!r}")
        end = t.dim() - after
        shapes.append(t.shape[at:end])
        flat.append(t.reshape([*t.shape[:at], -1, *t.shape[end:]]))
    return torch.cat(flat, at), shapes


def unpack(tensor, packed_shapes, pattern):
    at = pattern.split().index("*")
    sizes = [math.prod(shape) for shape in packed_shapes]
    if -1 in [s for shape in packed_shapes for s in shape]:
        known = sum([size for size in sizes if size >= 0])
        sizes = [size if size >= 0 else tensor.shape[at] - known for size in sizes]
    parts = torch.split(tensor, sizes, at)
    return [p.reshape([*p.shape[:at], *shape, *p.shape[at + 1 :]]) for p, shape in zip(parts, packed_shapes)]
