# Between numpy's arrays and tensors: both see the same memory.
import numpy as _numpy
import torch


def from_numpy(ndarray):
    if not isinstance(ndarray, _numpy.ndarray):
        raise TypeError(f"expected np.ndarray (got {type(ndarray).__name__})")
    return torch._C.alias(ndarray._tensor)  # a tensor of its own over the memory
