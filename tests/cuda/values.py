"""tests/cuda/values.py BINARY FOLDER [--every N [--first K]] [NAME] -- are the numbers of kernels for CUDA right?

Without a GPU: the stand-ins of FOLDER (emulator/) run generated CUDA C on the host.  Each
program runs on device cuda there, and on backend interp; what comes out must agree.  NAME: those that have it in their names.
With a GPU: FOLDER is the library path of CUDA, and the programs run there.
Skipped where this build has no backend cuda, or there is no C++ compiler.
"""
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import recurrent

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
from part import part  # noqa: E402


def tensor(*shape, dtype="float32", kind="randn", seed=1, **more):
    return {"random": {"shape": list(shape), "dtype": dtype, "kind": kind, "seed": seed, **more}}


def ints(*shape, high, low=0, seed=2, dtype="int64"):
    return tensor(*shape, dtype=dtype, kind="randint", low=low, high=high, seed=seed)


# name: (the results of model(a, b, c), its arguments)
PROGRAMS = {
    # In any order: in the memory of blocks, whole and in parts of lines; with all that lies together; one by one; of nothing; ints.
    "sums_in_any_order": ("torch.scatter_add(a, 0, b, c), torch.scatter_add(a.t(), 1, b.t()[:, :900], c.t()[:, :900]), torch.scatter_add(a[:7, :2], 0, (b % 7)[:, :2], c[:, :2]), torch.scatter_add(a[:7, :2].double(), 0, (b % 7)[:, :2], c[:, :2].double()), torch.scatter_add(a[:, :1], 0, b[:, :1], c[:, :1]), "
                          "torch.scatter_add(a.repeat(30, 1), 0, b[:50] * 3, c[:50]), torch.scatter_add(a[:, :6].long(), 0, b[:, :6] % 3, (c * 5).long()[:, :6]), torch.scatter_add(a.int(), 0, b, (c * 5).int()), 1 / torch.scatter_add(-torch.relu(a) * (a > 9), 0, b, c), "
                          "a.index_add(0, b[:700, 0], c[:700]), a.repeat(1, 4).index_add(0, b[:70, 0], c[:70].repeat(1, 4)), a[:, :13].index_add(0, b[:70, 0], c[:70, :13]), a.t().index_add(1, b[:70, 0], c[:70].t()), (a * 3).double().index_add(0, b[:70, 0], c[:70].double()), "
                          "a.long().index_add(0, b[:70, 0], (c[:70] * 5).long()), torch.zeros_like(a).index_put((b[:70, 0],), c[:70], accumulate=True), torch.scatter_add(a, 0, b[:0], c[:0]), torch.zeros(90, device=a.device).index_add(0, b[:, 0], c[:, 0]), torch.zeros(5, device=a.device).index_add(0, b[:, 0] % 5, c[:, 0]), "
                          "torch.bincount(b[:, 0] % 7), torch.scatter_add(a[:, :1].expand(90, 16) + 0, 0, b[:300, :1].expand(300, 16), c[:300])",
                          [tensor(90, 16), ints(9000, 16, high=90), tensor(9000, 16, seed=3)]),
    # Rows that lanes do not divide, with memory after each: found of, computed and stored, folded after it, with a vector of the last dim; gradients of scores.
    "rows_padded": ("F.cross_entropy(F.linear(a, b, b[:, 0]), c), F.linear(a, b).amax(-1), F.linear(a, b).float().softmax(-1).amax(-1), F.linear(a, b).float().sum(-1), F.linear(F.gelu(F.linear(a, b, b[:, 1])), b.t().contiguous()).float() / 100 + 20, "
                    "F.linear((torch.relu(F.linear(a, b)) * b[:, 2] + torch.arange(515, device=a.device) * 0.01).bfloat16(), b.t().contiguous()).float() / 100 + 20, gradients(a, b, b, c, loss=class_scores)",
                    [tensor(131, 64, dtype="bfloat16"), tensor(515, 64, dtype="bfloat16", seed=2), ints(131, high=515)]),
    # Elements that no vector holds, of which a thread has several: of one, two and four bytes, some of the last ones not there.
    "points_apart": ("a[:, 1:] * b[:, 1:] + 1, (a[:, 1:].half() + 1)[:, 1:] * b[:, 2:].half(), (a > 0)[:, 2:] & (b > 0)[:, 1:-1], a[:, 1:].double() - b[:, :-1]", [tensor(517, 520), tensor(517, 520, seed=2), tensor(1)]),
    "lookups": ("a[b], a[:, b], a.t()[b], torch.gather(a, 1, c), torch.index_select(a.t(), 0, c[0]), a[b, b], a.half()[b], a[-b - 1], a[b[:, :0]]",
                [tensor(9, 12), ints(2, 3, high=9), ints(9, 4, high=9)]),
    "lookups_wide": ("F.embedding(b, a), F.embedding(b, a[:, 1:]), a[1:][b], a.double()[b], F.one_hot(b, 64)",
                     [tensor(64, 32), ints(3, 5, high=60), tensor(1)]),
    # In the kernel of what reads them: for each point, for a row, for all; of several walks; of nothing; narrow.
    "lookups_fused": ("torch.gather(a, 1, c) * 2 + 1, torch.gather(a, 1, c).sum(1), torch.softmax(a[b] + 1, -1), (a[b] + a[0]).sum(1), (a[b] * 2).sum(0), F.embedding(b % 33, a) * a[0], "
                      "F.embedding(b % 33, a[:, 3:67]).relu(), torch.index_select(a, 1, c[0]) - 1, torch.index_select(a.t(), 0, c[1]).amax(0), a[b, b.abs()] * 3, a[b[:, :0]] + 1, torch.gather(a, 1, c[:, :1]) + a, "
                      "(a - torch.gather(a, 1, c[:, :1])).exp().sum(1), a.half()[b].float() + 1, (a > 0)[b] & (a < 1)[b], torch.gather(a[:0], 1, c[:0]) * 2, a[:, b] - a[:, :1, None], torch.index_select(a, 0, b[0].abs().int()) * 2, "
                      "torch.gather(a.t(), 0, c.t()).amax(1) + 1, a[torch.tensor(-3)] + a.sum(0), a[torch.tensor([[4, -1], [0, 7]])] * a[1], torch.gather(a, 1, c[:, :1]).sum() * 2, a.flip(0)[b] + a.flip(1)[b], "
                      "(torch.gather(a, 1, c) * torch.gather(a, 1, c + 1)).mean()",
                      [tensor(33, 70), ints(5, 7, high=33, low=-33), ints(33, 41, high=69)]),
    # Several lanes side by side, with an index of their own or one for all.
    "lookups_fused_wide": ("a[b] * 2, torch.gather(a, 1, c) * a, a[b][:, 1:] + 1, F.layer_norm(a[b] + a[0], (256,)), a.half()[b] * 2, (a[b] + 1).sum(1), (a[b] + 1).sum(0), a.t()[c[0]] - 1, "
                           "(a[b].view(3, 100, 256) * 2).permute(2, 0, 1).contiguous(), torch.softmax(torch.gather(a, 1, c), 1), a[b, :][:, ::2] * 2, a.double()[b] + 1, a[:, c[0]] * a, torch.gather(a, 0, (c * 2)) - a",
                           [tensor(512, 256), ints(300, high=512, low=-512), ints(512, 256, high=256)]),
    # Computed where they are read: rolls of rolls, pads of them, views of windows, sizes between pixels, a cat of all of these.
    "maps_fused": ("F.pad(torch.roll(a.flip(-1), 3, 1) * 2.0, (1, 1, 1, 1)), torch.roll(torch.roll(a, 2, 0), -3, 2) + 1, F.pad(F.pad(a, (2, 0)) + 1, (0, 3, 1, 0)), F.pad(torch.roll(a, -1, 1), (-1, 2, 0, -2)), "
                   "F.interpolate(b, scale_factor=2, mode='bilinear') * 0.3, F.interpolate(b, (7, 31), mode='bilinear', align_corners=True) + 1, F.interpolate(b.relu(), scale_factor=3) - 1, F.interpolate(b[0], scale_factor=2, mode='linear'), "
                   "(torch.roll(c, (-4, -2), (1, 2)).view(2, 3, 4, 2, 6, 5).permute(0, 1, 3, 2, 4, 5).contiguous() + 1.0), torch.roll(c, (1, 5), (1, 2)).transpose(1, 2) * 2, F.pad(b, (2, 3, 1, 1), mode='reflect') * 2, "
                   "F.pad(F.pad(b, (1, 2), mode='circular'), (0, 0, 1, 1)), torch.cat([torch.cat([a[:, :, :3], a.neg()], 2) * 2, F.pad(a, (1, 0))], 2), torch.cat([torch.cat([a, a * 2], 0), torch.roll(a, 1, 0)], 0).sum(2), "
                   "torch.index_select(torch.index_select(a, 2, torch.tensor([4, 0, 8, 4])), 2, torch.tensor([3, 3, 0, 2])) * 2, torch.index_select(torch.index_select(a, 1, torch.tensor([4, 0, 8, 4])), 2, torch.tensor([3, 3, 0, 2])) + a[:, :4, :4], torch.index_select(torch.sin(a) * a[0, 0], 1, torch.tensor([4, 0, 8, 4])), "
                   "torch.roll(a, (7, 1), (0, 2)).flip(0)[1:, ::2] * 3, F.pad((torch.roll(a, 1, 2) > 0), (1, 1)), F.pad(torch.roll((a * 9).long(), 1, 2), (1, 1), value=7), F.pad(torch.roll(a.half(), 1, 0), (0, 0, 2, 2), value=-math.inf), "
                   "F.interpolate(F.pad(a[None], (1, 1)), scale_factor=2, mode='bilinear').amax(3), F.pad(torch.roll(a[:0], 1, 1), (1, 1)), F.pad(torch.roll(a, 1, 2)[:, :, :0], (1, 1)), torch.roll(F.pad(a, (0, 1)), 2, 2).softmax(-1)",
                   [tensor(3, 9, 14), tensor(2, 3, 5, 13, seed=3), tensor(2, 12, 12, 5, seed=4)]),
    # Rows of 515 in 16 bits lie 520 apart where a product reads or writes them, and no view has to copy because of it; of many rows the product has 520 columns.
    "odd_rows": ("F.linear(a[:, :16], b[:, :16], b[:, 0]).float(), (torch.relu(a[:, :16] @ b[:, :16].t()) @ b).float(), F.linear(a.view(5, 8, 64)[..., :16], b[:, :16], b[:, 3]).relu().float().transpose(0, 1).sum(2), (a[:, :16] @ b[:, :16].t().contiguous()).float().softmax(-1), (F.linear(a, b) * 2).float().softmax(-1), F.linear(a, b, b[:, 0]).float().softmax(-1), F.linear(a.view(5, 8, 64), b, b[:, 3]).relu().float().transpose(0, 1).sum(2), F.linear(a, b, b.t()[2]) @ b, F.cross_entropy(F.linear(a, b).float(), c, reduction='none', label_smoothing=0.1), (a @ b.t()).float().logsumexp(-1), (torch.relu(a @ b.t()) @ b).float(), (torch.relu(a @ b.t()).view(5, 8, 515).transpose(0, 1) @ b).float(), ((a @ b.t() + 1).view(-1)[::3] * 2).float(), "
                 "(torch.relu(a @ b.t()).t() @ a).float(), ((a @ b.t())[:, 3:400] @ b[3:400]).float(), (a @ b.t()).t().float() + 1, (torch.sin(a @ b.t()) @ b).float() + (a @ b.t()).float().sum(), F.cross_entropy((a @ b.t()).float(), c), "
                 "[100 * t for t in gradients(a[:, :16], b[:, :16], b, c, loss=class_scores)], [100 * t for t in gradients(a[:, :60], b[:, :60], b, c, loss=class_scores)], torch.cat([torch.relu(a @ b.t()), a], 1).float()",
                 [tensor(40, 64, dtype="bfloat16"), tensor(515, 64, dtype="bfloat16", seed=3), ints(40, high=515)]),
    # By tiles of rows and of keys: parts of both, causal, masks of both kinds, a row without keys, other orders in memory, widths that fill no tile.
    "attention_gradients": ("gradients(a, b, b.flip(2), a.float().sin()), gradients(a, b, b * 0.5, a.float().sin(), None, True), gradients(a[..., 1:24], b[..., 1:24], b[..., :23], a[..., :23].float()), gradients(a, b, b, a.float(), c < (c[:, :1] - 1.5)), "
                            "gradients(a, b, b, a.float(), (c * 2).to(a.dtype)), gradients(torch.cat([a, a * 2], 3)[:, :, :9], torch.cat([b, b], 3)[:, :, :7], torch.cat([b, a[:, :, :90]], 3)[:, :, :7], torch.cat([a, a], 3)[:, :, :9].float()), "
                            "gradients(a[:, :1, :9].half().expand(3, 2, 9, 64), b[:, :, :5].half().expand(3, 2, 5, 64), b[:, :1, :5].half().expand(3, 2, 5, 64), a[:, :, :9].float())",
                            [tensor(1, 2, 130, 64, dtype="bfloat16"), tensor(1, 2, 90, 64, dtype="bfloat16", seed=3), tensor(130, 90, seed=5)]),
    "writes": ("torch.scatter(a, 1, b, c), torch.scatter(a, 0, b, 1.5), torch.scatter_add(a, 1, b, c), torch.scatter_add(a.t(), 0, b.t(), c.t()), "
               "put(a, b, c), torch.scatter_add(a.long(), 1, b, c.long()), torch.scatter_add(a.bfloat16(), 1, b, c.bfloat16())",
               [tensor(6, 8), ints(6, 8, high=6), tensor(6, 8, seed=3)]),
    "sums_of_many": ("torch.scatter_add(a, 0, b, c), torch.scatter_add(a[:1], 1, b[:1], c[:1]), torch.scatter_add(F.pad(a[:3], (0, 40000)), 1, b[:3] * 700, c[:3]), "
                     "torch.scatter_add(a[:, :9], 0, b[:20, :7], c[:20, :7]), torch.scatter_add(a[:, :6].long(), 0, b[:20, :6] % 3, c[:20, :6].long())",
                     [tensor(50, 2100), ints(70, 2100, high=50), tensor(70, 2100, seed=3)]),
    # Parts of a line apart; what no index names stays as it is, a zero's sign too.
    "sums_in_parts": ("torch.scatter_add(a, 0, b, c), 1 / torch.scatter_add(-torch.relu(a) * (a > 9), 0, b[:1000] // 2, c[:1000]), torch.scatter_add(a.t(), 1, b.t()[:, :300], c.t()[:, :300]), "
                      "torch.scatter_add(a.double(), 0, b, c.double()), torch.scatter_add(a.long(), 0, b, (c * 5).long()), torch.scatter_add(a.half(), 0, b[:50], c[:50].half())",
                      [tensor(50, 6), ints(1100, 6, high=50), tensor(1100, 6, seed=3)]),
    # Many places: those of a warp are often all different, and some are one.
    "sums_apart": ("torch.scatter_add(a, 0, b, c), torch.scatter_add(a.double(), 0, b, c.double()), torch.scatter_add(a.t(), 1, b.t() // 40 * 40, c.t()), torch.scatter_add(a.long(), 0, b, (c * 5).long()), "
                   "torch.scatter_add(a.half(), 0, b[:200], c[:200].half()), torch.scatter_add(a, 0, torch.arange(1100)[:, None].expand(1100, 5) % 900, c), 1 / torch.scatter_add(-torch.relu(a) * (a > 9), 0, b, c)",
                   [tensor(900, 5), ints(1100, 5, high=900), tensor(1100, 5, seed=3)]),
    # One index for a whole row: few rows of a place, crowds that a block sorts, and such that are looked for; along other dims, into a part.
    "sums_of_rows": ("a.index_add(0, b % 300, c), a.index_add(0, b % 300 // 60, c), torch.zeros(7, 40).index_add(0, b * 0 + 3, c), a.t().index_add(1, b[:200] % 300, c[:200].t()), (a * 4).round().half().index_add(0, b % 300, (c * 4).round().half()).float(), "
                     "a.double().index_add(0, b % 7, c.double()), a.long().index_add(0, b % 300, (c * 5).long()), a[:, None].repeat(1, 5, 1).index_add(0, b[:130] % 300, c[:130, None].expand(130, 5, 40)), 1 / (-torch.relu(a) * (a > 9)).index_add(0, b[:200] % 150, c[:200]), "
                     "torch.scatter_add(a, 0, (b % 300)[:, None].expand(5000, 34), c[:, :34]), a.index_put((b % 300,), c, accumulate=True), a.view(30, 10, 40).index_put((b % 30, b % 7), c, accumulate=True), a.index_add(0, torch.arange(300) % 2, c[:300])",
                     [tensor(300, 40), ints(5000, high=600), tensor(5000, 40, seed=3)]),
    # Few rows of a place: teams of lanes, and lists that are longer than a team, or crowds; rows of several tiles; 16 bytes of each dtype.
    "sums_of_rows_wide": ("a.index_add(0, b[:2000] % 300, c), a.index_add(0, b[:900] % 300 // 30, c[:900]), a.index_add(0, b[:2000] * 0 + 3, c), 1 / (-torch.relu(a) * (a > 9)).index_add(0, b[:200] % 150, c[:200]), torch.zeros(300, 40).index_add(0, b[:200] % 300, c[:200]), "
                          "(a * 4).round().half().index_add(0, b[:900] % 300, (c[:900] * 4).round().half()).float(), a.double().index_add(0, b[:300] % 7 + b[:300] // 7 % 250, c[:300].double()), a.long().index_add(0, b[:300] % 300, (c[:300] * 5).long()), "
                          "a.repeat(1, 5).index_add(0, b[:900] % 300, c[:900].repeat(1, 5)), a[:, :36].index_add(0, b[:200] % 300, c[:200, 4:]), torch.zeros_like(a).index_put((b[:700] % 300,), c[:700], accumulate=True), (a * 2).index_add(0, b[:200] % 300, c[:200]), a.scatter(0, b[:40, None].expand(40, 40) % 300, c[:40]) * 1",
                          [tensor(300, 40), ints(2000, high=600), tensor(2000, 40, seed=3)]),
    # Threads that all have points, and such that have none.
    "shares": ("torch.softmax(a, 1), torch.softmax(a[:, :1000], 1), a[:, :256].sum(1), a[:, :0].sum(1), a[:5].sum(0), a[:5, :33].sum(0), a[:5, :0].sum(0), F.layer_norm(a, (1024,), b, b + 1), "
               "a[:3, :64].amax(1), a[:4].sum(), a[:0].sum(1), a * 2.5 - b, a[:7, :99] * 2.5",
               [tensor(64, 1024), tensor(1024, seed=4), tensor(1)]),
    # A block on CUDA casts where tensors lie on a GPU, one on the CPU where they do not; by the device's own table.
    "autocast": ("blocks(a, c)", [tensor(6, 6), tensor(1), tensor(6, 6, seed=3)]),
    # Where a tensor is, as the program asks: 1 for each right answer.
    "devices": ("placed(a)", [tensor(2, 3), tensor(1), tensor(1)]),
    # Kernels that keep what they read, of nothing.
    "no_elements": ("a * 0.5 + a.sum() * 0.1, (b * 0.5 + b.sum() * 0.1).sum(), torch.log_softmax(a, 1).sum(), (c - c.sum(0)).sum(), (c - c.sum(1, keepdim=True)).sum(1), F.layer_norm(c, (0,)).sum(), "
                    "torch.softmax(c, 1).sum(), a.double().std(1).sum(), a.half().sum(0) + a.sum(), (a[:, :0] * 2).sum(0).sum()",
                    [tensor(0, 4), tensor(0, dtype="bfloat16"), tensor(3, 0)]),
    # Several blocks to a row, or to columns, with one sum or two.
    "splits": ("a.sum(0), a.amax(0), a.sum(), a.amax(), a.mean() + (a * a).mean(), b.float().sum(1), b.amin(1), a.sum(0) + (a * 2).amax(0), (b > 8).any(1), b.sum(1)",
               [tensor(20000, 8), ints(2, 30000, high=9), tensor(1)]),
    "scans": ("torch.cumsum(a, 1), torch.cumsum(a, 0), torch.cumprod(a, 1), torch.logcumsumexp(a, 1), torch.cumsum(b, 1), torch.cumsum(c, 2), "
              "torch.cummax(b, 1)[0], torch.cummax(b, 1)[1], torch.cummin(a.t(), 0)[1], torch.cumsum(a.half(), 1), torch.cumsum(a > 0, 1)",
              [tensor(5, 700), ints(5, 90, high=7), tensor(2, 3, 40)]),
    # In the kernel that walks their rows: short ones, several steps, edges, before and after what folds; two, others' dims and dtypes.
    "scans_fused": ("torch.cumsum(a * 0.5, -1), torch.cumsum(a, 1) + 1, torch.cumsum(torch.softmax(a, 1), 1), torch.cumsum(a - a.mean(1, keepdim=True), 1).amax(1), torch.cumsum(a[:, :5] * 2, 1), torch.cumsum(a[:, :40] + 1, 1) * 2, "
                    "(torch.cumsum(a, 1) * a).sum(1), torch.cumsum(torch.cumsum(a * 0.1, 1), 1), torch.cumsum(a * 2, 0), torch.cumsum((a * 2).half(), 1), torch.cumsum(b * 2, 1), torch.cumsum(c * 0.1, 2) - c, torch.cumsum(c.amax(1) * 2, -1), "
                    "torch.cumsum(a[:, :0] * 2, 1), torch.cumsum(a[:0] * 2, 1), torch.cumsum(a[:1, None, :1] * 2, 2), torch.cumsum(a[0] * 3, 0), torch.cumsum(a.t()[:70] * 2, 1), torch.softmax(torch.cumsum(a * 0.01, 1), 1), torch.cumsum(a[:, :1] + c[0, 0], 1)",
                    [tensor(5, 2900), ints(5, 90, high=7), tensor(20, 300, 40)]),
    # Lines that take the largest blocks.
    "scans_long": ("torch.cumsum(a.exp(), 1) / 100, torch.logcumsumexp(a, 1), torch.cumsum(b, 1), torch.cummax(a, 1)[0], torch.cummax(b, 1)[1], torch.cumsum(a.double(), 1) / 100, torch.argmax(a, 1)",
                   [tensor(2, 20000), ints(2, 20000, high=7), tensor(1)]),
    "extremes": ("torch.argmax(a), torch.argmax(a, 1), torch.argmin(a, 0), torch.argmax(b, 1), torch.argmin(b.t()), torch.argmax(c, 1), torch.argmax(a * math.nan, 1), torch.argmin(torch.where(a > 1, math.nan, a), 1), "
                 "torch.argmax(torch.relu(a), 1), torch.argmin(torch.relu(a).half(), 0), torch.argmax(a[:, 1:], 1), torch.argmax((a[0] > 1e9).to(torch.int8) - 128), "
                 "torch.argmax(F.pad(a, (0, 9000)), 1), torch.argmin(a.repeat(200, 1), 0), torch.argmax((b - 2).double(), 1), torch.argmin((b - 9) * 3000000000)",
                 [tensor(6, 500), ints(4, 300, high=5), tensor(3, 4, 9, dtype="float64")]),
    # Found on the way of what walks rows or columns: of any dim and all, with the value and without, after steps, of equals, NaN
    # and what is worst, in few long columns, in short rows, in several rows of a thread and in lanes side by side.
    "searches": ("c.argmax(1), c.argmin(1), c.max(1), c.min(0), c.argmax(2), c.argmax(), c.permute(2, 0, 1).argmax(1), c.permute(2, 0, 1).argmin(), c.argmin(-1, keepdim=True), c.half().max(1), c.bfloat16().argmin(0), c[:, :5].argmax(1), c[..., :3].argmax(2), "
                 "(c * 0).argmax(1), (c - math.inf).argmax(1), (c + math.inf).argmin(0), torch.where(c > 0.5, math.nan, c).argmax(1), torch.where(c > 0.5, math.nan, c).min(1)[1], torch.where(c > 0, 0.0, -0.0).argmax(2), torch.where(c > 1, c, -math.inf).argmax(1), "
                 "a.argmax(0), a.min(0), a[:, :2].argmin(0), a.argmax(1), a.argmax(), (a[:, 0] * -1).argmax(0), a[:, 0].argmin(), (a - a.mean(0)).abs().argmax(0), torch.softmax(c, 1).argmax(1), (c - c.amax(2, keepdim=True)).exp().argmin(2), a.sum(0).argmax(), "
                 "b.float().argmax(1), b.argmax(1), b.int().argmax(0), (b > 4).float().argmax(1), c.exp().argmax(1) * 2 + 1, c.flip(1).argmax(1), c[:, 3:9].argmax(1), c[:, ::2].argmax(1), c[:, :1].argmax(1), a[:9000, :1].expand(9000, 4).argmax(1), "
                 "F.one_hot(c.argmax(1), 40), a.double().argmax(0), c.max(1).indices + c.min(1).indices, c.amax(1) + c.argmax(1), a[:4096].view(512, 64).argmax(1), torch.gather(c, 1, c.argmax(1, keepdim=True)), c.topk(1, 1)[1], a.half()[:8192].view(256, 256).max(1)",
                 [tensor(20000, 8), ints(50, 700, high=9), tensor(6, 40, 37)]),
    # Rows that no vector divides, of a block's in shared memory: the last block has few, of 32, 16 and 8 bits beside each other, what
    # all rows share, what begins in the middle of a vector, what is folded and found.
    "rows_staged": ("torch.log_softmax(a, 1), a.square().sum(1), a.max(1), torch.relu(a - a.masked_fill(c, -1e4).amax(1, keepdim=True)).sum(1), (a[3:] + 1).sum(1), (a[4:] * b).amin(1), (a.bfloat16() * 2).float().square().sum(1), c.any(1)",
                    [tensor(17003, 37), tensor(37, seed=3), tensor(17003, 37, dtype="bool", kind="randint", low=0, high=2)]),
    "rows_staged_long": ("a.float().square().sum(1), (a + b).amax(1), a - a.amax(1, keepdim=True)", [tensor(2147, 333, dtype="bfloat16"), tensor(333, dtype="bfloat16"), tensor(1)]),
    "sorts": ("torch.sort(a, 1)[0], torch.sort(a, 1)[1], torch.sort(a, 0, descending=True)[1], torch.sort(b, 1)[1], torch.sort(b, 1, descending=True)[1], "
              "torch.topk(a, 3, 1)[0], torch.topk(a, 3, 0, largest=False)[1], torch.sort(torch.where(a > 1, math.nan, a), 1)[1], torch.sort(a.half(), 1)[0], torch.sort(a.double(), 1)[1], torch.sort((b - 4).int(), 1, descending=True)[0], torch.sort(a > 0, 1)[1], "
              "torch.sort(torch.where(a > 1, math.nan, a), 1, descending=True)[1], torch.sort(torch.where(a > 0, -math.inf, a * 0), 1)[1]",
              [tensor(6, 77), ints(4, 100, high=9), tensor(1)]),
    "sorts_long": ("torch.sort(a)[0], torch.sort(b)[1], torch.topk(a, 9)[0], torch.sort(c, 1, descending=True)[1], torch.sort(a.double())[1], torch.sort(c.t(), 0)[0], "
                   "torch.sort(b.int(), descending=True)[0], torch.sort((b - 25).to(torch.int8))[1], torch.sort(a.half())[0], torch.sort(-torch.relu(a))[0], "
                   "torch.topk(torch.where(a > 2, math.nan, a), 70)[1], torch.sort(b - 25)[0]",
                   [tensor(5000), ints(2500, high=50), tensor(2, 2049)]),
    # A warp's: lines as long as it has room for, of bytes too, and zeros of both signs.
    "sorts_short": ("torch.sort(a, 1)[0], torch.sort(a, 1)[1], torch.sort(a[:, :64], 1, descending=True)[0], torch.sort(1 / torch.sort(-torch.relu(a[:, :300]), 1)[0], 1)[0], "
                    "torch.sort(b.to(torch.int8), 1)[1], torch.sort(b.to(torch.uint8) + 250, 1)[0], torch.sort(a[:, :900].bfloat16(), 1, descending=True)[1], torch.topk(a[:, :1].t(), 1)[0], "
                    "torch.sort(a.double()[:, :200], 1)[0], torch.sort(b.int() * 70000000, 1)[0]",
                    [tensor(3, 1024), ints(5, 40, high=30, low=-30), tensor(1)]),
    "windows": ("F.max_pool2d(a, 3, 2, 1), F.avg_pool2d(a, 3, 2, 1), F.avg_pool2d(a, (2, 3), count_include_pad=False), F.max_pool2d(a, 3, 1, 1, 2), "
                "F.adaptive_avg_pool2d(a, 5), F.adaptive_max_pool2d(a, (3, 4)), F.unfold(a, 3, 1, 1, 2), F.max_pool2d(a.transpose(2, 3), 2), F.avg_pool2d(a.bfloat16(), 2)",
                [tensor(2, 3, 11, 13), tensor(1), tensor(1)]),
    # Squares of two dims that pass through shared memory: at edges, with dims beside, in pairs of narrow elements, and stores among them.
    "turned": ("a.t() + b, a.t() * 2 - b * a.t(), (a.t()[:, :130].bfloat16() + b[:, :130].bfloat16()), c.permute(0, 3, 1, 2).contiguous(), c.permute(2, 0, 3, 1) * 2, "
               "c.half().transpose(1, 3) + 1, torch.relu(c.transpose(1, 2)).contiguous(), (a.t() + b, (a.t() - b).t().contiguous()), a.t()[::2] + b[::2], a.double().t().contiguous(), (a > 0).t() & (b > 0), "
               "a.flip(0).t() + b",
               [tensor(150, 131), tensor(131, 150, seed=3), tensor(4, 36, 34, 40, seed=4)]),
    # Kernels that store 16 bits alone have shorter words.
    "narrow": ("torch.tanh(a), torch.tanh(a * 0.01), torch.tanh(a * 90), (a / b), F.silu(a), torch.softmax(a, 1), torch.rsqrt(a.abs() + 0.5), torch.sqrt(a.abs()), F.rms_norm(a, (40,)), "
               "F.gelu(a, approximate='tanh'), F.gelu(b.half() * 9, approximate='tanh'), torch.sigmoid(a), torch.sigmoid(a * 90), F.gelu(b.half()), F.layer_norm(b.half(), (40,)), (a * 1e38 / (b * 1e38)), torch.tanh(b).half(), a.float() / b.float(), torch.exp(a), torch.exp(a * 30), (a.float() * 3 / 3).floor().bfloat16(), torch.where(a.float() * 3 / 3 >= a.float(), 1.0, 0.0).bfloat16()",
               [tensor(30, 40, dtype="bfloat16"), tensor(30, 40, dtype="bfloat16", seed=3), tensor(1)]),
    # A few of long lines, many alike, more alike than there is room for, and all orders; with and without places.
    "few_of_many": ("torch.topk(a, 5), torch.topk(a, 50, 1, False), torch.topk(b, 7)[1], torch.topk(b, 300, 1, False), torch.topk((a > 9).long().int(), 9), torch.topk(a.t(), 3, 0), torch.topk(a.bfloat16(), 40), "
                    "torch.topk(torch.sort(a, 1)[0], 20), torch.topk(torch.sort(a, 1, True)[0], 20), torch.topk(a[:1], 1024)[0], torch.topk(a / (a > 0), 9)[0]",
                    [tensor(3, 5000), ints(2, 6000, high=40, dtype="int32"), tensor(1)]),
    # What is done to parts comes after their cat; parts that are whole runs of lanes, and parts that are not.
    "cats_of_steps": ("torch.cat([-a[..., 20:], a[..., :20]], -1) * 2, torch.cat([torch.relu(a), torch.sigmoid(a * 2), a.tanh()], 1), torch.cat([torch.relu(a), torch.relu(a + 0)], 0), F.pad(torch.relu(a), (1, 2)), "
                      "torch.cat([a.bfloat16().neg(), a.bfloat16()], 2), torch.cat([a * 2, a * 3, a * 2], 1), torch.cat([b, -b]), torch.cat([a[:, :3].exp(), a[:, 3:].exp()], 1), torch.cat([b.float(), -b.double()])",
                      [tensor(6, 70, 40), tensor(1001), tensor(1)]),
    # Columns of few rows side by side; long columns and rows of several walks, which few blocks would have.
    # Each place of a stack computes its part: of parts that share operands, are broadcast, are no op, differ; of places that are in no order.
    "stacks": ("torch.stack([a * b - c, a * c + b], -1).flatten(-2), torch.stack([a[..., 0::2] * b[:, :20] - a[..., 1::2], a[..., 0::2] + a[..., 1::2] * b[:, :20]], -1).flatten(-2), torch.stack([a.sin(), b.expand(6, 70, 40) + 0, c], 1), torch.stack([a, a * 2, b + a, (a > c).float()], 0), "
               "torch.stack([(a * b).bfloat16(), (a - c).bfloat16()], -1) * 2, torch.stack([a + 1, a], -2).sum(-1), torch.softmax(torch.stack([a * b, b - a], -1), -1), torch.stack([a.transpose(1, 2) * 2, a.transpose(1, 2) + 1], -1), torch.cat([(a * b).unsqueeze(2), (c + b).unsqueeze(2)], 2), "
               "torch.stack([(a.softmax(-1) * b), a.amax(-1, keepdim=True) + b], -1), torch.stack([a * 2, torch.stack([a, b - a], 0).sum(0)], -1), torch.stack([(a * 5).long() + 1, (b * 7).long().expand(6, 70, 40)], -1), torch.stack([a[:0] * 2, a[:0] + 1], -1)",
               [tensor(6, 70, 40), tensor(70, 40, seed=2), tensor(6, 70, 40, seed=3)]),
    # Columns that threads keep: of whole blocks and of others, of one thread and of many, of two inputs; what is found of them in order.
    "columns_kept": ("torch.softmax(a, 1), torch.log_softmax(a[:, :, :128], 1), torch.softmax(a[:, :20], 1), (a - a.mean(1, keepdim=True)) / (a.std(1, keepdim=True) + b[0].abs()), torch.softmax(b, 0), F.normalize(a, dim=1), (a * b[:21] - (a * b[:21]).amax(1, keepdim=True)).exp().sum(1), "
                     "torch.softmax(a.bfloat16().float(), 1), a.max(1), torch.softmax(a[:, :1], 1), torch.softmax(a.permute(0, 2, 1)[:, :, :3], 1), torch.softmax(c, 1), (c - c.mean(1, keepdim=True)).square().sum(1)",
                     [tensor(3, 21, 333), tensor(70, 333, seed=2), tensor(200, 40, 260, seed=3)]),
    "few_blocks": ("a.unfold(1, 8, 4).mean(-1), a.view(30, 5, 200).amax(1), (b - b.mean(0)) / (b.std(0) + 1e-5), b.var(0), torch.softmax(b.view(2, -1), 1), torch.softmax(c, 1), torch.softmax(c[:, :250], 1)",
                   [tensor(30, 1000), tensor(5000, 14), tensor(8200, 256)]),
    "narrow_rows": ("torch.softmax(a, 1), torch.softmax(a[:, :200].masked_fill(b, -1e4), 1)", [tensor(8200, 256, dtype="bfloat16"), tensor(8200, 200, dtype="bool", kind="randint", low=0, high=2), tensor(1)]),
    # A filter of each channel's own, in pieces of a plane and over its edges; several filters a channel; narrow, where a sum
    # of float32 in another order may round to the next number.
    "own_filters": ("F.conv2d(a, b, c, 1, 3, 1, 6), F.conv2d(a, b[:, :, :3, :5], None, 2, (1, 2), 1, 6), F.conv2d(a[:, :3], b, None, 1, 0, 1, 3), F.conv1d(a[:, :, 0], b[:, :, 0], c, 3, 1, 1, 6), "
                    "F.conv2d(a.transpose(2, 3), b, None, (1, 2), 3, 1, 6), F.conv2d(a, b[:, :, :2], None, 1, 1, 2, 6)",
                    [tensor(2, 6, 19, 70), tensor(6, 1, 7, 7, seed=3), tensor(6, seed=4)]),
    "own_narrow_filters": ("F.conv2d(a.bfloat16(), b.bfloat16(), None, 1, 3, 1, 6), F.conv2d(a.half(), b.half(), None, 1, 3, 1, 6)",
                           [tensor(2, 6, 19, 70), tensor(6, 1, 7, 7, seed=3), tensor(1)]),
    "convolutions": ("F.conv2d(a, b, None, 1, 1), F.conv2d(a, b, c, (2, 1), 0, 2), F.conv2d(a, b[:, :2], None, 1, (0, 2), 1, 2), F.conv2d(a.double(), b.double()), "
                     "F.conv2d(a.transpose(2, 3), b.transpose(2, 3)), F.conv1d(a[:, :, 0], b[:, :, 0])",
                     [tensor(2, 4, 9, 10), tensor(6, 4, 3, 3), tensor(6)]),
    # Rows of one operand meet rows of another: whole squares and edges, a batch, strides, few points and odd ones, more loads than there is room for.
    "pairs": ("torch.sqrt(((a[:, None] - b[None]) ** 2).sum(-1)), (a.unsqueeze(1) - b).abs().sum(-1) * 0.5 + a[:, :1], (a[:, None, :3] - b[None, :, :3]).abs().amax(-1), "
              "(a.t()[:64, None, :77] * b.t()[:64]).sum(-1), (a[:, None, ::2] * b[:, ::2]).sum(-1), (a[:, None].float() * b + 1.5).amin(2), "
              "((c[:, :, None] - c[:, None]) ** 2).sum(-1), (c[:, :, None] * b[None, None, :70, :33]).sum(-1), torch.exp(-((a[:, None, :32] - b[:, :32]) ** 2).sum(-1) * 0.01), "
              "(a[:, None] * b + (a * 2 + 1)[:, None]).sum(-1), (torch.relu(a[:, None] - b) * a[0] * b[0] * a[1] * b[1] * a[2]).sum(-1), ((a[:, None] - b) * a[:, None, :1]).sum(-1)",
              [tensor(130, 65), tensor(77, 65, seed=3), tensor(3, 70, 33, seed=4)]),
    "waves": ("torch.sin(a), torch.cos(a * 100), torch.sin(a * 1e5), torch.cos(a * 1e6), torch.sin(a * 3e37), torch.cos(-a * 1e30), torch.sin(b), torch.cos(b), "
              "torch.sin(torch.sin(a) * 1.1), torch.cos(torch.sigmoid(a) + 0.4), torch.cos(torch.relu(torch.cos(a) - 0.2)), torch.cos(torch.exp(torch.sin(a)) * 2), "
              "torch.sin(torch.tanh(b) * 3), torch.sigmoid(a * 60), torch.sigmoid(b), torch.sin(a * 0.5).sum(), torch.cos(a).mean(1), torch.erf(a), torch.erf(b), "
              "[((torch.erf(x).double() / torch.erf(x.double()) - 1).abs() < 1.5e-7).all() for x in (a, a * 0.2, a * 1e-3, a * 1e-30)], "
              "[((f(x).double() / f(x.double()) - 1).abs() < 2.5e-7).all() for f, x in ((torch.exp, a), (torch.exp, a * 10), (torch.sin, a), (torch.sin, a * 3000), (torch.cos, a), (torch.cos, a * 3000))], "
              "[((f(x).double() / f(x.double()) - 1).abs() < 2.5e-7).all() for f in (torch.sin, torch.cos) for x in (a * 1e5, a * 1e9, a * 1e22, a * 3e37)]",
              [tensor(80, 1024), {"tensor": {"shape": [6], "dtype": "float32", "data": [0.0, -0.0, "inf", "-inf", "nan", 16384.0]}}, tensor(1)]),
    "created": ("torch.arange(2, 30, 3) + a[0, 0].long(), torch.arange(0.0, 1.0, 0.125), torch.linspace(-1, 2, 7), torch.eye(4, 6), torch.tril(a, -1), torch.triu(a.t(), 1), "
                "torch.tril(b > 1), torch.arange(6.0).half()",
                [tensor(7, 9), ints(3, 4, 5, high=3), tensor(1)]),
    # Filters turned around: their phases, and of gradients.
    "convolutions_turned": ("F.conv_transpose2d(a, b, c, 2, 1, 1), F.conv_transpose2d(a, b), F.conv_transpose2d(a, b[:, :, :2, :2], None, 2), F.conv_transpose1d(a[:, :, 0], b[:, :, 0], c, 3, 1), F.conv_transpose2d(a, b, c, 1, 1), "
                            "torch.autograd.grad(F.conv2d(a.requires_grad_(), b.requires_grad_().transpose(0, 1), None, 2, 1).square().sum(), (a, b))",
                            [tensor(2, 4, 7, 6), tensor(4, 5, 3, 3, seed=2), tensor(5, seed=3)]),
    # Gradients in calls of their own: groups, steps that leave elements out, one dim, one sample; of transposed ones too.
    "convolutions_back": ("torch.autograd.grad(F.conv2d(a.requires_grad_(), b.requires_grad_(), None, (2, 1), (1, 2), (1, 2), 2).square().sum(), (a, b)), torch.autograd.grad(F.conv2d(a.requires_grad_(), b.requires_grad_(), c, 3, 1, 1, 2).sum(), (a, b)), "
                          "torch.autograd.grad(F.conv1d(a.requires_grad_()[:, :, 0], b.requires_grad_()[:, :, 0], None, 2, 1, 1, 2).square().sum(), (a, b)), torch.autograd.grad(F.conv2d(a.requires_grad_()[0], b.requires_grad_(), None, 1, 1, 1, 2).square().sum(), (a, b)), "
                          "torch.autograd.grad(F.conv_transpose2d(a.requires_grad_(), b.requires_grad_()[:4], None, (2, 3), (1, 0), (1, 2), 2, (1, 2)).square().sum(), (a, b)), F.conv_transpose2d(a.double(), b[:4].double(), None, 2, 0, 0, 2), "
                          "torch.autograd.grad(F.conv2d(a.requires_grad_(), b.requires_grad_()[:4, :1], None, 1, (1, 2), 1, 4).square().sum(), (a, b)), torch.autograd.grad(F.conv2d(a.requires_grad_(), b.requires_grad_()[:4, :1], None, (1, 2), 3, 1, 4).square().sum(), (a, b)), "
                          "torch.autograd.grad(F.conv2d(a.requires_grad_().transpose(2, 3), b.requires_grad_().transpose(2, 3), None, 1, 0, 1, 2).square().sum(), (a, b))",
                          [tensor(2, 4, 7, 6), tensor(6, 2, 3, 3, seed=2), tensor(6, seed=3)]),
    # Rows that are short have several to a thread, and those that no vector divides several loads.
    "rows_short": ("a.sum(1), a[:, :13].sum(1), (a * 2).amax(1), torch.softmax(a, 1), torch.softmax(a[:, :13], 1), F.layer_norm(a, (16,), b, b + 1), a.half().sum(1), (a > 0).sum(1), a[:32765].sum(1) + a[:32765, 0], a.view(4096, 8, 16).sum(1), "
                   "c.sum(1), (c * 2).amax(1), torch.softmax(c, 1), c[:, :49].mean(1), c[:1025].double().sum(1), (c - c.mean(1, keepdim=True)).square().sum(1)",
                   [tensor(32768, 16), tensor(16, seed=4), tensor(1100, 1023, seed=3)]),
    # Views of parts and of what is broadcast, in the kernel that reads them; copies that reshape would make.
    "views_inside": ("overlaps(a[:, :4], b), F.pixel_shuffle(c, 2) * 0.5 + a[:4, :1, None], F.pixel_shuffle(c, 4).relu() - 1, F.pixel_unshuffle(c, 2) * 2, F.max_pool2d(F.relu(c), 3, 2, 1), F.max_pool2d(F.relu(c) + 0, 2), F.adaptive_max_pool2d(F.relu(c), 3), "
                     "[x * 2 for x in F.silu(a + a[0]).chunk(2, 1)], (c.transpose(1, 3).reshape(2, 20, -1) + 1).sum(2), (c * a[0, 0] + a[:16, 0, None, None]).permute(0, 2, 3, 1)[:, 1:, ::2] * 2, F.pixel_shuffle(c.half(), 2) + 1, (c.transpose(2, 3).flatten(1) * 2).flip(1)",
                     [tensor(150, 8), tensor(77, 4, seed=3), tensor(2, 16, 36, 20, seed=4)]),
    "losses": ("F.cross_entropy(a, b), F.cross_entropy(a, b, reduction='none'), F.cross_entropy(a, b, label_smoothing=0.1), F.nll_loss(a, b, ignore_index=2), "
               "F.cross_entropy(a, b, c.abs()), F.cross_entropy(a.reshape(5, 7, 4)[:, :, :], b.reshape(5, 4)), F.nll_loss(a, b, reduction='sum')",
               [tensor(20, 7), ints(20, high=7), tensor(7)]),
    # Losses that several blocks add up, in order: of planes, with weights, of what is ignored; a second time in the same memory.
    "losses_many": ("F.cross_entropy(a, b), F.cross_entropy(a, b, c, reduction='sum', ignore_index=2) / 1000, F.nll_loss(a * 2, b), F.cross_entropy(a, b, label_smoothing=0.1), F.cross_entropy(a[:1], b[:1]), F.cross_entropy(a.bfloat16(), b, label_smoothing=0.2, reduction='none')",
                    [tensor(3, 5, 90, 41), ints(3, 90, 41, high=5), tensor(5, kind="rand")]),
    "products": ("a.long() @ a.t().long(), torch.einsum('ij->j', a), torch.einsum('ij,ik->jk', a, a), torch.einsum('ij,jk->ki', a, b), torch.einsum('ii->i', b), "
                 "torch.einsum('ij,kj->ik', a[:, ::2], b[:, ::2]), c @ c.transpose(1, 2), a.half() @ b.half(), a.bfloat16() @ b.bfloat16()",
                 [tensor(5, 8), tensor(8, 8), tensor(2, 3, 4)]),
    # In one call of cuBLASLt each, but where something else is after the product.
    # Rows and columns of several dims that no one step walks: the channels of a picture are summed.
    "linears_of_pictures": ("F.linear(a.permute(0, 2, 3, 1), b, c), F.linear(a.flatten(2).transpose(1, 2), b, c) * 2, F.linear(a.permute(0, 3, 2, 1)[:, 1:], b), a.flatten(2).transpose(1, 2) @ b.t(), F.linear(a[:, :, ::2].permute(0, 2, 3, 1), b, c).relu(), "
                            "torch.einsum('bchw,oc->bohw', a, b), torch.einsum('bchw,bchv->bwv', a, a[..., :3]), F.linear(a[:0].permute(0, 2, 3, 1), b, c)",
                            [tensor(3, 8, 6, 5), tensor(16, 8, seed=2), tensor(16, seed=3)]),
    "linears": ("F.linear(a, b, c), a + F.linear(a, b + 1, c), F.linear(a, b + 2, c) + a, F.linear(a.reshape(2, 3, 8), b + 3, c), a @ (b + 4) + a, "
                "(a @ (b + 5).t() + c).relu(), F.linear(a, b + 6, c) * 2, F.linear(a[:, 1:], b[:, 1:], c), F.linear(a[:, :4], b[:, :4], c)",
                [tensor(6, 8), tensor(8, 8), tensor(8)]),
    "rows": ("torch.softmax(1.5 * a, -1), F.layer_norm(a, (1024,)), a * torch.rsqrt((a * a).mean(-1, keepdim=True) + 1e-6), F.gelu(a + b) * 0.5, torch.softmax(c, 0), "
             "torch.amax(a, 1), torch.amin(a, 0), torch.amax(torch.where(a > 3, math.nan, a), 1), torch.amin(torch.where(a > 3, math.nan, a), 0), torch.amin(c)",
             [tensor(70, 1024), tensor(1024), tensor(40, 30)]),
}
# Channels lie last between convolutions of 16 bits: through sums, windows by two, a pool in the middle, means, views and outputs of what lies so.
PROGRAMS["channels_last"] = (
    "chain(a, b, c, 1), chain(a, b, c, 2).mean((2, 3)), F.conv2d(F.relu(a + 1), c).relu().mean(3).mean(2), F.max_pool2d(chain(a, b, c, 1), 2), chain(F.max_pool2d(chain(a, b, c, 1), 2).relu(), b, c, 1), chain(a, b, c, 1).permute(0, 2, 3, 1).reshape(2, -1, 16) @ c[:, :, 0, 0].float().bfloat16(), "
    "torch.cat([chain(a, b, c, 1), a], 1), F.group_norm(chain(a, b, c, 1), 4), chain(a, b, c, 1).flatten(1) * 2, chain(a, b, c, 1)[:, 3:5], chain(a, b, c, 1).sum(1), chain(a, b, c, 1).sum(), chain(a.half(), b.half(), c.half(), 1), "
    "F.conv2d(F.max_pool2d(F.conv2d(a, b, None, 1, 1) + 1, 3, 2, 1).relu(), c).mean((2, 3)), F.max_pool2d(F.conv2d(a[:, :3], b[:, :3], None, 1, 1), (2, 5), 3) * 2, F.conv2d(F.conv2d(a[:, :3], b[:, :3]).relu(), b), "
    "F.conv2d(torch.cat([a, a + 1, a * 2], 1), torch.cat([b, b.flip(0), b], 1), None, 1, 1).relu().mean((2, 3)), F.conv2d(F.relu(torch.cat([a] * 40, 1) * c[:1, :1]), torch.cat([b * 0.1] * 40, 1)), "
    "F.interpolate(chain(a, b, c, 1), scale_factor=2), F.adaptive_avg_pool2d(chain(a, b, c, 1), 1).flatten(1), chain(a, b, c, 1) + chain(a * 2, b, c, 1).amax((2, 3), keepdim=True)",
    [tensor(2, 16, 9, 7, dtype="bfloat16"), tensor(16, 16, 3, 3, dtype="bfloat16", seed=2), tensor(16, 16, 1, 1, dtype="bfloat16", seed=3)])
