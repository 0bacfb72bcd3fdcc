# Tensor.untyped_storage(): the memory that a tensor and its views share.
import torch


class UntypedStorage:
    def __init__(self, tensor):
        self._tensor = tensor
        self.device = tensor.device

    def data_ptr(self):
        return self._tensor.data_ptr() - self._tensor.storage_offset() * self._tensor.element_size()

    def nbytes(self):
        return torch._C.storage_bytes(self._tensor)

    def size(self):
        return self.nbytes()

    def __len__(self):
        return self.nbytes()

    def __eq__(self, other):
        return isinstance(other, UntypedStorage) and self.data_ptr() == other.data_ptr()

    def __hash__(self):
        return self.data_ptr()


def untyped_storage(self):
    return UntypedStorage(self)
