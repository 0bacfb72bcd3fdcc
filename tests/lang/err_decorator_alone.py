@cache
x = 1
