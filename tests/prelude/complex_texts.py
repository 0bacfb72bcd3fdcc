# Complex tensors print as PyTorch's, and an fft of quarters of a turn is exact.
import torch


def model():
    z = torch.tensor([100 - 101j, 1 - 2j, 2.5 - 3j])
    print(z, z[:2], z[1:2] * 1e10, z.conj()[:1], torch.tensor(1j), torch.tensor([1 + 2j, -3.25 + 4j]))
    print(torch.fft.fft(torch.tensor([100.0, 1.0, 2.0, 3.0])), torch.fft.fft(torch.arange(8.0)).imag)
