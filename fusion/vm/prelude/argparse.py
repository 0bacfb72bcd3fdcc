# The module argparse.  There is no command line here: without a list of words each argument has
# its default.

SUPPRESS = "==SUPPRESS=="
REMAINDER = "..."
OPTIONAL = "?"
ZERO_OR_MORE = "*"
ONE_OR_MORE = "+"


class Namespace:
    def __init__(self, **values):
        for name, value in values.items():
            setattr(self, name, value)

    def __repr__(self):
        return "Namespace(" + ", ".join(f"{k}={v!r}" for k, v in vars(self).items()) + ")"

    def __eq__(self, other):
        return isinstance(other, Namespace) and vars(self) == vars(other)

    def __contains__(self, name):
        return name in vars(self)


class ArgumentError(Exception):
    def __init__(self, argument, message):
        super().__init__(message if argument is None else f"argument {argument.shown}: {message}")
        self.argument_name = None if argument is None else argument.shown
        self.message = message


class ArgumentTypeError(Exception):
    pass


class HelpFormatter:
    pass


class ArgumentDefaultsHelpFormatter(HelpFormatter):
    pass


class RawTextHelpFormatter(HelpFormatter):
    pass


class RawDescriptionHelpFormatter(HelpFormatter):
    pass


class Action:
    """One argument: what it is called, what it takes and where that goes."""

    nargs_without = None  # of an action that takes no word

    def __init__(self, option_strings, dest, nargs=None, const=None, default=None, type=None, choices=None, required=False, help=None, metavar=None):
        self.option_strings = option_strings
        self.dest = dest
        self.nargs = nargs if nargs is not None else self.nargs_without
        self.const = const
        self.default = default
        self.type = type
        self.choices = choices
        self.required = required
        self.help = help
        self.metavar = metavar
        self.shown = "/".join(option_strings) or metavar or dest

    def _one(self, word):
        """A word as a value."""
        if self.type is None:
            return word
        try:
            return self.type(word)
        except ArgumentTypeError as e:
            raise ArgumentError(self, str(e))
        except (TypeError, ValueError):
            raise ArgumentError(self, f"invalid {getattr(self.type, '__name__', self.type)} value: {word!r}")

    def _checked(self, value):
        if self.choices is not None and value not in self.choices:
            shown = ", ".join([repr(choice) for choice in self.choices])
            raise ArgumentError(self, f"invalid choice: {value!r} (choose from {shown})")
        return value

    def values(self, words):
        if self.nargs == OPTIONAL and not words:
            return self.initial(self.const if self.option_strings else self.default)
        if self.nargs == ZERO_OR_MORE and not words and not self.option_strings and self.default is not None:
            return self.initial(self.default)
        made = [self._one(word) for word in words]
        if self.nargs == REMAINDER:
            return made
        made = [self._checked(value) for value in made]
        return made[0] if self.nargs in (None, OPTIONAL) else made

    def initial(self, default):
        return self._one(default) if isinstance(default, str) else default

    def least(self):
        return self.nargs if isinstance(self.nargs, int) else 1 if self.nargs in (None, ONE_OR_MORE) else 0

    def most(self):
        return self.nargs if isinstance(self.nargs, int) else 1 if self.nargs in (None, OPTIONAL) else None


class _Store(Action):
    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, values)


class _StoreConst(Action):
    nargs_without = 0

    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, self.const)


class _StoreTrue(_StoreConst):
    def __init__(self, option_strings, dest, default=False, required=False, help=None):
        super().__init__(option_strings, dest, const=True, default=default, required=required, help=help)


class _StoreFalse(_StoreConst):
    def __init__(self, option_strings, dest, default=True, required=False, help=None):
        super().__init__(option_strings, dest, const=False, default=default, required=required, help=help)


class _Append(Action):
    def __call__(self, parser, namespace, values, option_string=None):
        known = getattr(namespace, self.dest, None)
        setattr(namespace, self.dest, ([] if known is None else list(known)) + [values])


class _AppendConst(Action):
    nargs_without = 0

    def __call__(self, parser, namespace, values, option_string=None):
        known = getattr(namespace, self.dest, None)
        setattr(namespace, self.dest, ([] if known is None else list(known)) + [self.const])


class _Extend(Action):
    def __call__(self, parser, namespace, values, option_string=None):
        known = getattr(namespace, self.dest, None)
        setattr(namespace, self.dest, ([] if known is None else list(known)) + list(values))


class _Count(Action):
    nargs_without = 0

    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, (getattr(namespace, self.dest, None) or 0) + 1)


class _Exit(Action):
    nargs_without = 0

    def __init__(self, option_strings, dest, version=None, help=None, default=None):
        super().__init__(option_strings, dest, default=SUPPRESS, help=help)

    def __call__(self, parser, namespace, values, option_string=None):
        raise SystemExit(0)


