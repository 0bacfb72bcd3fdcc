# Format specifications, str.format and the % operator.
def caught(f):
    try:
        return f()
    except Exception as e:
        return type(e).__name__


def model():
    pi, n, t = 3.14159265, 1234567, "text"
    return (
        [f"{pi:.2f}", f"{pi:8.3f}|", f"{pi:<8.1f}|", f"{pi:^9.2f}|", f"{pi:+.1f}", f"{pi:08.2f}"],
        [f"{-pi:08.2f}", f"{pi:e}", f"{pi:.3E}", f"{pi:g}", f"{1e10:g}", f"{1e-7:g}", f"{pi:.3}"],
        [f"{0.256:%}", f"{0.256:.1%}", f"{n:,}", f"{n:_}", f"{n * 1.5:,.2f}", f"{n:>12,}|"],
        [f"{n:d}", f"{n:x}", f"{n:X}", f"{n:#x}", f"{n:b}", f"{n:o}", f"{n:#o}", f"{255:08b}", f"{-5:05d}"],
        [f"{t:>8}|", f"{t:<8}|", f"{t:^8}|", f"{t:*^10}|", f"{t:.2}|", f"{t:6.3}|", f"{t!r:>8}|", f"{t:s}"],
        [f"{True}", f"{True:d}", f"{None}", f"{[1, 2]}", f"{1.0}", f"{1e22}", f"{1.5:}", f"{65:c}", f"{3:.1f}"],
        [f"{float('inf'):.2f}", f"{float('nan')}", f"{-0.0:.1f}", f"{2:5}|", f"{2.5:5}|", f"{2:<5}|", f"{n:012,}"],
        [f"{pi:{8}.{3}}", f"{'x':{'>'}{4}}", f"{n!s:>10}", f"{n=}", f"{pi=:.2f}", f"{{}}"],
        [f"{pi:n}", f"{pi:8.3n}|", f"{n:n}", f"{1e20:.3n}", f"{True:n}"],
        ["{} {}".format(1, 2), "{1} {0}".format("a", "b"), "{x:.1f} {y!r}".format(x=1.25, y="q")],
        ["{0[1]} {1[k]} {2.real}".format([1, 2], {"k": 3}, 4), "{:>5}|{:<5}|".format(1, 2), "{{{}}}".format(1)],
        ["%d" % 3, "%s %s" % (1, "a"), "%5.2f|" % pi, "%-5d|" % 7, "%05d" % 42, "%+d" % 3, "%x" % 255, "%%"],
        ["%(a)s-%(b)d" % {"a": 1, "b": 2}, "%r" % "q", "%c" % 65, "%e" % 12345.678, "%g" % 0.0001, "%10s|" % "r"],
        ["%.3s|" % "abcdef", "%s" % [1], "%s" % None, "%i" % 3.9, "%*d" % (5, 3)],
        [format(pi, ".1f"), format(n, ","), format("x"), format(3)],
        [caught(lambda: f"{t:d}"), caught(lambda: f"{1:s}"), caught(lambda: "%d" % "x"), caught(lambda: "%s" % (1, 2))],
        [caught(lambda: "{} {}".format(1)), caught(lambda: "{a}".format(b=1)), caught(lambda: "%s %s" % 1)],
        [hex(255), bin(5), oct(8), hex(-1), chr(233), ord("é"), ascii("é"), chr(0x1F600)],
        [round(2.675, 2), round(5), round(-2.5), round(1234, -2), str(1e16), str(123456789.125), repr(0.1 + 0.2)],
    )
