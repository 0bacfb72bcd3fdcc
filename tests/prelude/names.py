# Names that programs use of torch, numpy and Python's library, each with what it gives.
import ast
import inspect
import logging
import math
import operator
import queue
import re
import string
import types
import unicodedata
import weakref
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def show(o):
    if isinstance(o, (torch.Tensor, np.ndarray)):
        items = [round(v, 3) if isinstance(v, float) else v for v in o.reshape(-1).tolist()]
        return f"{o.dtype} {list(o.shape)} {items}"
    if isinstance(o, (list, tuple)):
        return "(" + ", ".join([show(v) for v in o]) + ")"
    if isinstance(o, dict):
        return "{" + ", ".join([f"{k}: {show(v)}" for k, v in o.items()]) + "}"
    return "%.3f" % o if isinstance(o, float) else str(int(o) if isinstance(o, np.integer) else o)


def arrays():
    a, v = np.arange(12.0).reshape(3, 4), np.array([3, 1, 2])
    print(show((np.append(1., v), np.append(a, a, axis=0), np.append([], 3.0))))
    print(show((np.delete(v, 1), np.delete(a, [0, 2], 0), np.delete(a, slice(0, 2), 1))))
    print(show((np.insert(v, 1, 9), np.insert(a, 1, 0, axis=1), np.insert(v, [0, 2], [7, 8]))))
    print(show(np.insert(v, 0, [5, 6])))
    print(show(np.take_along_axis(a, np.argsort(-a, axis=1), 1)))
    a, v = np.arange(12.0).reshape(3, 4), np.array([3, 1, 2])
    np.put_along_axis(a, np.argmax(a, axis=1)[:, None], 99, axis=1)
    print(show(a))
    a, v = np.arange(12.0).reshape(3, 4), np.array([3, 1, 2])
    np.put(a, [0, 5], [-1, -2])
    print(show(a))
    a, v = np.arange(12.0).reshape(3, 4), np.array([3, 1, 2])
    np.place(a, a > 5, [7, 8])
    print(show(a))
    a, v = np.arange(12.0).reshape(3, 4), np.array([3, 1, 2])
    np.putmask(a, a > 5, 0)
    print(show(a))
    a, v = np.arange(12.0).reshape(3, 4), np.array([3, 1, 2])
    np.copyto(a, 3.0)
    print(show(a))
    a, v = np.arange(12.0).reshape(3, 4), np.array([3, 1, 2])
    np.fill_diagonal(a, 5)
    print(show(a))
    print(show((np.diag_indices(3), np.triu_indices_from(a, 1), np.diagflat([1, 2]), np.tri(3))))
    print(show((np.extract(a > 5, a), np.compress([True, False, True], a, axis=0))))
    print(show(np.choose([0, 1, 0], [[1, 2, 3], [4, 5, 6]])))
    print(show((np.select([v < 2, v > 2], [v, v * 10], 0), np.piecewise(a, [a < 3, a >= 3], [-1, 1]))))
    print(show(np.piecewise(a, [a < 3], [lambda q: -q, lambda q: q * 2])))
    print(show((np.lexsort((v, v)), np.ravel_multi_index((1, 2), (3, 4)), np.sort(np.partition(v, 1)))))
    print(show(a[np.ix_([0, 2], [1, 3])]))
    print(show((np.mgrid[0:2, 0:3], np.ogrid[0:2, 0:3], np.mgrid[0:1:3j], np.r_[1, 2:5, v], np.c_[v, v])))
    print(show((np.s_[1:2].start, len(np.index_exp[1:2]), list(np.ndindex(2, 2)), list(np.ndenumerate(v)))))
    print(show(a[np.s_[0, :2]]))
    print(show((np.arcsinh(v), np.arccosh(v), np.cbrt(v), np.signbit(-a[0]), np.copysign(a, -1), np.gcd(v, 2))))
    print(show((np.lcm(v, 4), np.left_shift(v, 1), np.bitwise_not(v))))
    print(show((np.pow(v, 2), np.asanyarray([1, 2]), np.row_stack([v, v]), np.positive(v))))
    print(show((np.modf(np.array([1.5, -2.25])), np.divmod(v, 2), np.ldexp(a, 2))))
    print(show((np.real(a), np.imag(a), np.iscomplexobj(a), np.isrealobj(a), np.isreal(v), np.iterable(a))))
    print(show(np.array_equiv(v, v)))
    print(show((np.broadcast_shapes((3, 1), (1, 4)), np.atleast_3d(v).shape, np.vsplit(a, 3), np.hsplit(a, 2))))
    print(show(np.unstack(a)))
    print(show((np.fromiter((q * q for q in range(4)), dtype=float), np.fromfunction(lambda p, q: p + q, (2, 3)))))
    print(show(np.block([[np.ones((2, 2)), np.zeros((2, 1))]])))
    print(show((np.setxor1d([1, 2, 3], [2, 3, 4]), np.ediff1d(v), np.trim_zeros(np.array([0, 1, 2, 0])))))
    print(show((np.hanning(5), np.hamming(5), np.blackman(5), np.bartlett(5), np.kaiser(5, 14), np.hanning(1))))
    print(show((np.vander(v), np.polyfit([0., 1., 2.], [1., 3., 5.], 1), np.polyval([1, 2], 3))))
    print(show((np.polyval([1, 2], a), np.polyder([1, 2, 3]), np.polyadd([1], [1, 2]), np.polymul([1, 1], [1, 2]))))
    print(show(np.unwrap(np.array([0, 3, 6.5, -3, 0.5]))))
    b = np.array([1.0, np.nan, 3.0])
    print(show((np.nanvar(b), np.nanstd(b), np.nanprod(b), np.nanmedian(b), np.nanpercentile(b, 50))))
    print(show((np.nanargmax(b), np.nanargmin(b), np.nancumsum(b))))
    print(show((np.histogram2d([0., 1., 2.], [0., 1., 1.], bins=2), np.histogram_bin_edges([0., 1., 2.], 2))))
    print(show((np.linalg.eigvalsh(np.eye(2)), np.linalg.slogdet(np.eye(2) * 2), np.linalg.cond(np.diag([1., 2.])))))
    print(show((np.linalg.multi_dot([a, a.T, a]), np.linalg.vector_norm(a), np.linalg.matrix_norm(a))))
    print(show((np.linalg.outer(v, v), np.linalg.trace(np.eye(2)))))
    print(show(np.linalg.lstsq(np.array([[1., 0], [1, 1], [1, 2]]), np.array([1., 3, 5]), rcond=None)[0]))

