def model(x):
    if x = 3:
        return x
