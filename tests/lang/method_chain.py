def model(x):
    y = (x
         .sum(dim=0)
         .relu()
         [0]
         .mean)
    return y
