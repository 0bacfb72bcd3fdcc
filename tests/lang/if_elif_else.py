def model(x, n):
    if n == 1:
        x = x + 1
    elif n == 2:
        x = x + 2
    elif n:
        pass
    else:
        return x
    return x * 2
