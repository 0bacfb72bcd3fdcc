def model(x):
    global x
