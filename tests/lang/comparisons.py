def model(a, b, c):
    x = a < b <= c != 1
    y = a is None, a is not b, a in b, a not in b
    if a < b < c:
        return x
    if not (a < b < c) or y:
        return y
