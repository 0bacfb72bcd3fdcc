# torch.Tensor: methods under the names that their functions have, and what is done element by element.
import torch


def where(self, condition, y):
    return torch.where(condition, self, y)


def adjoint(self):
    return self.transpose(-2, -1)


def conj(self):
    return self


def resolve_neg(self):
    return self


def angle(self):
    return torch.angle(self)


def greater(self, other):
    return self > other


def greater_equal(self, other):
    return self >= other


def less(self, other):
    return self < other


def less_equal(self, other):
    return self <= other


def not_equal(self, other):
    return self != other


def is_signed(self):
    return torch.is_signed(self)


def is_conj(self):
    return False


def is_neg(self):
    return False


def is_same_size(self, other):
    return self.shape == other.shape


def is_pinned(self, device=None):
    return False


def cfloat(self):
    return torch.complex(self.float(), torch.zeros_like(self, dtype=torch.float32))


def cdouble(self):
    return torch.complex(self.double(), torch.zeros_like(self, dtype=torch.float64))


def ldexp_(self, other):
    return self.copy_(torch.ldexp(self, other))


def frexp(self):
    return torch.frexp(self)


def stft(self, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode="reflect", normalized=False, onesided=None, return_complex=None):
    return torch.stft(self, n_fft, hop_length, win_length, window, center, pad_mode, normalized, onesided, return_complex)


def unsafe_chunk(self, chunks, dim=0):
    return self.chunk(chunks, dim)


def unsafe_split(self, split_size, dim=0):
    return self.split(split_size, dim)


def put_(self, index, source, accumulate=False):
    at = index.reshape(-1) % self.numel()
    flat = self.reshape(-1).clone()
    self.copy_(flat.index_put((at,), source.reshape(-1), accumulate).view(self.shape))
    return self


def put(self, index, source, accumulate=False):
    at = index.reshape(-1) % self.numel()
    return self.reshape(-1).index_put((at,), source.reshape(-1), accumulate).view(self.shape)


def map_(self, tensor, callable):
    made = [callable(a, b) for a, b in zip(self.reshape(-1).tolist(), tensor.expand(self.shape).reshape(-1).tolist())]
    return self.copy_(torch.tensor(made).view(self.shape))


def apply_(self, callable):
    return self.copy_(torch.tensor([callable(a) for a in self.reshape(-1).tolist()]).view(self.shape))


def new_empty_strided(self, size, stride, dtype=None, device=None):
    return torch.empty_strided(size, stride, dtype=self.dtype if dtype is None else dtype)
