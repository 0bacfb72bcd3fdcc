def model(a, b, c):
    x = a and b or c
    y = a or b or c
    z = not a
    if a and (b or not c):
        return x
    while a or b and c:
        return y
    return z if a and b else not c
