with a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a:
    pass
