def model(x):
    try:
        y = x + 1
    except (ValueError, TypeError) as error:
        y = x
    else:
        y = 0
    finally:
        pass
    return y


try:
    import numpy
except ImportError as error:
    numpy = None
