def model(x):
    x++
    return x
