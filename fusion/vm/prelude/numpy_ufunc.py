# numpy.ufunc: a function of each element, which may write into an array and go along an axis.
import numpy
import torch


def _kept(made, out, where):
    """What a call gives: a new array, or `out` with it."""
    if isinstance(out, tuple):
        out = out[0]
    if where is not True:
        if out is None:
            out = numpy.zeros_like(made)
        made = numpy.where(where, made, out)
    if out is None:
        return made
    out._tensor.copy_(numpy.tensor_of(made))
    return out


class ufunc:
    def __init__(self, function, nin):
        self._function = function
        self.nin = nin
        self.nout = 1

    def __call__(self, *args, out=None, where=True, dtype=None, casting=None):
        if len(args) > self.nin:
            args, out = args[: self.nin], args[self.nin]
        made = self._function(*args)
        if dtype is not None:
            made = numpy.asarray(made).astype(dtype)
        return made if out is None and where is True else _kept(made, out, where)

    def _rows(self, array, axis):
        return [numpy.wrap(t) for t in numpy.tensor_of(array).unbind(axis)]

    def reduce(self, array, axis=0, dtype=None, out=None, keepdims=False, initial=None):
        if axis is None or isinstance(axis, tuple):
            t = numpy.tensor_of(array)
            axes = sorted([a % t.dim() for a in (range(t.dim()) if axis is None else axis)], reverse=True)
            for a in axes:
                array = self.reduce(array, a, keepdims=keepdims)
            return array
        rows = self._rows(array, axis)
        made = rows[0] if initial is None else self._function(initial, rows[0])
        for row in rows[1:]:
            made = self._function(made, row)
        made = numpy.expand_dims(made, axis) if keepdims else made
        return _kept(made if dtype is None else numpy.asarray(made).astype(dtype), out, True)

    def accumulate(self, array, axis=0):
        made = []
        for row in self._rows(array, axis):
            made.append(self._function(made[-1], row) if made else row)
        return numpy.stack(made, axis)

    def outer(self, A, B):
        a, b = numpy.tensor_of(A), numpy.tensor_of(B)
        return self._function(numpy.ndarray(a.reshape(list(a.shape) + [1] * b.dim())), numpy.ndarray(b))

    def at(self, a, indices, b=None):
        """One index after the other: one that stands twice counts twice."""
        places = indices if isinstance(indices, tuple) else (indices,)
        places = torch.broadcast_tensors(*[numpy.tensor_of(i) for i in places])
        values = None if b is None else numpy.tensor_of(b).expand(places[0].shape + a._tensor.shape[len(places) :])
        for k in numpy.ndindex(*places[0].shape):
            at = tuple([p[k].item() for p in places])
            a[at] = self._function(a[at]) if b is None else self._function(a[at], numpy.wrap(values[k]))
