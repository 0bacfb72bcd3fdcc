def model(x, i):
    parts = [x * i for i in range(i)]
    if [j for j in parts if j if i for k in j]:
        calls = [lambda: j + i for j in parts]
    return [(last := p) for p in parts], last, [[a for a in b] for b in parts]


names = {n for n in model.names}
table = {k: v for k, (v, *w) in names}
