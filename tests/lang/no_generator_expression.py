y = sum(i for i in x)
