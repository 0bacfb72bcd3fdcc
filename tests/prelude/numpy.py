# Arrays of numpy, their text, and the numbers of np.random for a seed.
import torch
import numpy as np
def attempt(f):
    try: print(f())
    except Exception as e: print(type(e).__name__, e)
def model():
    a = np.array([[1, 2, 3], [4, 5, 6]])
    b = np.array([1.5, 2.5, -3.0])
    print(a, a.shape, a.dtype, a.size, a.ndim, a.T, len(a))
    print(b, repr(b), repr(a), b.dtype == np.float64, b.dtype == "float64")
    print(a + b, a * 2, a / 2, a // 2, 2 ** a, a - 1, 1 - b, -b, a @ b, a > 2, b % 2)
    print(a.sum(), a.sum(axis=0), a.mean(axis=1), b.min(), b.max(), b.argmax(), b.argsort(), a.prod(), a.std(), a.var(axis=0))
    print(a.reshape(3, 2), a.reshape(-1), a.flatten(), a.transpose(1, 0).shape, a.astype(np.float32), a.astype("float32").dtype)
    print(a[0], a[:, 1], a[0, 1], a[a > 2], a[::-1], a[:, ::2], a[..., None].shape, a[[0, 1], [1, 2]])
    a[0, 0] = 10; a[1] = [7, 8, 9]; a[a > 8] = 0
    print(a, a.tolist(), b.cumsum(), b.clip(-1, 2), b.round(), np.round(3.14159, 2))
    print(np.zeros((2, 3)), np.ones(2), np.full((2, 2), 7), np.arange(5), np.arange(0, 1, 0.25), np.linspace(0, 1, 5), np.eye(2))
    print(np.concatenate([a, a]), np.stack([b, b]), np.vstack([b, b]).shape, np.hstack([b, b]).shape)
    print(np.where(b > 0, b, 0), np.where(b > 0), np.sqrt(16), np.sqrt(np.array([4, 9])), np.exp(b), np.log(np.array([1.0, 2.0])), np.sin(b))
    print(np.power(2, 3), np.power(a, 2), np.floor(b), np.ceil(b), np.abs(b), np.maximum(b, 0), np.minimum(b, 1), np.clip(b, 0, 1))
    print(np.dot(b, b), np.matmul(a, b), np.outer(b, b), np.einsum("ij,j->i", a, b), np.meshgrid(np.arange(2), np.arange(3))[0])
    print(np.tile(b, 2), np.repeat(b, 2), np.unique([3, 1, 3], return_counts=True), np.sort(b), np.argsort(b), np.cumsum(b), np.cumprod(b))
    print(np.pad(b, 1), np.isnan(b), np.allclose(b, b), np.pi, np.inf, np.array(3.5), np.prod([2, 3]), np.mean([1, 2, 3]), np.max([1, 4]))
    print(np.array([1.0, 1e10]), np.array([1e-5, 1.0]), np.array([0.1, 0.25, 100.123456789]), np.array([True, False]), np.array([np.nan, 1.0, np.inf]), np.array([0.1, 0.2], dtype=np.float32))
    t = torch.from_numpy(b)
    print(t, t.numpy(), torch.tensor(a), torch.tensor([b, b]), torch.as_tensor(b), torch.ones(3).numpy() + b, torch.tensor(b, dtype=torch.float32), torch.from_numpy(a).float())
    b[0] = 100
    print(t, (t * b), np.sqrt(torch.ones(2)), isinstance(b, np.ndarray))
    np.random.seed(0)
    print(np.random.rand(), np.random.rand(2), np.random.randn(3), np.random.randint(0, 10, 5), np.random.randint(10), np.random.uniform(-1, 1, (2, 2)), np.random.normal(0, 1, size=2), np.random.permutation(6), np.random.choice(5, 3), np.random.choice(5, 3, replace=False), np.random.choice([1, 2, 3], p=[.2, .3, .5]), np.random.random((1, 2)), np.random.exponential(), np.random.laplace(size=2))
    l = [1, 2, 3, 4]; np.random.shuffle(l); print(l)
    r = np.random.RandomState(42); print(r.rand(2), r.randint(5), r.randn(2, 2))
    x = np.arange(6).reshape(2, 3); np.random.shuffle(x); print(x)
    attempt(lambda: np.zeros(3).reshape(2, 2))
    attempt(lambda: np.array([1, 2])[5])
    attempt(lambda: np.concatenate([]))
    attempt(lambda: np.array([1, 2]) == np.array([1, 3]))
    attempt(lambda: bool(np.array([1, 2])))
    attempt(lambda: torch.ones(2, requires_grad=True).numpy())
    attempt(lambda: torch.from_numpy([1]))
    attempt(lambda: np.array([1, 2]).astype("foo"))
    b += 1; b *= 2
    print(b, np.linalg.norm(b), np.median(b), np.percentile(b, 50), np.split(np.arange(6), 3), np.array_split(np.arange(7), 3), np.triu(np.ones((3, 3)), 1), np.flip(b), np.roll(b, 1), np.squeeze(np.ones((1, 3))), np.expand_dims(b, 0), np.argmax([1, 5, 2]), np.isin([1, 2], [2]), np.diff(b))
    print(f"{np.mean(b):.3f}", int(np.prod((2, 3))), [float(x) for x in b], sum(b), max(b), np.iinfo(np.int32).max)
    big = np.arange(30).reshape(2, 15) * 1000
    print(big, np.arange(40), np.linspace(0, 1, 11), np.ones((2, 2, 2)))
    return torch.tensor(b)
