# The module argparse: there is no command line, so each argument has its default.

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
    pass


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
    pass


class BooleanOptionalAction(Action):
    pass


class _Group:
    def __init__(self, parser):
        self._parser = parser

    def add_argument(self, *names, **options):
        return self._parser.add_argument(*names, **options)

    def add_argument_group(self, *args, **keywords):
        return self

    def add_mutually_exclusive_group(self, required=False):
        return self


class ArgumentParser:
    def __init__(self, prog=None, usage=None, description=None, **keywords):
        self.prog = prog
        self.description = description
        self._arguments = []
        self._defaults = {}

    def add_argument(self, *names, **options):
        self._arguments.append((names, options))

    def add_argument_group(self, *args, **keywords):
        return _Group(self)

    def add_mutually_exclusive_group(self, required=False):
        return _Group(self)

    def set_defaults(self, **values):
        self._defaults.update(values)

    def get_default(self, name):
        return getattr(self.parse_args([]), name, None)

    def parse_args(self, args=None, namespace=None):
        if args:
            raise ValueError("argparse: there is no command line here; parse_args() gives the defaults")
        found = Namespace() if namespace is None else namespace
        for names, options in self._arguments:
            self._put(found, names, options)
        for name, value in self._defaults.items():
            setattr(found, name, value)
        return found

    def parse_known_args(self, args=None, namespace=None):
        return self.parse_args(args, namespace), []

    def _put(self, found, names, options):
        name = options.get("dest")
        longs = [n for n in names if n.startswith("--")]
        if name is None:
            name = (longs[0] if longs else names[0]).lstrip("-").replace("-", "_")
        action = options.get("action", "store")
        value = options.get("default")
        if action in ("help", "version") or value == SUPPRESS:
            return
        if "default" not in options and action in ("store_true", "store_false"):
            value = action == "store_false"
        positional = not names[0].startswith("-")
        if "default" not in options and options.get("required", positional and options.get("nargs") not in ("?", "*")):
            raise SystemExit(f"argparse: the argument {names[0]} has no default, and there is no command line here")
        if isinstance(value, str) and options.get("type") is not None:
            value = options["type"](value)
        setattr(found, name, value)

    def print_help(self, file=None):
        pass

    def print_usage(self, file=None):
        pass

    def error(self, message):
        raise SystemExit(f"error: {message}")
