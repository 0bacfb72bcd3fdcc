# bytes, bytearray, io.StringIO, translate, globals, locals, print(file=).
import io
import sys

shown = []


def show(*values):
    shown.append(" ".join([str(value) for value in values]))


b = b"abc" + bytes([1, 2]) + "xy".encode("utf-8")
show(b, len(b), b[0], b[1:3], b"bc" in b, 99 in b, list(b"ab"), b == b"abc\x01\x02xy", hash(b"a") == hash(b"a"))
show("héllo €😀".encode(), "héllo €😀".encode().decode(), b"\xff\xfea".decode("utf-8", "replace"))
show(b"a\xe9".decode("latin-1"), b"q\"'\n\\".decode(), repr(b"q\"'\n\\\x00"), str(b"it's"))
for encoding, text in (("ascii", "é"), ("nope", "a")):
    try:
        text.encode(encoding)
    except (UnicodeEncodeError, LookupError) as e:
        show(type(e).__name__)
try:
    b"\xff".decode()
except UnicodeDecodeError as e:
    show(type(e).__name__, isinstance(e, ValueError))
show(int.from_bytes(b"\x01\x00", "little"), (258).to_bytes(2, "big"), (-2).to_bytes(2, "little", signed=True))
show(b"\xff\x01".hex(), bytes.fromhex("ff 01"), bytes(3), bytes("hi", "ascii"), isinstance(b, bytes))
show(b" a b ".strip(), b"a,b".split(b","), b"-".join([b"x", b"y"]), b"aXa".replace(b"a", b"bb"))
show(b"abc".startswith(b"ab"), b"abc".find(b"c"), b"aba".count(b"a"), b"aB".upper(), b"ab" * 2)
show(sorted([b"b", b"a"]), {b"a": 1}[b"a"], type(b).__name__, type(b) is bytes, b"%d" % 3)
a = bytearray(b"abc")
a[0] = 65
a.append(33)
a += b"?"
show(a, len(a), a.decode(), bytes(a), isinstance(a, bytes), a == b"Abc!?")

t = str.maketrans({"a": "b", "c": None})
show("abca".translate(t), "hello".translate(str.maketrans("el", "ip")), "ab1".translate(str.maketrans("", "", "b")))

f = io.StringIO()
print("one", 2, file=f)
f.write("three")
show(repr(f.getvalue()), f.tell())
with io.StringIO("l1\nl2\nl3") as g:
    show(g.readline(), g.read(1), g.readlines())
print("out", file=sys.stdout)

LIMIT = 3


def inner(a, b=2):
    c = a + b

    def use():
        return c

    return sorted(locals())[:3], use()


class Holder:
    def __init__(self, h, w=3):
        self.__dict__.update(locals())


globals()["LIMIT"] = 5
globals()["fresh"] = 6
show(LIMIT, fresh, globals()["LIMIT"], "nope" in globals(), inner(1), Holder(2).w)
show([n for n in dir(Holder(2)) if not n.startswith("_")])


def model():
    return shown
