def model(x):
    retrun x
