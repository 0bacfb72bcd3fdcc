def model(x, n):
    while n > 0:
        n -= 1
        if n == 3:
            continue
        if n == 1:
            break
    else:
        x = x + 1
    return x
