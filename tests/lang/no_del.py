del x, y[0]
