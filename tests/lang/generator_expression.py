y = sum(i for i in x)


def model(x, k):
    return max((i * k + j for i in x if i for j in i), key=lambda v: v + k)
