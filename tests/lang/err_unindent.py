def model(x):
        y = x
    return y
