# torch: the tensor types of old.
import torch


def _made(data, dtype):
    """The constructors of old: of sizes, or of a list."""
    sizes = not data or isinstance(data[0], (int, torch.Size))
    return torch.zeros(*data or (0,), dtype=dtype) if sizes else torch.tensor(data[0], dtype=dtype)


class _TensorType(type):
    def __call__(cls, *data):
        return _made(data, cls.dtype)

    def __instancecheck__(cls, value):
        return isinstance(value, torch.Tensor) and value.dtype is cls.dtype


class FloatTensor(metaclass=_TensorType):
    dtype = torch.float32


class DoubleTensor(metaclass=_TensorType):
    dtype = torch.float64


class LongTensor(metaclass=_TensorType):
    dtype = torch.int64


class IntTensor(metaclass=_TensorType):
    dtype = torch.int32


class BoolTensor(metaclass=_TensorType):
    dtype = torch.bool


class ShortTensor(metaclass=_TensorType):
    dtype = torch.int16


class CharTensor(metaclass=_TensorType):
    dtype = torch.int8


class ByteTensor(metaclass=_TensorType):
    dtype = torch.uint8


class HalfTensor(metaclass=_TensorType):
    dtype = torch.float16


class BFloat16Tensor(metaclass=_TensorType):
    dtype = torch.bfloat16
