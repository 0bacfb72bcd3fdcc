# numpy.lib.stride_tricks.
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view, as_strided
def attempt(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
def model():
    x = np.arange(6)
    a = np.arange(12.0).reshape(3, 4)
    print(sliding_window_view(x, 3), sliding_window_view(x, (2,))[::2], sliding_window_view(a, (2, 2)).shape, sliding_window_view(a, 2, axis=1).sum(-1), sliding_window_view(a, 2, axis=-1).mean(axis=(1, 2)), sliding_window_view(a, (2, 3), axis=(0, 1))[1, 1])
    attempt(lambda: sliding_window_view(a, 2))
    attempt(lambda: sliding_window_view(x, 9))
    attempt(lambda: sliding_window_view(a, (2, 2), axis=0))
    print(as_strided(x, (3, 2), (8, 16)), np.lib.stride_tricks.sliding_window_view(x, 4).max(axis=1), as_strided(a, shape=(2, 2)))
