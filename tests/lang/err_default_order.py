def model(x, k=1, y):
    return x