class BooleanOptionalAction(Action):
    nargs_without = 0

    def __init__(self, option_strings, dest, default=None, type=None, choices=None, required=False, help=None, metavar=None):
        negative = ["--no-" + name[2:] for name in option_strings if name.startswith("--")]
        super().__init__(list(option_strings) + negative, dest, default=default, required=required, help=help)

    def __call__(self, parser, namespace, values, option_string=None):
        setattr(namespace, self.dest, not option_string.startswith("--no-"))


_ACTIONS = {
    "store": _Store, "store_const": _StoreConst, "store_true": _StoreTrue, "store_false": _StoreFalse,
    "append": _Append, "append_const": _AppendConst, "extend": _Extend, "count": _Count,
    "help": _Exit, "version": _Exit,
}


class _Subparsers(Action):
    nargs_without = "A..."

    def __init__(self, parser, dest=SUPPRESS, required=False, help=None, title=None, description=None, metavar=None, prog=None, parser_class=None, action=None):
        super().__init__([], dest, required=required, help=help, metavar=metavar)
        self.shown = metavar or ("command" if dest is SUPPRESS else dest)
        self.choices = {}

    def add_parser(self, name, *, help=None, aliases=(), **options):
        made = ArgumentParser(**options)
        for each in (name, *aliases):
            self.choices[each] = made
        return made


class _Group:
    def __init__(self, parser, required=False):
        self._parser = parser
        self._required = required
        self._own = []

    def add_argument(self, *names, **options):
        made = self._parser.add_argument(*names, **options)
        self._own.append(made)
        return made

    def add_argument_group(self, *args, **keywords):
        return self

    def add_mutually_exclusive_group(self, required=False):
        return self._parser.add_mutually_exclusive_group(required)

    def set_defaults(self, **values):
        self._parser.set_defaults(**values)


def _is_number(word):
    try:
        float(word)
    except ValueError:
        return False
    return True


class ArgumentParser:
    def __init__(self, prog=None, usage=None, description=None, epilog=None, parents=(), **keywords):
        self.prog = prog
        self.description = description
        self._actions = []
        self._defaults = {}
        self._exclusive = []
        if keywords.get("add_help", True):
            self.add_argument("-h", "--help", action="help")
        for parent in parents:
            self._actions += [action for action in parent._actions if not isinstance(action, _Exit)]
            self._defaults.update(parent._defaults)

    def add_argument(self, *names, **options):
        kind = options.pop("action", "store")
        kind = _ACTIONS[kind] if isinstance(kind, str) else kind
        dest = options.pop("dest", None)
        positional = not names or not names[0].startswith("-")
        if positional:
            dest = dest if not names else names[0]
            if "required" in options:
                raise TypeError("'required' is an invalid argument for positionals")
            options["required"] = options.get("nargs") not in (OPTIONAL, ZERO_OR_MORE, REMAINDER)
        elif dest is None:
            longs = [name for name in names if name.startswith("--")]
            dest = (longs[0] if longs else names[0]).lstrip("-").replace("-", "_")
        made = kind([] if positional else list(names), dest, **options)
        self._actions.append(made)
        return made

    def add_argument_group(self, *args, **keywords):
        return _Group(self)

    def add_mutually_exclusive_group(self, required=False):
        made = _Group(self, required)
        self._exclusive.append(made)
        return made

    def add_subparsers(self, **options):
        made = _Subparsers(self, **options)
        self._actions.append(made)
        return made

    def set_defaults(self, **values):
        self._defaults.update(values)
        for action in self._actions:
            if action.dest in values:
                action.default = values[action.dest]

    def get_default(self, dest):
        for action in self._actions:
            if action.dest == dest and action.default is not None:
                return action.default
        return self._defaults.get(dest)

    def parse_args(self, args=None, namespace=None):
        found, left = self.parse_known_args(args, namespace)
        if left:
            self.error(f"unrecognized arguments: {' '.join(left)}")
        return found

    def parse_known_args(self, args=None, namespace=None):
        found = Namespace() if namespace is None else namespace
        for action in self._actions:
            if action.dest != SUPPRESS and action.default != SUPPRESS and not hasattr(found, action.dest):
                setattr(found, action.dest, action.default)
        for name, value in self._defaults.items():
            if not hasattr(found, name):
                setattr(found, name, value)
        try:
            left = _Reading(self, found).read([] if args is None else list(args))
        except ArgumentError as e:
            self.error(str(e))
        return found, left

    parse_intermixed_args = parse_args

    def format_help(self):
        return ""

    def format_usage(self):
        return ""

    def print_help(self, file=None):
        pass

    def print_usage(self, file=None):
        pass

    def exit(self, status=0, message=None):
        raise SystemExit(status if message is None else message)

    def error(self, message):
        raise SystemExit(f"error: {message}")