def names():
    torch.manual_seed(0)
    x, y, i = torch.randn(3, 4), torch.rand(3, 4), torch.tensor([2, 0, 1])
    a, v = np.arange(12.0).reshape(3, 4), np.array([3, 1, 2])
    print(show((x.where(y > 0.5, 0.0), x.adjoint(), x.conj(), x.greater(y), x.less_equal(y), x.not_equal(y))))
    print(show((x.is_signed(), x.is_conj(), x.is_same_size(y))))
    print(show((x.angle()[0], x.ldexp_(i[:1])[0], x.frexp()[1], x.unsafe_chunk(2, 1)[1][0])))
    print(show(torch.ones(3, 4).put_(torch.tensor([0, -1]), torch.tensor([1.5, 2.0]))))
    print(show((torch.zeros(2).map_(torch.ones(2), lambda p, q: p + q), torch.zeros(2).apply_(lambda p: p + 1))))
    print(show((torch.dropout(x, 0.5, False)[0], torch.alpha_dropout(x, 0.5, False)[0])))
    print(show(torch.avg_pool1d(x[None], 2)))
    print(show((torch.batch_norm(x, None, None, None, None, True, 0.1, 1e-5, False)[0], torch.embedding(x, i)[0])))
    print(show((torch.instance_norm(x[None], None, None, None, None, True, 0.1, 1e-5, False)[0, 0], torch.ravel(x))))
    print(show((torch.scalar_tensor(2.0), torch.binary_cross_entropy_with_logits(x, y)[0])))
    print(show(torch.kl_div(x.log_softmax(1), y)[0]))
    print(show((torch.abs_(torch.tensor([-1.0])), torch.gradient(x.flatten())[0])))
    print(show((torch.gradient(x, dim=1, edge_order=2)[0], torch.cumulative_trapezoid(x)[0], torch.histogram(x, 4))))
    print(show((torch.is_signed(x), x[:, torch.newaxis].shape)))
    print(show((torch.empty_strided((2, 3), (3, 1)).shape, torch.unravel_index(torch.tensor(5), (3, 4)))))
    print(show((torch.get_default_device(), torch.is_anomaly_enabled())))
    print(show((F.celu_(x.clone())[0], F.selu_(x.clone())[0], F.threshold_(x.clone(), 0.1, 0.2)[0])))
    print(show((F.triplet_margin_with_distance_loss(x, y, x + 1), F.max_pool2d_with_indices(x[None], 2))))
    print(show((F.adaptive_max_pool2d_with_indices(x[None], 2), F.has_torch_function((x,)))))
    print(show(F.upsample_nearest(x[None, None], scale_factor=2).shape))
    print(show(nn.utils.skip_init(nn.Linear, 2, 3).weight.shape))
    print(show((torch.cuda.memory_allocated(), torch.cuda._initialized, torch.cuda.get_rng_state_all())))
    print(show(issubclass(torch.cuda.OutOfMemoryError, RuntimeError)))
    print(show(issubclass(torch.OutOfMemoryError, RuntimeError)))
    with torch.autograd.detect_anomaly():
        z = x[0] * 2
    print(show(z))
    with torch.autograd.no_grad():
        z = x[0] * 2
    print(show(z))
    with torch.autograd.set_detect_anomaly(True):
        z = x[0] * 2
    print(show(z))
    w = x.double().requires_grad_()
    print(show(torch.autograd.gradcheck(torch.sin, (w,))))
    print(show(torch.autograd.gradcheck(lambda q: q.detach() * q, (w,), raise_exception=False)))
    print(show((operator.abs(-1), math.gamma(5.0), math.lgamma(3.0), re.compile("a", re.I).match("A") is not None)))
    print(show((re.findall("^b", "a\nb", re.M), logging.getLevelName(20), logging.WARN, logging.NOTSET)))
    print(show(logging.disable(logging.CRITICAL)))
    print(show((inspect.isgenerator(x), inspect.ismodule(math), inspect.isroutine(len))))
    print(show((inspect.getmembers(types.SimpleNamespace(b=1, a=2))[-1], isinstance(math, types.ModuleType))))
    print(show((string.capwords("ab cd"), string.Template("$a ${b} $$").substitute(a=1, b=2))))
    print(show(string.Template("$a $c").safe_substitute(a=1)))
    print(show((torch.utils.data.default_convert({"a": [np.ones(2), 1]}), torch.utils.data.StackDataset(x, y)[0][0])))
    print(show(list(torch.utils.data.ChainDataset([]))))
    print(show((isinstance(np.float32(1.5), np.floating), isinstance(v[0], np.integer))))
    print(show((isinstance(v[0], (int, np.integer)), isinstance(a[0, 0], np.float64), isinstance("a", np.generic))))
    print(show(isinstance(a, np.generic)))
    print(show((np.add(a, 1, out=a)[0], np.exp(a, out=a).shape, np.add(1, v, where=v > 1, out=np.zeros(3)))))
    print(show(np.clip(v, min=2)))
    print(show((np.multiply.reduce([1, 2, 3]), np.add.reduce(a, axis=0), np.maximum.reduce(a, axis=(0, 1)))))
    print(show((np.maximum.accumulate(v), np.add.outer(v, v), np.logical_and.reduce([True, False]))))
    a, v = np.arange(12.0).reshape(3, 4), np.array([3, 1, 2])
    np.add.at(v, [0, 0, 2], [1, 1, 5])
    print(show(v))
    print(show((a.flags["C_CONTIGUOUS"], a.flags.writeable, a.T.flags.c_contiguous, a.diagonal(), a.trace())))
    print(show((a.conj().shape, a.copy(order="C").shape, v.tobytes()[:3])))

