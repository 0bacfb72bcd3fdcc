# Methods of strings.
def caught(f):
    try:
        return f()
    except Exception as e:
        return type(e).__name__, str(e)


def model():
    s = "Hello, World"
    return (
        [s.lower(), s.upper(), s.swapcase(), "a bC-d".title(), "aBC".capitalize()],
        [s.center(16, "*"), "x".ljust(3) + "|", "x".rjust(3), "42".zfill(5), "-42".zfill(5), "ab".center(5)],
        [s.find("o"), s.rfind("o"), s.find("z"), s.index("W"), s.count("l"), s.count("")],
        [s.partition(", "), s.rpartition("o"), s.partition("?"), s.rpartition("?")],
        ["a,b,,c".split(","), " a  b ".split(), "a,b,c".split(",", 1), "a b c d".split(None, 2), "a.b.c".rsplit(".", 1), "".split(), "".split(",")],
        ["  x ".strip(), "xxaxx".strip("x"), "xxaxx".lstrip("x"), "xxaxx".rstrip("x"), "abcba".strip("ab")],
        [s.startswith("He"), s.endswith(("x", "ld")), s.startswith(()), "module.weight".removeprefix("module."), "a.py".removesuffix(".py")],
        ["a\nb\r\nc\n".splitlines(), "-".join(["a", "b"]), "".join(str(i) for i in range(4)), s.replace("l", "L")],
        ["12".isdigit(), "ab1".isalnum(), "ab".isalpha(), "".isdigit(), " ".isspace(), "a1_".isidentifier(), "A".isupper(), "aB".islower()],
        [s[0], s[-1], s[1:4], s[::-1], s[::3], "é" + "ü"[0], len("héllo"), "l" in s, "x" not in s],
        ["a" < "b", "a" * 3, 2 * "ab", "abc" == "abc", min("hello"), sorted("hello"), list("abc"), tuple("ab")],
        [str.lower("ABC"), list(map(str.upper, ["a", "b"])), sorted(["b", "A", "c"], key=str.lower)],
        [caught(lambda: "a".index("b")), caught(lambda: "a" + 1), caught(lambda: "abc"[5]), caught(lambda: "a".join([1]))],
        [repr("it's"), repr('a"b'), repr("a\n\t\\"), str("x"), "%s" % "y", "tab\tq".split("\t")],
    )
