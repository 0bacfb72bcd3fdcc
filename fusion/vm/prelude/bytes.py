# bytes and bytearray: numbers from 0 to 255 in a row, with the methods that text has; what else of text is written here.
import _prelude

_SPACES = (9, 10, 11, 12, 13, 32)


def _utf8(code):
    if code < 0x80:
        return [code]
    if code < 0x800:
        return [0xC0 | code >> 6, 0x80 | code & 63]
    if code < 0x10000:
        return [0xE0 | code >> 12, 0x80 | code >> 6 & 63, 0x80 | code & 63]
    return [0xF0 | code >> 18, 0x80 | code >> 12 & 63, 0x80 | code >> 6 & 63, 0x80 | code & 63]


def _codec(name):
    name = name.lower().replace("-", "").replace("_", "")
    if name in ("utf8", "u8"):
        return "utf-8"
    if name == "ascii" or name == "usascii":
        return "ascii"
    if name in ("latin1", "iso88591", "l1"):
        return "latin-1"
    raise LookupError(f"unknown encoding: {name}; utf-8, ascii and latin-1 are known")


def _encoded(text, encoding, errors):
    codec = _codec(encoding)
    limit = {"utf-8": 0x110000, "ascii": 128, "latin-1": 256}[codec]
    items = []
    for place, letter in enumerate(text):
        code = ord(letter)
        if code < limit:
            items.extend(_utf8(code) if codec == "utf-8" else [code])
        elif errors == "replace":
            items.append(63)
        elif errors != "ignore":
            raise UnicodeEncodeError(
                f"'{codec}' codec can't encode character in position {place}: "
                f"ordinal not in range({limit})"
            )
    return items


def _sequence_length(items, at):
    """How many bytes the letter at a place has by its first one; 0: it cannot begin one."""
    first = items[at]
    length = 1 if first < 0x80 else 2 if 0xC2 <= first < 0xE0 else 3 if 0xE0 <= first < 0xF0 else 4
    if 0x80 <= first < 0xC2 or first > 0xF4 or at + length > len(items):
        return 0
    for item in items[at + 1:at + length]:
        if item & 0xC0 != 0x80:
            return 0
    return length


def _decoded(items, encoding, errors):
    codec = _codec(encoding)
    letters = []
    at = 0
    while at < len(items):
        code = items[at]
        length = 1
        if codec == "utf-8":
            length = _sequence_length(items, at)
            if length > 1:
                code &= 0xFF >> length + 1
                for item in items[at + 1:at + length]:
                    code = code << 6 | item & 63
        elif codec == "ascii" and code >= 128:
            length = 0
        if length > 0:
            letters.append(chr(code))
        elif errors == "replace":
            letters.append("\ufffd")
        elif errors != "ignore":
            raise UnicodeDecodeError(
                f"'{codec}' codec can't decode byte {items[at]:#04x} in position {at}: invalid byte"
            )
        at += max(length, 1)
    return "".join(letters)


def _items(source, encoding, errors):
    for word, value in (("encoding", encoding), ("errors", errors)):
        if value is not None and not isinstance(value, str):
            raise TypeError(f"argument '{word}' must be str, not {type(value).__name__}")
    if isinstance(source, str):
        if encoding is None:
            raise TypeError("string argument without an encoding")
        return _encoded(source, encoding, errors)
    if isinstance(source, int):
        if source < 0:
            raise ValueError("negative count")
        return [0] * source
    items = list(source)
    for item in items:
        if not 0 <= item <= 255:
            raise ValueError("bytes must be in range(0, 256)")
    return items


def _shown(items):
    text = []
    for item in items:
        if item in (9, 10, 13):
            text.append({9: "\\t", 10: "\\n", 13: "\\r"}[item])
        elif item == 92 or item == 39 and 34 in items:
            text.append("\\" + chr(item))
        elif 32 <= item < 127:
            text.append(chr(item))
        else:
            text.append(f"\\x{item:02x}")
    quote = '"' if 39 in items and 34 not in items else "'"
    return "b" + quote + "".join(text) + quote


