def model(x):
    for i in x:
        while i:
            for j in i:
                if j:
                    break
            return j
    return
