def outer(x, k=2):
    n = 0
    unused = 1

    def middle(y):
        def inner(z):
            nonlocal n
            n = n + k
            return x + z
        return inner(y)
    return middle, n
