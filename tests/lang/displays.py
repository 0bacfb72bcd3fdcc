def model(x):
    a = (), (1,), (x,), (1, "a", None, (2, -3))
    b = [], [1], [x, 2,]
    c = {}, {"a": 1, x: [2]}
    return a, b, c