# Large enough that cuBLASLt's ways are tried: the stand-in's second is the faster one.
PROGRAMS["linears_tried"] = ("F.linear(a, b, c), (a @ b.t() + c).relu(), F.linear(a, b, c) * 2, F.linear(a.half(), b.half()).float()", [tensor(128, 64), tensor(128, 64), tensor(128)])
# Narrow linear layers: one call each, but where memory is strided (a product, then a kernel).
PROGRAMS["linears_narrow"] = (
    "linear(a, b, c), linear(a.reshape(2, 3, 8), b, c) + 1, linear(a[:, 1:], b[:, 1:], c), linear(a.t()[:6, :6], b[:, :6], c), linear(a.reshape(2, 3, 8).transpose(0, 1), b, c), "
    "F.linear(a.half(), b.half(), c.half()), F.linear(a, b, c), F.linear(a.half(), b.half(), torch.stack([c, c], 1)[:, 0].half())",
    [tensor(6, 8), tensor(8, 8), tensor(8)])
# What is added to products of 16 bits, flat and by rows, with a bias of the layer's own and without: in their call (NOTES).
PROGRAMS["linears_summed"] = (
    "F.linear(a, b, c) + a, a * 2 + F.linear(a, b * 2, c), a @ b + a, (a @ (b * 3) + c) + a, F.linear(a.view(2, 3, 8), b * 4, c) + a.view(2, 3, 8), F.linear(a.half(), b.half(), c.half()) + a.half(), "
    "F.linear(a[:, :4], b[:, :4], c) + a, F.linear(a, b * 5, c) + c, F.linear(a, b * 6, c) + a.float(), F.linear(a, b * 7, c) + 1",
    [tensor(6, 8, dtype="bfloat16"), tensor(8, 8, dtype="bfloat16"), tensor(8, dtype="bfloat16")])