class _Row:
    def __new__(cls, source=(), encoding=None, errors="strict"):
        self = object.__new__(cls)
        self._plain = self._kept(_items(source, encoding, errors))
        return self

    def __init__(self, *args, **keywords):
        pass

    def _text(self):
        """One letter for each byte, so that a method of str finds what it looks for."""
        return "".join([chr(item) for item in self._plain])

    def _of_text(self, text):
        return type(self)([ord(letter) for letter in text])

    def __len__(self):
        return len(self._plain)

    def __iter__(self):
        return iter(self._plain)

    def __getitem__(self, index):
        items = self._plain[index]
        return type(self)(items) if isinstance(index, slice) else items

    def __contains__(self, item):
        return item in self._plain if isinstance(item, int) else item._text() in self._text()

    def __eq__(self, other):
        return isinstance(other, _Row) and list(self._plain) == list(other._plain)

    def __ne__(self, other):
        return not self == other

    def __lt__(self, other):
        return list(self._plain) < list(other._plain)

    def __le__(self, other):
        return list(self._plain) <= list(other._plain)

    def __gt__(self, other):
        return list(self._plain) > list(other._plain)

    def __ge__(self, other):
        return list(self._plain) >= list(other._plain)

    def __add__(self, other):
        if not isinstance(other, _Row):
            raise TypeError(f"can't concat {type(other).__name__} to {type(self).__name__}")
        return type(self)(list(self._plain) + list(other._plain))

    def __mul__(self, count):
        return type(self)(list(self._plain) * count)

    __rmul__ = __mul__

    def __mod__(self, values):
        return self._of_text(self._text() % values)

    def __bytes__(self):
        return Bytes(self._plain)

    def decode(self, encoding="utf-8", errors="strict"):
        _check_texts("decode", encoding=encoding, errors=errors)
        return _decoded(self._plain, encoding, errors)

    def hex(self, sep=""):
        return sep.join([f"{item:02x}" for item in self._plain])

    @classmethod
    def fromhex(cls, text):
        digits = "".join(text.split())
        return cls([int(digits[at:at + 2], 16) for at in range(0, len(digits), 2)])

    def count(self, part):
        return self._text().count(chr(part) if isinstance(part, int) else part._text())

    def find(self, part, *bounds):
        return self._text().find(chr(part) if isinstance(part, int) else part._text(), *bounds)

    def index(self, part, *bounds):
        at = self.find(part, *bounds)
        if at < 0:
            raise ValueError("subsection not found")
        return at

    def startswith(self, part):
        return self._text().startswith(part._text())

    def endswith(self, part):
        return self._text().endswith(part._text())

    def replace(self, old, new, count=-1):
        return self._of_text(self._text().replace(old._text(), new._text(), count))

    def split(self, sep=None, maxsplit=-1):
        parts = self._text().split(None if sep is None else sep._text(), maxsplit)
        return [self._of_text(part) for part in parts]

    def splitlines(self):
        return [self._of_text(part) for part in self._text().split("\n")]

    def join(self, parts):
        return self._of_text(self._text().join([part._text() for part in parts]))

    def _stripped(self, text):
        return _SPACES if text is None else list(text._plain)

    def lstrip(self, text=None):
        items = list(self._plain)
        while items and items[0] in self._stripped(text):
            items = items[1:]
        return type(self)(items)

    def rstrip(self, text=None):
        items = list(self._plain)
        while items and items[-1] in self._stripped(text):
            items.pop()
        return type(self)(items)

    def strip(self, text=None):
        return self.lstrip(text).rstrip(text)

    def lower(self):
        return type(self)([item + 32 if 65 <= item <= 90 else item for item in self._plain])

    def upper(self):
        return type(self)([item - 32 if 97 <= item <= 122 else item for item in self._plain])

    def isdigit(self):
        return len(self._plain) > 0 and all([48 <= item <= 57 for item in self._plain])


class Bytes(_Row):
    __builtin__ = bytes

    def _kept(self, items):
        return tuple(items)

    def __hash__(self):
        return hash(self._plain)

    def __repr__(self):
        return _shown(self._plain)


