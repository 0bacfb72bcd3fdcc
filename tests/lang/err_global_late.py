def model(x):
    n = 1
    global n
