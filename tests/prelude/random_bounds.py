# What is drawn fits into the dtype, or is refused.
import torch


def bounds(low, high, dtype):
    try:
        t = torch.randint(low, high, (64,), dtype=dtype)
        return t.dtype == dtype and bool((t >= low).all())
    except RuntimeError as e:
        return str(e)


def model():
    for dtype in (torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64):
        print(dtype, bounds(0, 2, dtype), bounds(-1, 1, dtype), bounds(0, 300, dtype), bounds(0, 2**31 + 1, dtype))
    print(bounds(0, 256, torch.uint8), bounds(-128, 128, torch.int8), bounds(0, 2**31, torch.int32))
