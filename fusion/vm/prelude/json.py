# The module json, of text.

_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class JSONDecodeError(ValueError):
    pass


class _Reader:
    def __init__(self, text):
        self.text = text
        self.at = 0

    def fail(self, what):
        line = self.text.count("\n", 0, self.at) + 1
        column = self.at - self.text.rfind("\n", 0, self.at)
        raise JSONDecodeError(f"{what}: line {line} column {column} (char {self.at})")

    def blanks(self):
        while self.at < len(self.text) and self.text[self.at] in " \t\n\r":
            self.at += 1

    def take(self, word):
        if self.text[self.at : self.at + len(word)] != word:
            return False
        self.at += len(word)
        return True

    def value(self):
        self.blanks()
        for word, v in (("null", None), ("true", True), ("false", False), ("NaN", float("nan")), ("Infinity", float("inf")), ("-Infinity", -float("inf"))):
            if self.take(word):
                return v
        if self.take("{"):
            return self.members()
        if self.take("["):
            return self.items()
        if self.take('"'):
            return self.string()
        return self.number()

    def members(self):
        found = {}
        self.blanks()
        if self.take("}"):
            return found
        while True:
            self.blanks()
            if not self.take('"'):
                self.fail("Expecting property name enclosed in double quotes")
            key = self.string()
            self.blanks()
            if not self.take(":"):
                self.fail("Expecting ':' delimiter")
            found[key] = self.value()
            self.blanks()
            if self.take("}"):
                return found
            if not self.take(","):
                self.fail("Expecting ',' delimiter")

    def items(self):
        found = []
        self.blanks()
        if self.take("]"):
            return found
        while True:
            found.append(self.value())
            self.blanks()
            if self.take("]"):
                return found
            if not self.take(","):
                self.fail("Expecting ',' delimiter")

    def string(self):
        parts = []
        while self.at < len(self.text):
            c = self.text[self.at]
            self.at += 1
            if c == '"':
                return "".join(parts)
            if c == "\\":
                c = self.text[self.at]
                self.at += 1
                if c == "u":
                    c = chr(int(self.text[self.at : self.at + 4], 16))
                    self.at += 4
                elif c in _ESCAPES:
                    c = _ESCAPES[c]
                else:
                    self.fail("Invalid \\escape")
            parts.append(c)
        self.fail("Unterminated string")

    def number(self):
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in "+-0123456789.eE":
            self.at += 1
        word = self.text[start : self.at]
        if not word:
            self.fail("Expecting value")
        return float(word) if "." in word or "e" in word or "E" in word else int(word)


def loads(s):
    reader = _Reader(s)
    value = reader.value()
    reader.blanks()
    if reader.at != len(s):
        reader.fail("Extra data")
    return value


def _quoted(text, ascii):
    parts = ['"']
    for c in text:
        if c in '"\\':
            parts.append("\\" + c)
        elif c == "\n":
            parts.append("\\n")
        elif c == "\r":
            parts.append("\\r")
        elif c == "\t":
            parts.append("\\t")
        elif ord(c) < 32 or (ascii and 126 < ord(c) < 65536):
            parts.append(f"\\u{ord(c):04x}")
        else:
            parts.append(c)
    parts.append('"')
    return "".join(parts)


def _number(x):
    if x != x:
        return "NaN"
    if x in (float("inf"), -float("inf")):
        return "Infinity" if x > 0 else "-Infinity"
    return repr(float(x) if isinstance(x, float) else x)


def _text(o, indent, level, separators, options):
    sort_keys, ascii, default = options
    if o is None:
        return "null"
    if o is True or o is False:
        return "true" if o else "false"
    if isinstance(o, str):
        return _quoted(o, ascii)
    if isinstance(o, (int, float)):
        return _number(o)
    new = "" if indent is None else "\n" + " " * (indent * (level + 1))
    end = "" if indent is None else "\n" + " " * (indent * level)
    if isinstance(o, dict):
        pairs = sorted(o.items()) if sort_keys else list(o.items())
        rows = []
        for k, v in pairs:
            if not isinstance(k, (str, int, float)) and k is not None:
                raise TypeError(f"keys must be str, int, float, bool or None, not {type(k).__name__}")
            key = k if isinstance(k, str) else _text(k, None, 0, separators, options)
            rows.append(_quoted(key, ascii) + separators[1] + _text(v, indent, level + 1, separators, options))
        return "{" + new + (separators[0] + new).join(rows) + end + "}" if rows else "{}"
    if isinstance(o, (list, tuple)):
        rows = [_text(v, indent, level + 1, separators, options) for v in o]
        return "[" + new + (separators[0] + new).join(rows) + end + "]" if rows else "[]"
    if default is not None:
        return _text(default(o), indent, level, separators, options)
    raise TypeError(f"Object of type {type(o).__name__} is not JSON serializable")


def dumps(obj, *, indent=None, separators=None, sort_keys=False, ensure_ascii=True, default=None):
    if separators is None:
        separators = (", ", ": ") if indent is None else (",", ": ")
    return _text(obj, indent, 0, separators, (sort_keys, ensure_ascii, default))


def dump(obj, fp, *, indent=None, separators=None, sort_keys=False, ensure_ascii=True, default=None):
    fp.write(
        dumps(
            obj, indent=indent, separators=separators, sort_keys=sort_keys, ensure_ascii=ensure_ascii, default=default
        )
    )


def load(fp):
    text = fp.read()
    return loads(text if isinstance(text, str) else text.decode())
