def model(x, y):
    while x.sum() > 0 and not y:
        x = x - 1
    while True:
        if x:
            break
    while 0 < x < y:
        if y:
            continue
        x = x + 1
    else:
        return y
