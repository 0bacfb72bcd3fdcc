# Where tensors lie: views share a memory, copies do not.
import torch


def model():
    x = torch.zeros(4, 3)
    print(x.data_ptr() == x.view(-1).data_ptr(), x[1:].data_ptr() - x.data_ptr(), x.double()[2].data_ptr() == x.data_ptr())
    print(x.clone().data_ptr() == x.data_ptr(), x.t().data_ptr() == x.data_ptr(), x[:, 2].data_ptr() - x.data_ptr())