class _Reading:
    """The words of one command line."""

    def __init__(self, parser, namespace):
        self._parser = parser
        self._namespace = namespace
        self._seen = []

    def _option(self, word):
        """(action, its name, the value after =), or None where the word is none."""
        if len(word) < 2 or word[0] != "-":
            return None
        name, equals, value = word.partition("=")
        named = {n: a for a in self._parser._actions for n in a.option_strings}
        value = value if equals else None
        if name in named:
            return named[name], name, value
        if word.startswith("--"):
            close = [n for n in named if n.startswith(name)]
            if len(close) > 1:
                raise ArgumentError(None, f"ambiguous option: {name} could match {', '.join(close)}")
            return (named[close[0]], close[0], value) if close else (None, word, None)
        if word[:2] in named:
            return named[word[:2]], word[:2], word[2:]
        return None if _is_number(word) or " " in word else (None, word, None)

    def _take(self, action, words, name=None):
        self._seen.append(action)
        action(self._parser, self._namespace, action.values(words) if action.nargs != 0 else [], name)

    def _plain(self, words, at, most):
        """How many words from there are no options."""
        n = 0
        while at + n < len(words) and (most is None or n < most):
            if words[at + n] == "--" or self._option(words[at + n]) is not None:
                break
            n += 1
        return n

    def _take_option(self, found, words, at):
        """Where the words after the option go on."""
        action, name, value = found
        if value is not None and action.nargs == 0:
            if name.startswith("--"):
                raise ArgumentError(action, f"ignored explicit argument {value!r}")
            self._take(action, [], name)
            return self._take_option(self._option("-" + value), words, at)
        if value is not None:
            self._take(action, [value], name)
            return at
        n = len(words) - at if action.nargs == REMAINDER else self._plain(words, at, action.most())
        if n < action.least():
            wanted = {None: "expected one argument", ONE_OR_MORE: "expected at least one argument"}
            raise ArgumentError(action, wanted.get(action.nargs, f"expected {action.nargs} arguments"))
        self._take(action, words[at : at + n], name)
        return at + n

    def _take_positional(self, positional, words, at):
        """Where the words go on after as many positional arguments as match."""
        n = self._plain(words, at, None)
        while positional:
            action = positional[0]
            if isinstance(action, _Subparsers):
                if n == 0:
                    return at
                positional.pop(0)
                return self._take_command(action, words, at)
            if action.nargs == REMAINDER:
                n = len(words) - at
            later = sum([other.least() for other in positional[1:] if not isinstance(other, _Subparsers)])
            most = n - later if action.most() is None else min(action.most(), n - later)
            if most < action.least() or (n == 0 and action.nargs != REMAINDER):
                return at
            positional.pop(0)
            self._take(action, words[at : at + most])
            at, n = at + most, n - most
        return at

    def _take_command(self, action, words, at):
        if words[at] not in action.choices:
            shown = ", ".join([repr(name) for name in action.choices])
            raise ArgumentError(action, f"invalid choice: {words[at]!r} (choose from {shown})")
        self._seen.append(action)
        if action.dest is not SUPPRESS:
            setattr(self._namespace, action.dest, words[at])
        made, left = action.choices[words[at]].parse_known_args(words[at + 1 :])
        for name, value in vars(made).items():
            setattr(self._namespace, name, value)
        self._left += left
        return len(words)

    def read(self, words):
        self._left = []
        positional = [action for action in self._parser._actions if not action.option_strings]
        at = 0
        while at < len(words):
            found = None if words[at] == "--" else self._option(words[at])
            if words[at] == "--":
                at += 1
                for action in list(positional):
                    n = len(words) - at if action.most() is None else min(action.most(), len(words) - at)
                    if n >= max(action.least(), 1):
                        positional.remove(action)
                        self._take(action, words[at : at + n])
                        at += n
                self._left += words[at:]
                break
            if found is None:
                after = self._take_positional(positional, words, at)
                if after == at:
                    self._left.append(words[at])
                    after += 1
                at = after
            elif found[0] is None:
                self._left.append(words[at])
                at += 1
            else:
                at = self._take_option(found, words, at + 1)
        self._finish()
        return self._left

    def _finish(self):
        missing = []
        for action in self._parser._actions:
            if action in self._seen:
                continue
            if action.required:
                missing.append(action.shown)
            elif isinstance(action.default, str) and action.default != SUPPRESS and action.dest != SUPPRESS:
                if getattr(self._namespace, action.dest, None) is action.default:
                    setattr(self._namespace, action.dest, action.initial(action.default))
        if missing:
            raise ArgumentError(None, f"the following arguments are required: {', '.join(missing)}")
        for group in self._parser._exclusive:
            given = [action for action in group._own if action in self._seen]
            if len(given) > 1:
                raise ArgumentError(given[1], f"not allowed with argument {given[0].shown}")
            if group._required and not given:
                shown = " ".join([action.shown for action in group._own])
                raise ArgumentError(None, f"one of the arguments {shown} is required")
