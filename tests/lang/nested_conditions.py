def model(a, b, c, d):
    if (a if b else c) and not (a or b):
        return 1
    if not (a and b) if c else d:
        return 2
    return a < (b if c else d) < d
