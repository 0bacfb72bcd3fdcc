with torch.no_grad(), open(x) as f:
    y = 1


def model(x):
    for i in x:
        with enter(i) as (a, b):
            if a:
                return b
            if b:
                continue
            break
    with (first() as a, second()):
        raise a
