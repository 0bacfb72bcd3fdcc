# The module pprint: what fits into one line.


def pformat(object, **options):
    return repr(object)


def pprint(object, stream=None, **options):
    print(pformat(object))


pp = pprint
