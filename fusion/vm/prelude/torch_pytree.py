# torch.utils._pytree: containers as their leaves and a spec that puts leaves into their places.
import collections


class TreeSpec:
    """kind: of the container, None for a leaf; context: its keys, or what else makes it again."""

    def __init__(self, kind, context, children_specs):
        self.type = kind
        self.context = context
        self.children_specs = children_specs
        self.num_leaves = 1 if kind is None else sum([c.num_leaves for c in children_specs])
        self.num_children = len(children_specs)

    def is_leaf(self):
        return self.type is None

    def unflatten(self, leaves):
        return tree_unflatten(leaves, self)

    def __eq__(self, other):
        return (
            isinstance(other, TreeSpec)
            and self.type is other.type
            and self.context == other.context
            and self.children_specs == other.children_specs
        )

    def __repr__(self):
        if self.type is None:
            return "*"
        return f"TreeSpec({self.type.__name__}, {self.context}, {self.children_specs})"


class LeafSpec(TreeSpec):
    def __init__(self):
        super().__init__(None, None, [])


_nodes = {}
_DICTS = (dict, collections.OrderedDict, collections.defaultdict)


def register_pytree_node(cls, flatten_fn, unflatten_fn, **names):
    _nodes[cls] = (flatten_fn, unflatten_fn)


def _children(tree):
    """The kind of a container, its parts and its context; a kind of None: a leaf."""
    kind = type(tree)
    if kind in _nodes:
        parts, context = _nodes[kind][0](tree)
        return kind, list(parts), context
    if kind is list or kind is tuple:
        return kind, list(tree), None
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return kind, list(tree), kind
    if kind is collections.defaultdict:
        return kind, list(tree.values()), [tree.default_factory, list(tree.keys())]
    if kind is dict or kind is collections.OrderedDict:
        return kind, list(tree.values()), list(tree.keys())
    if kind is collections.deque:
        return kind, list(tree), tree.maxlen
    return None, [], None


def _made(spec, parts):
    kind, context = spec.type, spec.context
    if kind in _nodes:
        return _nodes[kind][1](parts, context)
    if kind is list:
        return parts
    if kind is tuple:
        return tuple(parts)
    if kind is collections.defaultdict:
        return collections.defaultdict(context[0], zip(context[1], parts))
    if kind is dict or kind is collections.OrderedDict:
        return kind(zip(context, parts))
    if kind is collections.deque:
        return collections.deque(parts, maxlen=context)
    return kind(parts) if hasattr(kind, "_of_one_sequence") else kind(*parts)


def _flatten(tree, leaves, is_leaf):
    if is_leaf is None or not is_leaf(tree):
        kind, parts, context = _children(tree)
        if kind is not None:
            return TreeSpec(kind, context, [_flatten(part, leaves, is_leaf) for part in parts])
    leaves.append(tree)
    return LeafSpec()


def tree_flatten(tree, is_leaf=None):
    leaves = []
    spec = _flatten(tree, leaves, is_leaf)
    return leaves, spec


def tree_unflatten(leaves, treespec):
    rest = list(leaves)
    if len(rest) != treespec.num_leaves:
        raise ValueError(
            f"tree_unflatten(leaves, treespec): `leaves` has length {len(rest)} but the spec refers to a pytree that holds {treespec.num_leaves} items ({treespec})."
        )
    return _unflatten(rest, treespec)


def _unflatten(rest, spec):
    if spec.type is None:
        return rest.pop(0)
    return _made(spec, [_unflatten(rest, child) for child in spec.children_specs])


def tree_leaves(tree, is_leaf=None):
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree, is_leaf=None):
    return tree_flatten(tree, is_leaf)[1]


def _parts_like(spec, tree):
    """The subtrees of a tree that is of the spec, in the order of its leaves."""
    if spec.type is None:
        return [tree]
    kind, parts, context = _children(tree)
    if kind in _DICTS and spec.type in _DICTS:  # one stands for another, in any order of keys
        keys = spec.context[1] if spec.type is collections.defaultdict else spec.context
        if set(keys) != set(tree):
            raise ValueError(f"Node keys mismatch; expected {keys}, but got {list(tree)}.")
        kind, parts = spec.type, [tree[key] for key in keys]
    if kind is not spec.type or len(parts) != len(spec.children_specs):
        raise ValueError(f"Node type mismatch; expected {spec.type}, but got {type(tree)}.")
    return [leaf for child, part in zip(spec.children_specs, parts) for leaf in _parts_like(child, part)]


def tree_map(func, tree, *rests, is_leaf=None):
    leaves, spec = tree_flatten(tree, is_leaf)
    others = [_parts_like(spec, rest) for rest in rests]
    return tree_unflatten([func(*row) for row in zip(leaves, *others)], spec)


def tree_map_(func, tree, *rests, is_leaf=None):
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_map_only(kind, func, tree, is_leaf=None):
    return tree_map(lambda leaf: func(leaf) if isinstance(leaf, kind) else leaf, tree, is_leaf=is_leaf)


def tree_any(pred, tree, is_leaf=None):
    return any([pred(leaf) for leaf in tree_leaves(tree, is_leaf)])


def tree_all(pred, tree, is_leaf=None):
    return all([pred(leaf) for leaf in tree_leaves(tree, is_leaf)])
