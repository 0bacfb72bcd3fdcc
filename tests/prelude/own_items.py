# A list, bytes and a deque that are extended by themselves, once.
import collections


class Numbers(list):
    pass


def model():
    l, m, b = Numbers([1, 2]), [3], bytearray(b"ab")
    l.extend(l)
    l += l
    m.extend(m)
    m += m
    b.extend(b)
    d = collections.deque([1, 2], maxlen=5)
    d.extend(d)
    print(list(l), m, bytes(b), list(d))
    d.extendleft(d)
    print(list(d))