# Attention in one kernel each (NOTES counts them): heads of 16, 24 and 40, strides, masks that broadcast, rows without a key.
ATTENTION = ("attend(a, b, c, 0.3), attend(a.transpose(2, 3).contiguous().transpose(2, 3), b, c, 0.3).transpose(1, 2).reshape(2, 70, -1), "
             "F.scaled_dot_product_attention(a, b, c), F.scaled_dot_product_attention(a, b[:, :, :3], c[:, :, :3], is_causal=True), "
             "F.scaled_dot_product_attention(a, b, c, torch.arange(70)[:, None] < 3), F.scaled_dot_product_attention(a, b, c, a[:, :1, :, :1] + b[:, :1, :, 0].unsqueeze(-2)), "
             "torch.softmax((a @ b.transpose(-2, -1) / 4).masked_fill(a[0, :, :1, 0].unsqueeze(-1) > 0, -math.inf), -1) @ c, "
             "F.scaled_dot_product_attention(a[..., 1:, 1:], b[..., 1:], c[..., 1:]), torch.softmax(torch.where(b[..., 0].unsqueeze(-2) > 0, a @ b.transpose(-2, -1) * 2, -5), -1) @ c, "
             "torch.softmax(a[..., :16] @ b[..., :16].transpose(2, 3) * 0.3 + a[:, :1, :, :1], -1) @ c[..., :16]")
