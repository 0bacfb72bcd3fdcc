def find(xs, wanted):
    for i, x in enumerate(xs):
        if x == wanted:
            break
    else:
        return "none"
    return i


def count(n):
    i = 0
    while i < n:
        i += 1
        if i == 7:
            break
    else:
        i = -i
    return i


def model():
    return find([1, 2], 2), find([1, 2], 3), count(3), count(10), 1 < 2 < 3 > 2, 1 < 3 < 2
