def model(x, y, x):
    return x
