class Named:
    def __str__(self):
        return "named"

    def __repr__(self):
        return "<Named>"


def model():
    x, name, w = 3.14159, "bob", 8
    return (
        f"{x:.2f} {name!r} {name:>{w}}|{name:<6}|{name:^7}|",
        f"{5:04d} {255:x} {1e6:e} {0.25:%} {1234567:,}",
        f"{Named()} {Named()!r} {[Named()]}",
        f"{{}} {1 + 2} {(1, 'a')}",
        f"{x=:.1f} {name=}",
        "a" f"{1}" "b",
        f"{None} {True!s:>6}",
    )