class Bytearray(_Row):
    __builtin__ = bytearray
    __hash__ = None

    def _kept(self, items):
        return items

    def __setitem__(self, index, value):
        self._plain[index] = _items(value, None, "") if isinstance(index, slice) else value

    def __delitem__(self, index):
        del self._plain[index]

    def __iadd__(self, other):
        self._plain.extend(other)
        return self

    def append(self, item):
        self._plain.append(item)

    def extend(self, items):
        self._plain.extend(self._plain if items is self else items)

    def pop(self, at=-1):
        return self._plain.pop(at)

    def clear(self):
        self._plain.clear()

    def copy(self):
        return Bytearray(self._plain)

    def __repr__(self):
        return f"bytearray({_shown(self._plain)})"


def bytes_literal(text):
    return Bytes([ord(letter) for letter in text])


def _check_texts(name, **texts):
    for argument, text in texts.items():
        if not isinstance(text, str):
            kind = "None" if text is None else type(text).__name__
            raise TypeError(f"{name}() argument '{argument}' must be str, not {kind}")


def str_encode(text, encoding="utf-8", errors="strict"):
    _check_texts("encode", encoding=encoding, errors=errors)
    return Bytes(_encoded(text, encoding, errors))


def _check_order(name, byteorder):
    if not isinstance(byteorder, str):
        raise TypeError(f"{name}() argument 'byteorder' must be str, not {type(byteorder).__name__}")
    if byteorder not in ("little", "big"):
        raise ValueError("byteorder must be either 'little' or 'big'")


def int_to_bytes(value, length=1, byteorder="big", *, signed=False):
    _check_order("to_bytes", byteorder)
    if value < 0 and not signed:
        raise OverflowError("can't convert negative int to unsigned")
    if not -(1 << 8 * length - signed) <= value < 1 << 8 * length - signed:
        raise OverflowError("int too big to convert")
    items = [value >> 8 * place & 255 for place in range(length)]
    return Bytes(items if byteorder == "little" else items[::-1])


def int_from_bytes(items, byteorder="big", *, signed=False):
    _check_order("from_bytes", byteorder)
    row = list(Bytes(items))
    row = row if byteorder == "big" else row[::-1]
    value = 0
    for item in row:
        value = value << 8 | item
    return value - (1 << 8 * len(row)) if signed and row and row[0] > 127 else value


def _translated_key(key):
    if isinstance(key, str):
        if len(key) != 1:
            raise ValueError("string keys in translate table must be of length 1")
        return ord(key)
    if not isinstance(key, int):
        raise TypeError("keys in translate table must be strings or integers")
    return key


def str_maketrans(source, *more):
    table = {}
    if not more:
        if not isinstance(source, dict):
            raise TypeError("if you give only one argument to maketrans it must be a dict")
        return {_translated_key(key): to for key, to in source.items()}
    if not isinstance(source, str):
        raise TypeError("first maketrans argument must be a string if there is a second argument")
    for i, text in enumerate(more):
        if not isinstance(text, str):
            raise TypeError(f"maketrans() argument {i + 2} must be str, not {'None' if text is None else type(text).__name__}")
    if len(source) != len(more[0]):
        raise ValueError("the first two maketrans arguments must have equal length")
    for letter, to in zip(source, more[0]):
        table[ord(letter)] = ord(to)
    for letter in more[1] if len(more) > 1 else "":
        table[ord(letter)] = None
    return table


def str_translate(text, table):
    letters = []
    for letter in text:
        try:
            to = table[ord(letter)]
        except LookupError:
            to = letter
        if to is not None:
            letters.append(chr(to) if isinstance(to, int) else to)
    return "".join(letters)


def bytes_fromhex(text):
    return Bytes.fromhex(text)


def bytearray_fromhex(text):
    return Bytearray.fromhex(text)


def Dir(*of):
    if not of:
        return sorted(_prelude.locals())
    names = set(getattr(of[0], "__dict__", {}))
    of_class = of[0] if isinstance(of[0], type) else type(of[0])
    if not hasattr(of_class, "__mro__"):
        raise TypeError(f"dir(): the names of {of_class.__name__} are not listed here; hasattr() tells of one")
    for cls in of_class.__mro__:
        names.update(getattr(cls, "__dict__", {}))
    return sorted(names)
