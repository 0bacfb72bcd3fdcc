# numpy.lib.stride_tricks: other views of an array's memory.
import math

import numpy


def sliding_window_view(x, window_shape, axis=None):
    t = numpy.tensor_of(x)
    sizes = tuple(window_shape) if isinstance(window_shape, (list, tuple)) else (window_shape,)
    if axis is None:
        axes = tuple(range(t.dim()))
        if len(sizes) != t.dim():
            raise ValueError(
                "Since axis is `None`, must provide window_shape for all dimensions of `x`; "
                f"got {len(sizes)} window_shape elements and `x.ndim` is {t.dim()}."
            )
    else:
        axes = tuple(axis) if isinstance(axis, (list, tuple)) else (axis,)
        if len(sizes) != len(axes):
            raise ValueError(
                f"Must provide matching length window_shape and axis; got {len(sizes)} window_shape "
                f"elements and {len(axes)} axes elements."
            )
    rank = t.dim()
    for a, size in zip(axes, sizes):
        if size > t.shape[a % rank]:
            raise ValueError("window shape cannot be larger than input array shape")
        t = t.unfold(a % rank, int(size), 1)
    return numpy.ndarray(t)


def as_strided(x, shape=None, strides=None):
    """Without strides, row by row."""
    t = numpy.tensor_of(x)
    sizes = tuple(t.shape if shape is None else shape)
    steps = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
    if strides is not None:
        steps = [s // t.element_size() for s in strides]
    return numpy.ndarray(t.as_strided(sizes, tuple(steps), t.storage_offset()))
