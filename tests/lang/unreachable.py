def model(x):
    return x
    x = undefined


def both(x):
    if x:
        return 1
    else:
        return 2
    for i in x:
        break
