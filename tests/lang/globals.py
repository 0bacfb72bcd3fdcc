count = 0


def bump(by):
    global count, made_here
    count += by
    made_here = count


def read():
    return count + made_here
