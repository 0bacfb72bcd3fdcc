def model(x):
    if x > 0
        return x