# Few rows and many keys, which blocks share: groups, masks, rows without a key, keys that no part divides, one row.
PROGRAMS["attention_of_few_rows"] = (
    "F.scaled_dot_product_attention(a, b, c, enable_gqa=True), F.scaled_dot_product_attention(a[:, :2], b, c, (b[..., :1] > -1).transpose(2, 3)), F.scaled_dot_product_attention(a[:, :2], b, c, (b[..., :1] > 9).transpose(2, 3)), "
    "F.scaled_dot_product_attention(a[:, :2, :1], b, c), attend(a[:, :2], b, c, 0.3), F.scaled_dot_product_attention(a[:, :2].half(), b.half(), c.half(), b.half()[:, :, :, 0].unsqueeze(2)).float(), "
    "F.scaled_dot_product_attention(a[:, :2], b[:, :, :599], c[:, :, :599]), F.scaled_dot_product_attention(a[:, :2].repeat(1, 1, 7, 1), b, c), F.scaled_dot_product_attention(a[:, :2].repeat(1, 1, 7, 1), b, c, (b[..., :1] > 1).transpose(2, 3)), "
    "F.scaled_dot_product_attention(a[:, :2], b, c, (b[..., :1] > 2.5).transpose(2, 3)), F.scaled_dot_product_attention(a[:, :2, :, 1:].half(), b[..., 1:].half(), c[..., 1:].half()).float()",
    [tensor(1, 6, 3, 24, dtype="bfloat16"), tensor(1, 2, 1300, 24, dtype="bfloat16", seed=2), tensor(1, 2, 1300, 24, dtype="bfloat16", seed=3)])
