# The module uuid: names that differ from one another in a run.  A whole number has 64 bits here, so
# a UUID is kept as its 32 digits, and .int is not there.
import random

_draws = random.Random(0)  # not those that random.seed() begins again


class UUID:
    def __init__(self, hex=None, bytes=None, version=None):
        if (hex is None) == (bytes is None):
            raise TypeError("one of the hex and bytes arguments must be given")
        if bytes is not None and len(bytes) != 16:
            raise ValueError("bytes is not a 16-char string")
        digits = bytes.hex() if hex is None else hex.replace("urn:", "").replace("uuid:", "").strip("{}").replace("-", "").lower()
        if len(digits) != 32 or digits.strip("0123456789abcdef"):
            raise ValueError("badly formed hexadecimal UUID string")
        if version is not None:
            if not 1 <= version <= 5:
                raise ValueError("illegal version number")
            digits = digits[:12] + str(version) + digits[13:16] + "89ab"[int(digits[16], 16) & 3] + digits[17:]
        self.hex = digits

    @property
    def bytes(self):
        return bytes.fromhex(self.hex)

    @property
    def version(self):
        return int(self.hex[12], 16)

    def __str__(self):
        h = self.hex
        return f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}"

    def __repr__(self):
        return f"UUID({str(self)!r})"

    def __eq__(self, other):
        return self.hex == other.hex if isinstance(other, UUID) else NotImplemented

    def __lt__(self, other):
        return self.hex < other.hex if isinstance(other, UUID) else NotImplemented

    def __hash__(self):
        return hash(self.hex)


def _drawn(version):
    return UUID("".join(["0123456789abcdef"[_draws.randrange(16)] for _ in range(32)]), version=version)


def uuid1():
    return _drawn(1)


def uuid4():
    return _drawn(4)
