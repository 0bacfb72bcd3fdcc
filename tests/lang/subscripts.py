def model(x, i):
    return (
        x[0], x[-1], x[i, 0], x[1:], x[:-1], x[::2], x[1:2:i], x[:],
        x[..., None], x[:, 1:], x[i][0], x[(1, 2)], x["k"],
    )
