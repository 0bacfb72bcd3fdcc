# torch.nn.attention.flex_attention: attention whose scores a function changes.  The functions
# are called once, with tensors of indices that broadcast, where PyTorch maps them over each score.
import math

import torch


def noop_mask(batch, head, token_q, token_kv):
    return torch.ones((), dtype=torch.bool)


def _indices(B, H, rows, columns):
    return (
        torch.arange(B).reshape(B, 1, 1, 1),
        torch.arange(H).reshape(1, H, 1, 1),
        torch.arange(rows).reshape(1, 1, rows, 1),
        torch.arange(columns).reshape(1, 1, 1, columns),
    )


def _whole(mask_mod, B, H, rows, columns):
    return mask_mod(*_indices(B, H, rows, columns)).expand(B, H, rows, columns)


def create_mask(mod_fn, B, H, Q_LEN, KV_LEN, device="cuda"):
    return _whole(mod_fn, 1 if B is None else B, 1 if H is None else H, Q_LEN, KV_LEN)


class BlockMask:
    """Which scores count.  It keeps the function; blocks without a score are not left out."""

    def __init__(self, mask_mod, shape, BLOCK_SIZE):
        self.mask_mod = mask_mod
        self.shape = shape
        self.seq_lengths = shape[-2:]
        self.BLOCK_SIZE = BLOCK_SIZE if isinstance(BLOCK_SIZE, tuple) else (BLOCK_SIZE, BLOCK_SIZE)

    def numel(self):
        return math.prod(self.shape)

    def to(self, device):
        return self


def create_block_mask(mask_mod, B, H, Q_LEN, KV_LEN, device="cuda", BLOCK_SIZE=128, _compile=False):
    B, H = 1 if B is None else B, 1 if H is None else H
    _whole(mask_mod, B, H, Q_LEN, KV_LEN)  # what it cannot do is said here
    return BlockMask(mask_mod, (B, H, Q_LEN, KV_LEN), BLOCK_SIZE)


def and_masks(*mask_mods):
    def both(b, h, q_idx, kv_idx):
        made = noop_mask(b, h, q_idx, kv_idx)
        for mask_mod in mask_mods:
            made = made & mask_mod(b, h, q_idx, kv_idx)
        return made

    return both


def or_masks(*mask_mods):
    def any_of(b, h, q_idx, kv_idx):
        made = ~noop_mask(b, h, q_idx, kv_idx)
        for mask_mod in mask_mods:
            made = made | mask_mod(b, h, q_idx, kv_idx)
        return made

    return any_of


def _attended(query, key, value, score_mod, block_mask, scale):
    """The values by the changed scores, and the logarithms of the scores' sums."""
    wide = torch.float64 if query.dtype == torch.float64 else torch.float32
    scores = (query @ key.transpose(-2, -1)).to(wide) * scale
    B, H, rows, columns = scores.shape
    if score_mod is not None:
        scores = score_mod(scores, *_indices(B, H, rows, columns)).expand(B, H, rows, columns)
    if block_mask is not None:
        scores = torch.where(_whole(block_mask.mask_mod, B, H, rows, columns), scores, -math.inf)
    empty = (scores == -math.inf).all(-1, keepdim=True)
    shares = torch.where(empty, 0.0, torch.softmax(torch.where(empty, 0.0, scores), -1))
    return shares.to(query.dtype) @ value, torch.logsumexp(scores, -1)


def flex_attention(
    query, key, value, score_mod=None, block_mask=None, scale=None, enable_gqa=False, return_lse=False, kernel_options=None
):
    for x in (query, key, value):
        if x.dim() != 4:
            raise ValueError("NYI: query, key, and value must be 4D tensors")
    if block_mask is not None and (query.shape[-2] > block_mask.seq_lengths[0] or key.shape[-2] > block_mask.seq_lengths[1]):
        raise ValueError(
            f"block_mask of shape {tuple(block_mask.shape)} does not reach rows of {query.shape[-2]} and {key.shape[-2]} tokens"
        )
    if query.shape[1] != key.shape[1]:
        if not enable_gqa or query.shape[1] % key.shape[1] != 0:
            raise ValueError(
                f"Expect query and key/value to have the same number of heads but got Hq={query.shape[1]} and Hkv={key.shape[1]}. "
                "Try setting enable_gqa=True for GQA."
            )
        times = query.shape[1] // key.shape[1]
        key, value = key.repeat_interleave(times, 1), value.repeat_interleave(times, 1)
    scale = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    made, sums = _attended(query, key, value, score_mod, block_mask, scale)
    return (made, sums) if return_lse else made
