# The module re: patterns are matched by the machine; what is made of a match is written here.
import _prelude

IGNORECASE = I = 2
LOCALE = L = 4
MULTILINE = M = 8
DOTALL = S = 16
UNICODE = U = 32
VERBOSE = X = 64
ASCII = A = 256
NOFLAG = 0
error = ValueError
PatternError = ValueError

_EVERYTHING = 9223372036854775807


class Match:
    def __init__(self, pattern, string, pos, endpos, spans):
        self.re = pattern
        self.string = string
        self.pos = pos
        self.endpos = endpos
        self._spans = spans

    def _number(self, group):
        if isinstance(group, str):
            if group not in self.re.groupindex:
                raise IndexError("no such group")
            return self.re.groupindex[group]
        if group < 0 or group > self.re.groups:
            raise IndexError("no such group")
        return group

    def _text(self, group, default=None):
        begin, end = self.span(group)
        return default if begin < 0 else self.string[begin:end]

    def group(self, *groups):
        if len(groups) == 0:
            return self._text(0)
        if len(groups) == 1:
            return self._text(groups[0])
        return tuple([self._text(group) for group in groups])

    def __getitem__(self, group):
        return self._text(group)

    def groups(self, default=None):
        return tuple([self._text(i + 1, default) for i in range(self.re.groups)])

    def groupdict(self, default=None):
        return {name: self._text(i, default) for name, i in self.re.groupindex.items()}

    def span(self, group=0):
        at = 2 * self._number(group)
        return (self._spans[at], self._spans[at + 1])

    def start(self, group=0):
        return self.span(group)[0]

    def end(self, group=0):
        return self.span(group)[1]

    def expand(self, template):
        return _expand(_parts(self.re, template), self)

    @property
    def lastindex(self):
        last = None
        for i in range(1, self.re.groups + 1):
            if self._spans[2 * i] >= 0 and (last is None or self._spans[2 * i + 1] >= self._spans[2 * last + 1]):
                last = i
        return last

    def __repr__(self):
        return f"<re.Match object; span={self.span()!r}, match={self.group()!r}>"


def _parts(pattern, template):
    """A template as texts and numbers of groups."""
    parts = []
    text = ""
    i = 0
    while i < len(template):
        c = template[i]
        i += 1
        if c != "\\" or i == len(template):
            text += c
            continue
        c = template[i]
        i += 1
        group = None
        if c == "g" and i < len(template) and template[i] == "<":
            end = template.index(">", i)
            name = template[i + 1 : end]
            i = end + 1
            if name.isdigit():
                group = int(name)
            elif name in pattern.groupindex:
                group = pattern.groupindex[name]
            else:
                raise IndexError(f"unknown group name {name!r}")
        elif c.isdigit():
            if i < len(template) and template[i].isdigit() and c != "0":
                c += template[i]
                i += 1
            group = int(c)
        elif c in "ntr\\":
            text += {"n": "\n", "t": "\t", "r": "\r", "\\": "\\"}[c]
        elif c.isalpha():
            raise ValueError(f"bad escape \\{c}")
        else:
            text += "\\" + c
        if group is not None:
            if group > pattern.groups:
                raise ValueError(f"invalid group reference {group}")
            parts.append(text)
            parts.append(group)
            text = ""
    parts.append(text)
    return parts


def _expand(parts, match):
    return "".join([(match._text(p) or "") if isinstance(p, int) else p for p in parts])


class Pattern:
    def __init__(self, pattern, flags):
        self.pattern = pattern
        self.flags = flags
        self.groups, self.groupindex = _prelude.regex_groups(pattern, flags)

    def _find(self, string, pos, endpos, how):
        length = len(string)
        pos = min(max(pos, 0), length)
        endpos = min(max(endpos, 0), length)
        spans = _prelude.regex_match(self.pattern, self.flags, string, pos, endpos, how)
        return None if spans is None else Match(self, string, pos, endpos, spans)

    def search(self, string, pos=0, endpos=_EVERYTHING):
        return self._find(string, pos, endpos, 0)

    def match(self, string, pos=0, endpos=_EVERYTHING):
        return self._find(string, pos, endpos, 1)

    def fullmatch(self, string, pos=0, endpos=_EVERYTHING):
        return self._find(string, pos, endpos, 2)

    def finditer(self, string, pos=0, endpos=_EVERYTHING):
        how = 0
        while pos <= len(string):
            match = self._find(string, pos, endpos, how)
            if match is None:
                return
            yield match
            begin, pos = match.span()
            how = 3 if begin == pos else 0

    def findall(self, string, pos=0, endpos=_EVERYTHING):
        found = []
        for match in self.finditer(string, pos, endpos):
            if self.groups == 0:
                found.append(match.group())
            elif self.groups == 1:
                found.append(match._text(1, ""))
            else:
                found.append(match.groups(""))
        return found

    def subn(self, repl, string, count=0):
        parts = None if callable(repl) else _parts(self, repl)
        done = []
        at = 0
        n = 0
        for match in self.finditer(string):
            if count and n == count:
                break
            done.append(string[at : match.start()])
            done.append(repl(match) if parts is None else _expand(parts, match))
            at = match.end()
            n += 1
        done.append(string[at:])
        return "".join(done), n

    def sub(self, repl, string, count=0):
        return self.subn(repl, string, count)[0]

    def split(self, string, maxsplit=0):
        found = []
        at = 0
        for match in self.finditer(string):
            if maxsplit and len(found) // (self.groups + 1) == maxsplit:
                break
            found.append(string[at : match.start()])
            found.extend(match.groups())
            at = match.end()
        found.append(string[at:])
        return found

    def __eq__(self, other):
        return isinstance(other, Pattern) and self.pattern == other.pattern and self.flags == other.flags

    def __hash__(self):
        return hash((self.pattern, self.flags))

    def __repr__(self):
        return f"re.compile({self.pattern!r})"


_known = {}


def compile(pattern, flags=0):
    if isinstance(pattern, Pattern):
        if flags:
            raise ValueError("cannot process flags argument with a compiled pattern")
        return pattern
    key = (pattern, int(flags))
    if key not in _known:
        _known[key] = Pattern(pattern, int(flags))
    return _known[key]


def search(pattern, string, flags=0):
    return compile(pattern, flags).search(string)


def match(pattern, string, flags=0):
    return compile(pattern, flags).match(string)


def fullmatch(pattern, string, flags=0):
    return compile(pattern, flags).fullmatch(string)


def findall(pattern, string, flags=0):
    return compile(pattern, flags).findall(string)


def finditer(pattern, string, flags=0):
    return compile(pattern, flags).finditer(string)


def split(pattern, string, maxsplit=0, flags=0):
    return compile(pattern, flags).split(string, maxsplit)


def sub(pattern, repl, string, count=0, flags=0):
    return compile(pattern, flags).sub(repl, string, count)


def subn(pattern, repl, string, count=0, flags=0):
    return compile(pattern, flags).subn(repl, string, count)


def purge():
    _known.clear()


def escape(pattern):
    return "".join(["\\" + c if c in "()[]{}?*+-|^$\\.&~# \t\n\r\v\f" else c for c in pattern])
