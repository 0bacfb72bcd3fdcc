# torch.cuda's names of types: what programs ask of tensors.
import torch as _torch


class _Type(type(_torch.FloatTensor)):
    def __call__(cls, *data):
        if not _torch.cuda.is_available():
            raise TypeError(
                f"type torch.cuda.{cls.__name__} not available. Torch not compiled with CUDA enabled."
            )
        return super().__call__(*data)

    def __instancecheck__(cls, value):
        return super().__instancecheck__(value) and value.is_cuda


class FloatTensor(_torch.FloatTensor, metaclass=_Type):
    pass


class DoubleTensor(_torch.DoubleTensor, metaclass=_Type):
    pass


class HalfTensor(_torch.HalfTensor, metaclass=_Type):
    pass


class BFloat16Tensor(_torch.BFloat16Tensor, metaclass=_Type):
    pass


class LongTensor(_torch.LongTensor, metaclass=_Type):
    pass


class IntTensor(_torch.IntTensor, metaclass=_Type):
    pass


class ShortTensor(_torch.ShortTensor, metaclass=_Type):
    pass


class CharTensor(_torch.CharTensor, metaclass=_Type):
    pass


class ByteTensor(_torch.ByteTensor, metaclass=_Type):
    pass


class BoolTensor(_torch.BoolTensor, metaclass=_Type):
    pass
