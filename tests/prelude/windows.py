# torch.signal.windows, transforms of Hermitian rows, and statistics that take weights or places.
import torch
import torch.signal

W = torch.signal.windows


def rounded(*tensors):
    print(*[(torch.view_as_real(t.resolve_conj()) if t.is_complex() else t).mul(1000).round().int().tolist() for t in tensors])


def windows():
    for f in (W.hann, W.hamming, W.blackman, W.bartlett, W.nuttall, W.cosine, W.exponential, W.gaussian, W.kaiser):
        rounded(f(5), f(6, sym=False), f(1), f(0), f(4, dtype=torch.float64))
    rounded(W.exponential(5, tau=2.0), W.exponential(5, center=1, sym=False), W.gaussian(5, std=0.9), W.kaiser(5, beta=3.0))
    rounded(W.general_hamming(4, alpha=0.7), W.general_cosine(4, a=[0.4, 0.3, 0.2]))
    for call in (lambda: W.hann(-1), lambda: W.gaussian(3, std=0), lambda: W.general_cosine(3, a=[])):
        try:
            call()
        except ValueError as e:
            print(e)


def hermitian():
    z, t = torch.complex(torch.arange(4.0), torch.tensor([0.0, 1, -1, 0])), torch.tensor([[1.0, 2, 4, 8], [3, 1, 4, 1]])
    for n in (None, "ortho", "forward"):
        rounded(torch.fft.hfft(z, norm=n), torch.fft.ihfft(t[0], norm=n), torch.fft.hfft(z, n=5, norm=n))
        rounded(torch.fft.hfft2(torch.stack([z, z * 2]), norm=n), torch.fft.ihfft2(t, norm=n))
        rounded(torch.fft.hfftn(torch.stack([z, z * 2]), norm=n), torch.fft.ihfftn(t, norm=n))


def statistics():
    t, c = torch.tensor([[1.0, 2, 4, 8], [10, 25, 40, 90]]), torch.tensor([[0, 1, 2], [2, 1, 0]])
    counts, worth = torch.tensor([1, 2, 3]), torch.tensor([0.4, 0.3, 0.3])
    print(torch.cov(c), torch.cov(c, correction=0), torch.cov(c, fweights=counts), torch.cov(c, aweights=worth))
    print(torch.cov(c, fweights=counts, aweights=worth), torch.cov(t[0]), torch.cov(t[:1]), torch.corrcoef(t))
    print([torch.linalg.lstsq(t.T, t[0], driver=d).solution.round().abs() for d in ("gels", "gelsd")])
    try:
        torch.cov(c, fweights=worth)
    except RuntimeError as e:
        print(str(e)[:49])
    places = (torch.tensor([0, 2]), torch.tensor([0, 3, 6, 10]))
    print(torch.gradient(t, spacing=places), torch.gradient(t[0], spacing=(torch.tensor([-2.0, -1, 1, 4]),), edge_order=2))
    print(torch.histogram(torch.tensor([-2.6, -0.4, 1.8, 4, 0.2]), 3).hist, torch.histc(torch.tensor([-2.6, 1.8, 4, 0.2]), 3))
    print(torch.special.xlog1py(2, torch.tensor([1.0, 2])), torch.special.xlog1py(torch.tensor([1, 2, 0]), 4))
    a = torch.tensor([-30.0, -6, -2, -1, -0.5, 0, 2, 9, 40])
    rounded(torch.special.erfcx(a[3:]), torch.special.log_ndtr(a), torch.special.polygamma(1, a[6:]), torch.special.multigammaln(a[6:], 2))
    print(torch.tensor_split(torch.arange(8), indices=(1, 6)), torch.tensor_split(torch.arange(8), sections=3))
    print(torch.arange(8).tensor_split(indices=[2], dim=0))


def model():
    windows()
    hermitian()
    statistics()
