def model(x):
    for i, (j, k) in x:
        if i:
            break
        for m in range(j):
            continue
        if j:
            return k
    else:
        x = 1
    return x