# Keys of several tiles, each number of rows a warp may have; few keys, which are one tile (a count that 8 divides, and one that it does not).
PROGRAMS["attention_of_tiles"] = (
    "attend(a, b, c, 0.3), F.scaled_dot_product_attention(a, b, c), F.scaled_dot_product_attention(a, b, c, is_causal=True), F.scaled_dot_product_attention(a, b, c, (b[..., 0] > -1).unsqueeze(-2)), "
    "F.scaled_dot_product_attention(a.repeat(24, 1, 1, 1), b.repeat(24, 1, 1, 1), c.repeat(24, 1, 1, 1))[::9], F.scaled_dot_product_attention(a, b[:, :, :88], c[:, :, :88]), "
    "F.scaled_dot_product_attention(a.repeat(1, 3, 1, 1), b, c, is_causal=True, enable_gqa=True), F.scaled_dot_product_attention(a.repeat(1, 2, 1, 1), b[:, :1], c[:, :1], is_causal=True, enable_gqa=True), "
    "F.scaled_dot_product_attention(a.repeat(24, 1, 1, 1), b[:, :, :77].repeat(24, 1, 1, 1), c[:, :, :77].repeat(24, 1, 1, 1))[::9], F.scaled_dot_product_attention(a[..., :23], b[:, :, :3, :23], c[:, :, :3, :23], (c[:, :, :3, 0] > 0).unsqueeze(-2))",
    [tensor(2, 2, 150, 24, dtype="bfloat16", seed=seed) for seed in (1, 2, 3)])
