# numpy.fft, as torch.fft has it; whole numbers are taken as float64.
import numpy
import torch


def _wide(a):
    t = numpy.tensor_of(a)
    return t if t.is_complex() or t.dtype.is_floating_point else t.double()


def _named(name):
    def call(a, *args, **keywords):
        if "axis" in keywords:
            keywords["dim"] = keywords.pop("axis")
        if "axes" in keywords:
            keywords["dim"] = keywords.pop("axes")
        return numpy.wrap(getattr(torch.fft, name)(_wide(a), *args, **keywords))

    return call


fft = _named("fft")
ifft = _named("ifft")
rfft = _named("rfft")
irfft = _named("irfft")
fft2 = _named("fft2")
ifft2 = _named("ifft2")
rfft2 = _named("rfft2")
irfft2 = _named("irfft2")
fftn = _named("fftn")
ifftn = _named("ifftn")
rfftn = _named("rfftn")
irfftn = _named("irfftn")


def fftshift(x, axes=None):
    return numpy.wrap(torch.fft.fftshift(numpy.tensor_of(x), axes))


def ifftshift(x, axes=None):
    return numpy.wrap(torch.fft.ifftshift(numpy.tensor_of(x), axes))


def fftfreq(n, d=1.0):
    return numpy.wrap(torch.fft.fftfreq(n, d, dtype=torch.float64))


def rfftfreq(n, d=1.0):
    return numpy.wrap(torch.fft.rfftfreq(n, d, dtype=torch.float64))
