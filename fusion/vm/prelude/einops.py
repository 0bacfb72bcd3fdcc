# einops: patterns of named axes, over the views and reductions of torch.
#
# A side of a pattern is a list of groups, each a list of names; the ellipsis outside of brackets
# is the group _DOTS.  An axis given as a number has the name "#i n", which no pattern can spell.
import torch

__version__ = "0.8.1"

_DOTS = "..."
_REDUCTIONS = ("min", "max", "sum", "mean", "prod", "any", "all")


class EinopsError(RuntimeError):
    pass


def _is_number(name):
    return name[0] == "#"


def _number(name):
    return int(name[name.index(" ") + 1 :])


def _show(names):
    return "{" + ", ".join([f"{_number(n)}-axis" if _is_number(n) else repr(n) for n in names]) + "}"


def _refuse_name(name, underscore=False):
    """Why it names no axis; "" where it does."""
    if not name.isidentifier():
        return "not a valid python identifier"
    if (name[0] == "_" or name[-1] == "_") and not (name == "_" and underscore):
        return "axis name should should not start or end with underscore"
    return ""


class Side:
    """One side of a pattern: its groups, and the names in their order."""

    def __init__(self, text, underscore=False, duplicates=False):
        self.groups = []
        self.names = []
        self.dots = False
        self.dots_inside = False
        self.numbers = 0
        self.underscore = underscore
        self.duplicates = duplicates
        self.open = None
        self._check_dots(text)
        self._read(text)

    def _check_dots(self, text):
        if "." not in text:
            return
        if "..." not in text:
            raise EinopsError("Expression may contain dots only inside ellipsis (...)")
        if text.count("...") != 1 or text.count(".") != 3:
            raise EinopsError(
                "Expression may contain dots only inside ellipsis (...); only one ellipsis for tensor "
            )

    def _read(self, text):
        word = ""
        for char in text:
            if char in "() ":
                if word:
                    self._add(word)
                word = ""
                if char == "(":
                    if self.open is not None:
                        raise EinopsError(
                            "Axis composition is one-level (brackets inside brackets not allowed)"
                        )
                    self.open = []
                elif char == ")":
                    if self.open is None:
                        raise EinopsError("Brackets are not balanced")
                    self.groups.append(self.open)
                    self.open = None
            elif char.isalnum() or char == "_" or char == ".":
                if word and (char == ".") != (word[-1] == "."):
                    raise EinopsError(
                        f"Invalid axis identifier: {(word + char).replace('.', '…')}\nnot a valid python identifier"
                    )
                word += char
            else:
                raise EinopsError(f"Unknown character '{char}'")
        if self.open is not None:
            raise EinopsError(f'Imbalanced parentheses in expression: "{text.replace(_DOTS, "…")}"')
        if word:
            self._add(word)

    def _add(self, name):
        if name in self.names and not (self.underscore and name == "_") and not self.duplicates:
            raise EinopsError(f'Indexing expression contains duplicate dimension "{name}"')
        if name == _DOTS:
            self.dots = True
            self.dots_inside = self.open is not None
        elif name.isdecimal():
            if int(name) == 1:
                if self.open is None:
                    self.groups.append([])
                return
            if int(name) == 0:
                raise EinopsError("Anonymous axis should have positive length, not 0")
            name = f"#{self.numbers} {int(name)}"
            self.numbers += 1
        else:
            reason = _refuse_name(name, self.underscore)
            if reason:
                raise EinopsError(f"Invalid axis identifier: {name}\n{reason}")
        if name not in self.names:
            self.names.append(name)
        if self.open is not None:
            self.open.append(name)
        else:
            self.groups.append(_DOTS if name == _DOTS else [name])

    def flat(self):
        return [name for group in self.groups for name in ([_DOTS] if group == _DOTS else group)]


def _only_in(names, others):
    return [name for name in names if name not in others]


