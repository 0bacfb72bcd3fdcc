def model(x):
    if (n := len(x)) > 3:
        return n
    while chunk := x.read(n):
        x = chunk
    return [y := 1, y], (z := 2)
