raise ValueError("x") from None


def model(x):
    if x:
        raise
    raise ValueError
