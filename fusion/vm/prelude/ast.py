# The module ast: values from text.
import re

_TEXT = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_NUMBER = r"(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?j?"
_VALUE = re.compile(r"(?:" + _TEXT + "|" + _NUMBER + r"|True|False|None|[\s()\[\]{},:+\-])*")


def literal_eval(node_or_string):
    if _VALUE.fullmatch(node_or_string) is None:
        raise ValueError(f"malformed node or string: {node_or_string!r}")
    return eval(node_or_string.strip(" \t"))
