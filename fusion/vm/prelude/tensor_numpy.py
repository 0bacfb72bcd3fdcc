# A tensor as an array of numpy.
import numpy as _numpy


def numpy(self, *, force=False):
    if self.requires_grad and not force:
        raise RuntimeError(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead."
        )
    return _numpy.ndarray(self.detach())


def __array__(self, dtype=None):
    return numpy(self) if dtype is None else numpy(self).astype(dtype)
