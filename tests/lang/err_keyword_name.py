def lambda(x):
    return x