def modules():
    torch.manual_seed(0)
    x, y, i = torch.randn(3, 4), torch.rand(3, 4), torch.tensor([2, 0, 1])
    print(show(unicodedata.normalize("NFD", "Ślusàrski Ǖ ế") ))
    print(show("".join(c for c in unicodedata.normalize("NFD", "Ślusàrski ế") if unicodedata.category(c) != "Mn")))
    print(show((unicodedata.category("a"), unicodedata.category("1"), unicodedata.category("."))))
    print(show(unicodedata.category(" ")))
    print(show((ast.literal_eval("(0.9, -1, [1, 2], {'a': None, 'b': True})"), ast.literal_eval("'x'"))))
    print(show(ast.literal_eval("1e-3")))
    q = queue.PriorityQueue()
    q.put((2, "b"))
    q.put((1, "a"))
    print(show((q.get(), q.qsize(), q.empty())))
    q = queue.Queue(maxsize=1)
    q.put(1)
    print(show((q.full(), q.get_nowait(), q.empty())))
    with torch.random.fork_rng(devices=[]):
        z = torch.rand(1)
    print(show(z))
    print(show(torch.arange(5.0).index_copy(0, torch.tensor(1), torch.tensor([9.0]))))
    print(show(x.index_copy(0, torch.tensor(1), torch.ones(1, 4))))
    print(show(x.index_add(0, torch.tensor(1), torch.ones(1, 4))))


def layers():
    torch.manual_seed(0)
    i = torch.tensor([2, 0, 1])
    w = nn.Embedding(5, 2, sparse=True)
    opt = torch.optim.SparseAdam(list(w.parameters()), lr=0.1)
    for rows in (i, i[:1]):
        opt.zero_grad()
        (w(rows) ** 2).sum().backward()
        opt.step()
    print(show((w.weight.detach(), w.sparse)))
    bag = nn.EmbeddingBag(5, 2, mode="sum", sparse=True)
    bag(i, torch.tensor([0, 2])).sum().backward()
    torch.optim.SGD(bag.parameters(), lr=0.1).step()
    print(show(bag.weight.detach()))
    w = nn.Linear(3, 2)
    opt = torch.optim.Adafactor(w.parameters(), lr=0.1, weight_decay=0.1)
    for _ in range(3):
        opt.zero_grad()
        w(torch.ones(1, 3)).pow(2).sum().backward()
        opt.step()
    print(show((w.weight.detach(), w.bias.detach())))
    x = torch.arange(6.0).reshape(2, 3)
    print(show((x.mean([1], keepdims=True), torch.sum(x, axis=0, keepdims=True), x.amax(1, keepdims=True), x.max(1, keepdims=True)[1])))
    d = weakref.WeakKeyDictionary()
    d[w] = 1
    print(weakref.ref(w)() is w, len(d), torch.version.cuda)


def model():
    for part in (arrays, names, modules, layers):
        print(part.__name__)
        part()
