# The module hashlib: md5, sha1 and sha256, of which programs make names of files and seeds.
import math


def _words_of(data, big):
    """Blocks of 16 words of the data and its length, as md5 (little-endian) and sha take them."""
    n = len(data)
    padded = list(data) + [128] + [0] * ((55 - n) % 64)
    length = [(8 * n) >> (8 * i) & 255 for i in range(8)]
    padded.extend(length[::-1] if big else length)
    order = (24, 16, 8, 0) if big else (0, 8, 16, 24)
    words = []
    for i in range(0, len(padded), 4):
        words.append(padded[i] << order[0] | padded[i + 1] << order[1] | padded[i + 2] << order[2] | padded[i + 3] << order[3])
    return [words[i : i + 16] for i in range(0, len(words), 16)]


def _turn(x, n):
    return (x << n | x >> (32 - n)) & 0xFFFFFFFF


def _md5(data):
    turns = [7, 12, 17, 22] * 4 + [5, 9, 14, 20] * 4 + [4, 11, 16, 23] * 4 + [6, 10, 15, 21] * 4
    added = [int(abs(math.sin(i + 1)) * 4294967296) & 0xFFFFFFFF for i in range(64)]
    state = [0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476]
    for block in _words_of(data, False):
        a, b, c, d = state
        for i in range(64):
            if i < 16:
                f, k = (b & c) | (~b & d), i
            elif i < 32:
                f, k = (d & b) | (~d & c), (5 * i + 1) % 16
            elif i < 48:
                f, k = b ^ c ^ d, (3 * i + 5) % 16
            else:
                f, k = c ^ (b | (~d & 0xFFFFFFFF)), (7 * i) % 16
            f = (f + a + added[i] + block[k]) & 0xFFFFFFFF
            a, d, c, b = d, c, b, (b + _turn(f, turns[i])) & 0xFFFFFFFF
        state = [(x + y) & 0xFFFFFFFF for x, y in zip(state, (a, b, c, d))]
    return [x >> n & 255 for x in state for n in (0, 8, 16, 24)]


def _sha1(data):
    state = [0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0]
    for block in _words_of(data, True):
        w = list(block)
        for i in range(16, 80):
            w.append(_turn(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1))
        a, b, c, d, e = state
        for i in range(80):
            if i < 20:
                f, k = (b & c) | (~b & d), 0x5A827999
            elif i < 40:
                f, k = b ^ c ^ d, 0x6ED9EBA1
            elif i < 60:
                f, k = (b & c) | (b & d) | (c & d), 0x8F1BBCDC
            else:
                f, k = b ^ c ^ d, 0xCA62C1D6
            f = (_turn(a, 5) + f + e + k + w[i]) & 0xFFFFFFFF
            a, b, c, d, e = f, a, _turn(b, 30), c, d
        state = [(x + y) & 0xFFFFFFFF for x, y in zip(state, (a, b, c, d, e))]
    return [x >> n & 255 for x in state for n in (24, 16, 8, 0)]


def _primes(n):
    found, at = [], 2
    while len(found) < n:
        if all([at % p for p in found]):
            found.append(at)
        at += 1
    return found


def _root(n, degree):
    """The first 32 bits after the point of a root: the largest whole x with x ** degree <= n * 2 ** (32 * degree)."""
    high = int(n ** (1.0 / degree))
    x = int((n ** (1.0 / degree) - high) * 4294967296)
    return x & 0xFFFFFFFF


def _sha256(data):
    primes = _primes(64)
    k = [_root(p, 3) for p in primes]
    state = [_root(p, 2) for p in primes[:8]]
    for block in _words_of(data, True):
        w = list(block)
        for i in range(16, 64):
            x, y = w[i - 15], w[i - 2]
            low = _turn(x, 25) ^ _turn(x, 14) ^ (x >> 3)
            high = _turn(y, 15) ^ _turn(y, 13) ^ (y >> 10)
            w.append((w[i - 16] + low + w[i - 7] + high) & 0xFFFFFFFF)
        a, b, c, d, e, f, g, h = state
        for i in range(64):
            one = (h + (_turn(e, 26) ^ _turn(e, 21) ^ _turn(e, 7)) + ((e & f) ^ (~e & g)) + k[i] + w[i]) & 0xFFFFFFFF
            two = (_turn(a, 30) ^ _turn(a, 19) ^ _turn(a, 10)) + ((a & b) ^ (a & c) ^ (b & c))
            a, b, c, d, e, f, g, h = (one + two) & 0xFFFFFFFF, a, b, c, (d + one) & 0xFFFFFFFF, e, f, g
        state = [(x + y) & 0xFFFFFFFF for x, y in zip(state, (a, b, c, d, e, f, g, h))]
    return [x >> n & 255 for x in state for n in (24, 16, 8, 0)]


class _Hash:
    block_size = 64

    def __init__(self, name, function, size, data):
        self.name = name
        self.digest_size = size
        self._function = function
        self._data = []
        self.update(data)

    def update(self, data):
        if isinstance(data, str):
            raise TypeError("Strings must be encoded before hashing")
        self._data.extend(list(data))

    def digest(self):
        return bytes(self._function(self._data))

    def hexdigest(self):
        return "".join([f"{x:02x}" for x in self._function(self._data)])

    def copy(self):
        made = _Hash(self.name, self._function, self.digest_size, b"")
        made._data = list(self._data)
        return made


def md5(string=b"", *, usedforsecurity=True):
    return _Hash("md5", _md5, 16, string)


def sha1(string=b"", *, usedforsecurity=True):
    return _Hash("sha1", _sha1, 20, string)


def sha256(string=b"", *, usedforsecurity=True):
    return _Hash("sha256", _sha256, 32, string)


algorithms_available = {"md5", "sha1", "sha256"}


def new(name, data=b"", *, usedforsecurity=True):
    makers = {"md5": md5, "sha1": sha1, "sha256": sha256}
    if name.lower() not in makers:
        raise ValueError("unsupported hash type " + name)
    return makers[name.lower()](data)
