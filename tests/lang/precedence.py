def model(a, b, c):
    p = a + b * c - a / b // c % a @ b
    q = -a ** -b ** c
    r = a | b ^ c & a << b >> ~c
    s = not a == b and c or a in b
    t = (a + b) * c
    return a - b - c, a ** b ** c, (a - (b - c))
