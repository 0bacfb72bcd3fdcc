# torch.nn.utils.parametrizations.orthogonal.
import torch
from torch import nn
from torch.nn.utils import parametrize


def _columns(matrix):
    """An orthonormal basis of the columns, the factor beside it with a positive diagonal."""
    q, r = torch.linalg.qr(matrix)
    return q * r.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


def _is_orthogonal(q):
    own = torch.eye(q.size(-1), dtype=q.dtype)
    return torch.allclose(q.mT @ q, own, atol=10.0 * q.size(-2) * torch.finfo(q.dtype).eps)


class _Orthogonal(nn.Module):
    def __init__(self, weight, orthogonal_map, use_trivialization):
        super().__init__()
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        if use_trivialization:
            self.register_buffer("base", None)

    def _turned(self, x, n, k):
        if self.orthogonal_map == "householder":
            a = x.tril(diagonal=-1)
            q = torch.linalg.householder_product(a, 2.0 / (1.0 + (a * a).sum(dim=-2)))
            return q * x.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        x = x.tril()
        if n != k:
            x = torch.cat([x, x.new_zeros(n, n - k).expand(*x.shape[:-2], -1, -1)], dim=-1)
        a = x - x.mT
        if self.orthogonal_map == "matrix_exp":
            q = torch.matrix_exp(a)
        else:
            own = torch.eye(n, dtype=a.dtype)
            q = torch.linalg.solve(own - a * 0.5, own + a * 0.5)
        return q if n == k else q[..., :k]

    def forward(self, x):
        wide = x.size(-2) < x.size(-1)
        x = x.mT if wide else x
        q = self._turned(x, x.size(-2), x.size(-1))
        if getattr(self, "base", None) is not None:
            q = self.base @ q
        return q.mT if wide else q

    @torch.no_grad()
    def right_inverse(self, given):
        if given.shape != self.shape:
            raise ValueError(
                f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {given.shape}."
            )
        wide = given.size(-2) < given.size(-1)
        q = given.mT if wide else given
        n, k = q.size(-2), q.size(-1)
        if not hasattr(self, "base"):
            raise NotImplementedError(
                "orthogonal(use_trivialization=False) is not in the language; leave it out"
            )
        if n == k:
            q = q.clone() if _is_orthogonal(q) else _columns(q)
        else:
            q = _columns(torch.cat([q, torch.randn(*q.size()[:-2], n, n - k, dtype=q.dtype)], dim=-1))
        self.base = q
        start = torch.zeros_like(given)
        start.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        return start


def orthogonal(module, name="weight", orthogonal_map=None, *, use_trivialization=True):
    weight = getattr(module, name, None)
    if not isinstance(weight, torch.Tensor):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if weight.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {weight.ndim} dimensions.")
    if orthogonal_map is None:
        orthogonal_map = "matrix_exp" if weight.size(-2) == weight.size(-1) else "householder"
    if orthogonal_map not in ("matrix_exp", "cayley", "householder"):
        raise ValueError(
            f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}'
        )
    made = _Orthogonal(weight, orthogonal_map, use_trivialization)
    parametrize.register_parametrization(module, name, made, unsafe=True)
    return module