def _check_sides(pattern, operation, left, right, given):
    if right.dots and not left.dots:
        raise EinopsError(f"Ellipsis found in right side, but not left side of a pattern {pattern}")
    if left.dots and left.dots_inside:
        raise EinopsError(f"Ellipsis inside parenthesis in the left side is not allowed: {pattern}")
    if operation == "rearrange":
        if left.numbers or right.numbers:
            raise EinopsError(
                "Non-unitary anonymous axes are not supported in rearrange (exception is length 1)"
            )
        names = _only_in(left.names, right.names) + _only_in(right.names, left.names)
        if names:
            raise EinopsError(
                f"Identifiers only on one side of expression (should be on both): {_show(names)}"
            )
    elif operation == "repeat":
        # Numbers of the two sides are different axes.
        names = [n for n in left.names if _is_number(n) or n not in right.names]
        if names:
            raise EinopsError(f"Unexpected identifiers on the left side of repeat: {_show(names)}")
        names = [n for n in _only_in(right.names, left.names + given) if not _is_number(n)]
        if names:
            raise EinopsError(f"Specify sizes for new axes in repeat: {_show(names)}")
    elif operation in _REDUCTIONS or callable(operation):
        names = [n for n in right.names if _is_number(n) or n not in left.names]
        if names:
            raise EinopsError(
                f"Unexpected identifiers on the right side of reduce {operation}: {_show(names)}"
            )
    else:
        raise EinopsError(f"Unknown reduction {operation}. Expect one of {_REDUCTIONS}.")


def _spread(groups, dots):
    """The groups, the ellipsis taken apart into the axes that it stands for."""
    found = []
    for group in groups:
        if group == _DOTS:
            found += [[name] for name in dots]
        else:
            found.append([n for name in group for n in (dots if name == _DOTS else [name])])
    return found


class Plan:
    """A pattern, read for tensors of ndim dimensions."""

    def __init__(self, pattern, operation, given, ndim):
        left_text, right_text = pattern.split("->")
        left, right = Side(left_text), Side(right_text)
        _check_sides(pattern, operation, left, right, given)
        dots = []
        if left.dots:
            others = len(left.groups) - 1
            if ndim < others:
                raise EinopsError(f"Wrong shape: expected >={others} dims. Received {ndim}-dim tensor.")
            dots = [f"…{i}" for i in range(ndim - others)]
        elif ndim != len(left.groups):
            raise EinopsError(
                f"Wrong shape: expected {len(left.groups)} dims. Received {ndim}-dim tensor."
            )
        self.operation = operation
        self.given = given
        self.left = _spread(left.groups, dots)
        self.right = _spread(right.groups, dots)
        self.names = [name for group in self.left for name in group]
        self.result = [name for group in self.right for name in group]
        self._check_given()
        reduced = [n for n in self.names if n not in self.result or _is_number(n)]
        kept = [n for n in self.result if n in self.names and not _is_number(n)]
        self.order = [self.names.index(name) for name in kept + reduced]
        self.reduced = list(range(len(kept), len(kept) + len(reduced)))
        self.added = [i for i, n in enumerate(self.result) if n not in self.names or _is_number(n)]

    def _check_given(self):
        for name in self.given:
            if _refuse_name(name):
                raise EinopsError("Invalid name for an axis", name)
            if name not in self.names and name not in self.result:
                raise EinopsError(f"Axis {name} is not used in transform")
        for group in self.left:
            unknown = [n for n in group if n not in self.given and not _is_number(n)]
            if len(unknown) > 1:
                raise EinopsError(f"Could not infer sizes for {_show(unknown)}")

    def _lengths(self, shape, given):
        lengths = dict(given)
        for group, length in zip(self.left, shape):
            known, unknown = 1, None
            for name in group:
                if _is_number(name):
                    known *= _number(name)
                elif name in given:
                    known *= given[name]
                else:
                    unknown = name
            if unknown is not None and len(group) == 1:
                lengths[unknown] = length
            elif unknown is not None:
                if length % known != 0:
                    raise EinopsError(
                        f"Shape mismatch, can't divide axis of length {length} in chunks of {known}"
                    )
                lengths[unknown] = length // known
            elif length != known:
                raise EinopsError(f"Shape mismatch, {length} != {known}")
        return lengths

    def apply(self, x, given):
        lengths = self._lengths(x.shape, given)

        def length(name):
            return _number(name) if _is_number(name) else lengths[name]

        if any([len(group) != 1 for group in self.left]):
            x = x.reshape([length(name) for name in self.names])
        if self.order != list(range(len(self.order))):
            x = x.permute(self.order)
        if self.reduced:
            x = _reduced(x, self.operation, tuple(self.reduced))
        if self.added:
            sizes = [-1] * len(self.result)
            for i in self.added:
                x = x.unsqueeze(i)
                sizes[i] = length(self.result[i])
            x = x.expand(sizes)
        if any([len(group) != 1 for group in self.right]):
            x = x.reshape([_product([length(name) for name in group]) for group in self.right])
        return x


