def model(x):
    yield x
