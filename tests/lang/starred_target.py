a, *rest = x
[*b, (c, *d), e.f] = x
for i, *j in x:
    pass