def _product(sizes):
    result = 1
    for size in sizes:
        result *= size
    return result


def _reduced(x, operation, axes):
    if callable(operation):
        return operation(x, axes)
    if operation == "mean":
        if not x.is_floating_point():
            raise NotImplementedError("reduce_mean is not available for non-floating tensors")
        return x.mean(dim=axes)
    if operation == "sum":
        return x.sum(dim=axes)
    if operation == "min":
        return x.amin(dim=axes)
    if operation == "max":
        return x.amax(dim=axes)
    for axis in reversed(axes):
        x = getattr(x, operation)(dim=axis)
    return x


def _torch_of(x):
    if isinstance(x, torch.Tensor):
        return x
    taken = getattr(x, "_as_argument", None)
    if taken is None:
        raise RuntimeError(f"Tensor type unknown to einops {type(x)}")
    return taken()


def _given_back(x, like):
    back = getattr(like, "_from_tensor", None) if not isinstance(like, torch.Tensor) else None
    return x if back is None else back(x)


def reduce(tensor, pattern, reduction, **axes_lengths):
    try:
        like = tensor
        if isinstance(tensor, list):
            if len(tensor) == 0:
                raise TypeError("Rearrange/Reduce/Repeat can't be applied to an empty list")
            like = tensor[0]
            tensor = torch.stack([_torch_of(x) for x in tensor])
        else:
            tensor = _torch_of(tensor)
        plan = Plan(pattern, reduction, list(axes_lengths), tensor.dim())
        return _given_back(plan.apply(tensor, axes_lengths), like)
    except EinopsError as error:
        message = f' Error while processing {reduction}-reduction pattern "{pattern}".'
        message += f"\n Input tensor shape: {tensor.shape}. Additional info: {axes_lengths}."
        raise EinopsError(message + f"\n {error}")


def rearrange(tensor, pattern, **axes_lengths):
    return reduce(tensor, pattern, "rearrange", **axes_lengths)


def repeat(tensor, pattern, **axes_lengths):
    return reduce(tensor, pattern, "repeat", **axes_lengths)


def parse_shape(x, pattern):
    side = Side(pattern, underscore=True)
    shape = x.shape
    if any([group != _DOTS and len(group) > 1 for group in side.groups]):
        raise RuntimeError(f"Can't parse shape with composite axes: {pattern} {shape}")
    groups = side.groups
    if side.dots:
        if len(shape) < len(groups) - 1:
            raise RuntimeError(
                f"Can't parse shape with this number of dimensions: {pattern} {shape}"
            )
        at = groups.index(_DOTS)
        groups = groups[:at] + [["_"]] * (len(shape) - len(groups) + 1) + groups[at + 1 :]
    elif len(shape) != len(groups):
        raise RuntimeError(
            f"Can't parse shape with different number of dimensions: {pattern} {shape}"
        )
    found = {}
    for group, length in zip(groups, shape):
        if not group:
            if length != 1:
                raise RuntimeError(f"Length of axis is not 1: {pattern} {shape}")
        elif _is_number(group[0]):
            if _number(group[0]) != length:
                raise RuntimeError(f"Length of anonymous axis does not match: {pattern} {shape}")
        elif group[0] != "_":
            found[group[0]] = length
    return found


def asnumpy(tensor):
    return tensor.detach().cpu().numpy()


_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _einsum_axis(group):
    if len(group) == 0:
        raise NotImplementedError("Singleton () axes are not yet supported in einsum.")
    if len(group) > 1:
        raise NotImplementedError("Shape rearrangement is not yet supported in einsum.")
    if _is_number(group[0]):
        raise NotImplementedError("Anonymous axes are not yet supported in einsum.")
    return group[0]


