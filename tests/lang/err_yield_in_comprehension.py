def model(x):
    return [(yield i) for i in x]
