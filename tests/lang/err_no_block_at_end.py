def model(x):
    for i in x:
        # nothing here
