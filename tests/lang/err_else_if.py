if a:
    b = 1
else if c:
    b = 2
