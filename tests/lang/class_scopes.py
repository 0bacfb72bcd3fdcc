def outer(x, y):
    @register("inner")
    class Inner:
        x = x
        nonlocal y
        y = 1

        def method(self):
            return x + y

        pairs = [(x, y) for k in range(2)]
        calls = [lambda: k for k in range(2)]
    return Inner