SIZES = {"float32": 24, "bfloat16": 24, "float16": 40}
# Eager's reference asks for it in dtypes that a GPU has no call for.
PROGRAMS["attention_back_wide"] = (
    "torch._C.attention_back(a, b, c, None, 0.2, a + 1, 8, a.cos()), torch._C.attention_back(a.double(), b.double(), c.double(), None, 0.2, a.double() + 1, 8, a.double().cos()), "
    "torch._C.attention_back(a[..., :9], b[:, :, :41, :9], c[:, :, :41, :9], None, 0.3, a[..., :9].sin(), 1, a[..., :9])",
    [tensor(2, 3, 70, 24), tensor(2, 3, 70, 24, seed=2), tensor(2, 3, 70, 24, seed=3)],
)
PROGRAMS |= {"attention_" + dtype: (ATTENTION if dtype != "float16" else "attend(a, b, c, 0.3), F.scaled_dot_product_attention(a, b, c, is_causal=True)",
                                    [tensor(2, 2, rows, width, dtype=dtype, seed=seed) for seed, rows in ((1, 70), (2, 67), (3, 67))]) for dtype, width in SIZES.items()}
# Their ops round one by one on backend interp, a call once: ulps of numbers about 1.
TOLERANCES = {"sums_in_any_order": 2e-4, "narrow_rows": 0.01, "own_narrow_filters": 0.008, "sums_in_parts": 5e-5, "sums_apart": 5e-5, "sums_of_rows": 2e-4, "sums_of_rows_wide": 2e-4, "linears_tried": 1e-2, "linears_narrow": 0.03, "channels_last": 0.03, "linears_summed": 0.03, "odd_rows": 0.01, "attention_gradients": 0.05, "attention_bfloat16": 0.04, "attention_float16": 0.005, "attention_of_few_rows": 0.02, "attention_of_tiles": 0.02, "rows_padded": 0.02}
EQUAL = ("torch.softmax(a, 1), torch.softmax(b, 1), torch.softmax(c, 1), F.layer_norm(b, (133,)), F.layer_norm(c - a, (133,)), F.layer_norm(a - b, (133,)), F.layer_norm(a, (133,)), torch.cumsum(a, 0), torch.cumsum(b, 0), "
         "(a - b).exp().sum(0), (b - c).exp().sum(0), (c - a).exp().sum(0), a.t().contiguous(), b.t().contiguous()")
