def model(x):
    if True:
        x = 1
    if 0:
        x = 2
    else:
        x = 3
    while True:
        x = 4
    x = 5
