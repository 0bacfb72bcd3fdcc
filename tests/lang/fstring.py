print(f"mean {x.mean():.3f} {'a' 'b'!r:>{w}} {y=}")
s = f"{x}" f"{y!s:}" "tail {}"