TUNED = ("torch.softmax(a, 1), F.layer_norm(a, (133,), b, b + 1), a.sum(0), c.max(1), c.argmin(2), (a * 2).square().sum(1), c.sum((0, 2)), torch.relu(c) * 2, a.sum(), c.permute(2, 0, 1) + 1, torch.cumsum(a * 0.1, 1), "
         "((a[:, None, :40] - a[None, :90, :40]) ** 2).sum(-1), torch.log_softmax(c, 1)")
SOURCE = """import math
import torch
import torch.nn.functional as F


def attended(q, k, v, c, mask, causal):
    return (F.scaled_dot_product_attention(q, k, v, mask, is_causal=causal).float() * c).sum()


def class_scores(x, w, c, mask, causal):
    return F.cross_entropy(F.linear(torch.sin(x), w).float(), c)


def gradients(q, k, v, c, mask=None, causal=False, loss=attended):
    q, k, v = [t.clone().requires_grad_() for t in (q, k, v)]
    if loss is attended:
        attended(q, k, v, c, mask, causal).backward()
    else:
        class_scores(q, k, c, mask, causal).backward()
    return q.grad.float(), k.grad.float(), v.grad.float() if loss is attended else 0


def attend(q, k, v, scale):
    return torch.softmax(q @ k.transpose(-2, -1) * scale, -1) @ v


def linear(x, w, b):
    return F.linear(x.bfloat16(), w.bfloat16(), b.bfloat16())


def chain(x, w, v, step):
    w, v, r = w * 0.1, v * 0.2, torch.arange(16, device=x.device, dtype=x.dtype)[:, None, None] * 0.1
    y = F.relu(F.conv2d(F.relu(x + 1), w, None, step, 1) * (r + 1) - r)
    z = F.conv2d(y, v)
    return F.relu(F.conv2d(z + y, w, None, 1, 1) * r + z)


def overlaps(a, b):
    wh = (torch.min(a[:, None, 2:], b[None, :, 2:]) - torch.max(a[:, None, :2], b[None, :, :2])).clamp(min=0)
    inter = wh[..., 0] * wh[..., 1]
    return inter / (((a[:, 2] - a[:, 0]) * (a[:, 3] - a[:, 1])).abs()[:, None] + ((b[:, 2] - b[:, 0]) * (b[:, 3] - b[:, 1])).abs() + inter + 1)


def put(a, b, c):
    a = a.clone()
    a[b[0, :4], b[1, :4]] = c[0, :4]
    return a


def written(a, c):
    a[:, 2:4].mul_(c[:, 2:4])
    a.t()[1:3] += 1
    a[::2, 1] = c[0, 0]
    a.t()[3:] = c.t()[:a.shape[1] - 3].flip(1)
    a.addcmul_(a, c).lerp_(c, 0.25).t().addcdiv_(c.t(), a.t().abs() + 1, value=-0.5)
    return a * 1


def caught(a):
    try:
        return a[torch.tensor([40])] + 1
    except Exception:
        return a.sum()


def counted(a):
    n = torch.tensor(0.0)
    n += 1
    m = a * n
    n += 2
    return m + n + n.item() * torch.tensor([1.0], dtype=torch.float64).add_(1)[0].item()


moved = torch.ones(3).to("cuda") * 2
stays = torch.ones(3) * 2
weights = torch.nn.Linear(3, 3).to(device="cuda").weight
loaded = [str(t.device) for t in (moved, stays, weights)]


def placed(a):
    gpu = torch.cuda.is_available()
    b = torch.arange(3, device=a.device) + a.new_ones(3).to(a.device)
    right = [a.is_cuda == gpu, a.is_cpu != gpu, a.device.type == ("cuda" if gpu else "cpu"), a.get_device() == (0 if gpu else -1), b.device == a.device, str(b.device) == ("cuda:0" if gpu else "cpu"),
             moved.device == a.device, weights.device == a.device, loaded == (["cuda:0", "cpu", "cuda:0"] if gpu else ["cpu"] * 3)]
    return [b] + [torch.ones(()) * r for r in right]


def blocks(a, c):
    here = "cuda" if torch.cuda.is_available() else "cpu"
    there = "cpu" if torch.cuda.is_available() else "cuda"
    with torch.autocast(there, dtype=torch.bfloat16):
        none = a @ c
    with torch.autocast(here, dtype=torch.bfloat16):
        some = a @ c
        by_table = F.mse_loss(some, c.bfloat16()), torch.exp(some)
        linear = F.linear(a, c)
    wide = torch.bfloat16 if here == "cpu" else torch.float32
    return torch.tensor([float(x) for x in (none.dtype == torch.float32, some.dtype == torch.bfloat16, linear.dtype == torch.bfloat16, by_table[0].dtype == torch.float32,
                                            by_table[1].dtype == wide, torch.cuda.device_count() == int(here == "cuda"), not torch.mps.is_available())]) + a.sum() * 0


def model(a, b, c):
    return %s
"""
# Sums in the order of their indices.
ORDERED = "torch.use_deterministic_algorithms(True)\n"
RECURRENT = ["lstm_written_out", "gru_written_out", "state_between_calls", "cache_of_keys", "cache_by_index", "until_it_is_small", "data_of_others", "data_swapped", "inputs_of_the_program"]
# Eager: parameters of its kernels; what is written where it lies.
WRITES = "caught(a), written(a, c), written(a.t(), c.t()), written(a[:, 1:], c[:, 1:]), counted(a)"
NUMBERS = "torch.lerp(a, c, 0.3), a.half() / 3, b + 7, torch.clamp(a, -0.5, max=2)"
OUT_OF_BOUNDS = {
    "index": ("a[b]", [tensor(4, 3), ints(2, high=9, low=8), tensor(1)]),
    "fused": ("a[b] * 2", [tensor(4, 3), ints(2, high=9, low=8), tensor(1)]),
    "of_a_row": ("torch.softmax(a, 1) - torch.gather(a, 1, b[:, :1])", [tensor(4, 3), ints(4, 3, high=9, low=8), tensor(1)]),
    "of_a_sum": ("(F.embedding(b, a) + 1).sum(0)", [tensor(4, 3), ints(2, 3, high=-8, low=-9), tensor(1)]),
    "of_no_rows": ("a[:0][b] * 2", [tensor(4, 3), ints(2, high=1), tensor(1)]),
    "scatter_add": ("torch.scatter_add(a, 1, b, c)", [tensor(4, 3), ints(4, 3, high=9, low=8), tensor(4, 3)]),
    "loss": ("F.nll_loss(a, b)", [tensor(4, 3), ints(4, high=9, low=8), tensor(1)]),
    "first_of_two": ("(a[b] * 2, a[b - 20], a[b[:1] * 0])", [tensor(4, 3), ints(2, high=9, low=8), tensor(1)]),
    "decides": ("a * 1 if a[b].sum().item() > 0 else a[b - 8] * a[20]", [tensor(4, 3), ints(2, high=9, low=8), tensor(1)]),
}


