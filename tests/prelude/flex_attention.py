# torch.nn.attention.flex_attention, decompositions of few ranks, normals of few ranks, names by uuid.
import re
import uuid

import torch
from torch.distributions import LowRankMultivariateNormal
from torch.nn.attention.flex_attention import and_masks, create_block_mask, create_mask, flex_attention, or_masks


def rounded(*tensors):
    print(*[(t * 1000).round().int().tolist() for t in tensors])


def causal(b, h, q_idx, kv_idx):
    return q_idx >= kv_idx


def near(b, h, q_idx, kv_idx):
    return (q_idx - kv_idx).abs() <= 1


def attention():
    torch.manual_seed(0)
    q, k, v = torch.randn(2, 4, 5, 8, requires_grad=True), torch.randn(2, 2, 6, 8), torch.randn(2, 2, 6, 8)
    slope = torch.tensor([0.5, 0.25, 0.125, 0.1])
    documents = torch.tensor([0, 0, 1, 1, 2, 2])
    rounded(flex_attention(q, k, v, enable_gqa=True))
    y = flex_attention(q, k, v, lambda s, b, h, i, j: s + slope[h] * (j - i), scale=0.5, enable_gqa=True)
    y.square().sum().backward()
    rounded(y, q.grad)
    same = lambda b, h, i, j: documents[i] == documents[j]
    masks = causal, and_masks(causal, near), or_masks(same, lambda b, h, i, j: j == 5), lambda b, h, i, j: i > 0
    for mask in masks:
        block = create_block_mask(mask, B=None, H=None, Q_LEN=5, KV_LEN=6, device="cpu")
        y, sums = flex_attention(q, k, v, block_mask=block, enable_gqa=True, return_lse=True)
        rounded(y)
        print([[round(float(x), 2) for x in row] for row in sums[0]])
    print(create_mask(causal, None, None, 3, 4, "cpu"), block.shape)
    rounded(flex_attention(q, k, v, lambda s, b, h, i, j: torch.where(i >= j, s, float("-inf")), enable_gqa=True))
    try:
        flex_attention(q, k, v)
    except ValueError as e:
        print(str(e)[:60])


def of_few_ranks():
    torch.manual_seed(0)
    for shape in ((5, 4), (4, 6)):
        A = torch.randn(*shape)
        U, S, V = torch.pca_lowrank(A, q=3)
        rounded(S, (U * S @ V.T).abs(), torch.svd_lowrank(A, q=4)[1], torch.pca_lowrank(A, 2, center=False)[1])
    x = torch.tensor([[1.0, 0, 2], [0, 3, 0]])
    print(torch.nonzero_static(x, size=4), torch.nonzero_static(x, size=2, fill_value=7), torch.nonzero_static(x[0], size=1))
    print(x.nbytes, x.half().itemsize, x.bool().nbytes)
    m = LowRankMultivariateNormal(torch.zeros(3), torch.tensor([[1.0, 0], [0.5, 1], [0, 2]]), torch.tensor([1.0, 2, 3]))
    rounded(m.sample((2,)), m.log_prob(x), m.entropy(), m.variance, m.covariance_matrix, m.expand((2,)).log_prob(x), m.scale_tril)


def names():
    a, b = uuid.uuid4(), uuid.uuid4()
    print(a == b, bool(re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", str(a))), len(a.hex), a.version, len(str(b)))
    c = uuid.UUID("12345678-1234-5678-1234-567812345678")
    print(c, repr(c), c.bytes[:3], uuid.UUID(hex=c.hex) == c, {c: 1}[uuid.UUID(bytes=c.bytes)], c < uuid.UUID("f" * 32))
    try:
        uuid.UUID("12")
    except ValueError as e:
        print(e)


def model():
    attention()
    of_few_ranks()
    names()
