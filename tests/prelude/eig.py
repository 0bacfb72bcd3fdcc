# Eigenvalues of matrices that are not symmetric: those of rotations, defective ones, batches, and gradients.
import torch


def show(z):
    pairs = sorted([(round(v.real + 0.0, 3) + 0.0, round(v.imag, 3) + 0.0) for v in z.reshape(-1).tolist()])
    print(z.dtype, list(z.shape), pairs)


def matrices():
    torch.manual_seed(3)
    turn = torch.tensor([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 2.0]])
    upper = torch.tensor([[1.0, 5.0], [0.0, 3.0]])
    return [turn, upper, torch.randn(5, 5), torch.randn(2, 3, 3, dtype=torch.float64), torch.eye(3), torch.zeros(2, 2), torch.randn(1, 1), torch.randn(12, 12, dtype=torch.float64)]


def values():
    for a in matrices():
        show(torch.linalg.eigvals(a))
        found = torch.linalg.eig(a)
        again = found.eigenvectors @ torch.diag_embed(found[0])
        print((again.real - (a @ found[1].real)).abs().max().item() < 1e-4, (again.imag - (a @ found[1].imag)).abs().max().item() < 1e-4)
        print(torch.allclose(found[1].abs().pow(2).sum(-2), torch.ones(a.shape[:-1], dtype=a.dtype)))


def gradients():
    torch.manual_seed(7)
    a = torch.randn(4, 4, dtype=torch.float64, requires_grad=True)
    values, vectors = torch.linalg.eig(a)
    loss = (values.real ** 3).sum() + (values.abs() * torch.tensor([1.0])).sum() + (vectors.abs() ** 4).sum()
    loss.backward()
    print([round(v, 3) + 0.0 for v in a.grad.reshape(-1).tolist()])
    b = torch.tensor([[2.0, 1.0], [0.5, 3.0]], requires_grad=True)
    torch.linalg.eigvals(b).real.prod().backward()
    print([round(v, 3) for v in b.grad.reshape(-1).tolist()])


def diagonalized():
    a = torch.tensor([[1.0, 2.0], [-3.0, 0.5]])
    values, vectors = torch.linalg.eig(a)
    again = vectors @ torch.diag(values) @ torch.linalg.inv(vectors)
    print(torch.allclose(again.real, a, atol=1e-5), again.imag.abs().max().item() < 1e-5)
    x = torch.linalg.solve(torch.complex(torch.tensor([[1.0, 0.5], [0.0, 3.0]]), torch.tensor([[2.0, 0.0], [-1.0, 0.0]])), torch.complex(torch.tensor([[1.0], [0.0]]), torch.tensor([[0.0], [2.0]])))
    print([(round(v.real, 4), round(v.imag, 4)) for v in x.reshape(-1).tolist()])


def refused():
    for bad in (torch.ones(2, 3), torch.ones(3)):
        try:
            torch.linalg.eigvals(bad)
        except RuntimeError as e:
            print("refused")


def model():
    values()
    gradients()
    diagonalized()
    refused()