def flat(value):
    if "tensor" in value:
        data = value["tensor"]["data"]
        return data if isinstance(data, list) else [data]
    return [x for part in value.get("tuple", value.get("list", [])) for x in flat(part)] if isinstance(value, dict) else []


def number(x):
    return float({"nan": "nan", "inf": "inf", "-inf": "-inf"}.get(x, x)) if isinstance(x, str) else float(x)


def agree(a, b, tolerance):
    a, b = number(a), number(b)
    return (math.isnan(a) and math.isnan(b)) or a == b or abs(a - b) <= tolerance * max(1, abs(b))


# Products that had what is after them done too; calls of attention.
NOTES = {"linears_summed": 6} | {"linears": 5, "linears_tried": 5, "linears_narrow": 6} | {"attention_float32": 10, "attention_bfloat16": 10, "attention_float16": 2, "attention_gradients": 14}


def run(binary, workload, environment, cache):
    done = subprocess.run([binary, "run", "-", "--json", "--no-timing", "--no-sandbox", "--cache", cache], input=json.dumps(workload), capture_output=True,
                          text=True, env=environment, timeout=1800)
    if done.returncode:
        raise RuntimeError(done.stderr.strip()[:800])
    product = "after it, summed" if workload["name"] == "linears_summed" else "a product with what is after it"
    notes = done.stderr.count(product) + done.stderr.count("_attend\n") + done.stderr.count("_attend_back_keys\n")
    if "STAND_IN_EMULATOR" in environment and notes < NOTES.get(workload["name"], 0):
        raise RuntimeError(f"only {notes} calls did what is after them too")
    # The first product of a shape may take any way: each is timed, in five launches or in three where it is far slower than
    # the best, and the next launch is of what was chosen. Way 0 waits twice as long as way 2, and way 1 does not (emulator/lt.c).
    ways = "".join(line[-1] for line in done.stderr.splitlines() if ", way " in line)
    tried = re.search("(?:0{5}1{5}2{3,5}|2{5}1{5}0{3,5})(.)", ways)
    if workload["name"] == "linears_tried" and ways and (not tried or tried[1] == "0"):
        raise RuntimeError(f"of ways with these launches the slowest was chosen, or none was tried: {ways}")
    return json.loads(done.stdout)["modes"]


def same_error(binary, workload, emulated, cache):
    """An index that is out of bounds is said where it is, in the host's words."""
    told = []
    for how, environment in (({"backend": "interp"}, os.environ), ({"device": "cuda"}, emulated)):
        try:
            run(binary, dict(workload, **how), environment, cache)
            told.append("nothing")
        except RuntimeError as why:
            told.append(str(why))
    return None if told[0] == told[1] and "out of bounds" in told[0] else f"{workload['name']}: {told[1]} for {told[0]}"


def check(binary, folder, cache, name, source, arguments, modes, calls=1):
    workload = {"name": name, "source": source, "calls": [arguments] * calls, "modes": modes, "entry": "model"}
    emulated = dict(os.environ, LD_LIBRARY_PATH=folder)
    if os.path.exists(os.path.join(folder, "libcuda.so.1")):
        emulated["STAND_IN_EMULATOR"] = os.path.join(HERE, "emulator", "emulate.py")
    try:
        if name in OUT_OF_BOUNDS:
            return same_error(binary, workload, emulated, cache)
        want = run(binary, dict(workload, backend="interp"), os.environ, cache)
        tuned = {"autotune": "max"} if name == "tuned" else {}
        have = run(binary, dict(workload, device="cuda", poison=True, **tuned), dict(emulated, STAND_IN_NOTES="1"), cache)
    except (RuntimeError, subprocess.TimeoutExpired) as why:
        return f"{name}: {why}"
    for mode in modes:
        a, b = ([x for call in made[mode]["calls"] for x in flat(call["output"])] for made in (have, want))
        wrong = [i for i, (x, y) in enumerate(zip(a, b)) if not agree(x, y, TOLERANCES.get(name.removesuffix("_ordered"), 2e-5))]
        if len(a) != len(b) or not b or wrong:
            return f"{name}, {mode}: {len(wrong)} of {len(b)} elements differ" + (f", first at {wrong[0]}: {a[wrong[0]]} for {b[wrong[0]]}" if wrong else "")
    return None


def main():
    binary, folder = sys.argv[1:3]
    listed = json.loads(subprocess.run([binary, "backends", "--json"], capture_output=True, text=True, env=dict(os.environ, LD_LIBRARY_PATH=folder)).stdout)
    cuda = next(b for b in listed["backends"] if b["name"] == "cuda")
    if not cuda["available"] or not shutil.which("g++"):
        print("skipped: every program (no backend cuda: " + (cuda.get("why_not") or "g++ is not installed") + ")")
        print("0 passed, 0 failed, 1 skipped")
        return
    chosen = part(range(10**6))  # by their numbers
    only = sys.argv[3] if len(sys.argv) > 3 else ""
    jobs = [(name, SOURCE % results, arguments, ["static"]) for name, (results, arguments) in PROGRAMS.items()]
    jobs += [(name + "_ordered", SOURCE % results + ORDERED, arguments, ["static"]) for name, (results, arguments) in PROGRAMS.items() if name == "writes" or name.startswith("sums_")]
    jobs.append(("numbers", SOURCE % NUMBERS, [tensor(5, 7), ints(5, 7, high=9), tensor(5, 7, seed=3)], ["eager"]))
    jobs.append(("in_place", SOURCE % WRITES, [tensor(5, 7), tensor(1), tensor(5, 7, seed=3)], ["eager"]))
    jobs.append(("written", SOURCE % WRITES.replace("caught(a), ", ""), [tensor(5, 7), tensor(1), tensor(5, 7, seed=3)], ["static", "graphs"], 2))
    jobs += [(name, SOURCE % result, arguments, [mode]) for name, (result, arguments) in OUT_OF_BOUNDS.items() for mode in ("eager", "static")]
    # Kernels of one text are one function, of several programs: each has memory of its own.
    jobs.append(("equal_kernels", SOURCE % EQUAL, [tensor(70, 133), tensor(70, 133, seed=2), tensor(70, 133, seed=3)], ["static", "graphs"], 2))
    # Schedules that were not planned: whichever is the fastest on the stand-in.
    jobs.append(("tuned", SOURCE % TUNED, [tensor(300, 133), tensor(133, seed=2), tensor(40, 9, 70, seed=3)], ["static"]))
    # Memory that is taken again, and state that is kept, from step to step and from call to call.
    jobs += [(name, recurrent.HEAD + recurrent.PROGRAMS[name][0], recurrent.PROGRAMS[name][1], ["static", "graphs"], 3) for name in RECURRENT]
    jobs = [job for i, job in enumerate(jobs) if only in job[0] and i in chosen]
    with tempfile.TemporaryDirectory() as cache, ThreadPoolExecutor(os.cpu_count()) as pool:
        faults = [f for f in pool.map(lambda job: check(binary, folder, cache, *job), jobs) if f]
    for fault in faults:
        print(fault)
    print(f"{len(jobs) - len(faults)} passed, {len(faults)} failed, 0 skipped")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
