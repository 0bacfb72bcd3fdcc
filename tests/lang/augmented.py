def model(x, i):
    x += 1
    x -= 1
    x *= x
    x /= 2
    x //= 2
    x %= 2
    x @= x
    x **= 2
    x &= 1
    x |= 1
    x ^= 1
    x <<= 1
    x >>= 1
    x.weight += i
    x[i] *= 2
    x[1:] -= 2
    return x