def _compact(pattern):
    """The pattern with a letter an axis, as torch.einsum takes it."""
    if "->" not in pattern:
        raise ValueError("Einsum pattern must contain '->'.")
    left_text, right_text = pattern.split("->")
    letters = {}
    sides = []
    for text in left_text.split(","):
        words = ""
        for group in Side(text, underscore=True, duplicates=True).groups:
            if group == _DOTS:
                words += _DOTS
                continue
            name = _einsum_axis(group)
            if name not in letters:
                if len(letters) >= len(_LETTERS):
                    raise RuntimeError("Too many axes in einsum.")
                letters[name] = _LETTERS[len(letters)]
            words += letters[name]
        sides.append(words)
    result = ""
    for group in Side(right_text, underscore=True).groups:
        if group == _DOTS:
            result += _DOTS
            continue
        name = _einsum_axis(group)
        if name not in letters:
            raise EinopsError(f"Unknown axis {name} on right side of einsum {pattern}.")
        result += letters[name]
    return ",".join(sides) + "->" + result


def einsum(*tensors_and_pattern):
    if len(tensors_and_pattern) <= 1:
        raise ValueError(
            "`einops.einsum` takes at minimum two arguments: the tensors (at least one), followed by the pattern."
        )
    pattern = tensors_and_pattern[-1]
    if not isinstance(pattern, str):
        raise ValueError(
            "The last argument passed to `einops.einsum` must be a string, representing the einsum pattern."
        )
    return torch.einsum(_compact(pattern), *tensors_and_pattern[:-1])


def _around_star(pattern, name):
    """How many axes a pattern has before and after its *."""
    axes = pattern.split()
    if len(axes) != len(set(axes)):
        raise EinopsError(f'Duplicates in axes names in {name}(..., "{pattern}")')
    if "*" not in axes:
        raise EinopsError(f'No *-axis in {name}(..., "{pattern}")')
    for axis in axes:
        if axis != "*" and _refuse_name(axis):
            raise EinopsError(f'Invalid axis name {axis} in {name}(..., "{pattern}")')
    before = axes.index("*")
    return before, len(axes) - before - 1


def pack(tensors, pattern):
    before, after = _around_star(pattern, "pack")
    flat, shapes = [], []
    for i, tensor in enumerate(tensors):
        shape = tensor.shape
        if len(shape) < before + after:
            raise EinopsError(
                f"packed tensor #{i} (enumeration starts with 0) has shape {shape}, "
                f"while pattern {pattern} assumes at least {before + after} axes"
            )
        end = len(shape) - after
        shapes.append(shape[before:end])
        flat.append(tensor.reshape([*shape[:before], -1, *shape[end:]]))
    return torch.cat(flat, dim=before), shapes


def unpack(tensor, packed_shapes, pattern):
    axis, after = _around_star(pattern, "unpack")
    shape = tensor.shape
    if len(shape) != axis + 1 + after:
        raise EinopsError(f"unpack(..., {pattern}) received input of wrong dim with shape {shape}")
    lengths = [-1 if -1 in packed else _product(packed) for packed in packed_shapes]
    if lengths.count(-1) > 1:
        raise EinopsError(
            f"unpack(..., {pattern}) received more than one -1 in {packed_shapes} and can't infer dimensions"
        )
    total = shape[axis]
    if -1 in lengths:
        lengths[lengths.index(-1)] = total - sum([n for n in lengths if n != -1])
    elif lengths:
        lengths[-1] = total - sum(lengths[:-1])
    try:
        parts, start = [], 0
        for packed, length in zip(packed_shapes, lengths):
            taken = tensor[(slice(None),) * axis + (slice(start, start + length),)]
            parts.append(taken.reshape([*shape[:axis], *packed, *shape[axis + 1 :]]))
            start += length
        return parts
    except Exception:
        raise RuntimeError(
            f'Error during unpack(..., "{pattern}"): could not split axis of size {total}'
            f" into requested {packed_shapes}"
        )
