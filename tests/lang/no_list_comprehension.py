def model(x):
    parts = [x * i for i in range(3)]
    return parts
