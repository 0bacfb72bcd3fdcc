n = 1


def model(x):
    nonlocal n
    n = 2
