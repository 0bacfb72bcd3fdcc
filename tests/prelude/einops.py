# What einops gives and refuses, pattern by pattern.
import torch
from einops import rearrange, reduce, repeat, einsum, pack, unpack, parse_shape, EinopsError
import einops
from einops.layers.torch import Rearrange, Reduce, EinMix
def show(x):
    if isinstance(x, torch.Tensor):
        weights = torch.arange(x.numel(), dtype=torch.float64)
        print(tuple(x.shape), x.dtype, "%.5g" % float((x.reshape(-1).double() * weights).sum()))
    elif isinstance(x, (list, tuple)):
        print(len(x))
        for y in x: show(y)
    else:
        print(x)
def attempt(f, *args, **kw):
    try:
        show(f(*args, **kw))
    except Exception as e:
        print(type(e).__name__, e)
def model():
    torch.manual_seed(0)
    x = torch.arange(2*3*4*5).reshape(2,3,4,5).float()
    for p, kw in [("b c h w -> b h w c", {}), ("b c h w -> b (c h w)", {}), ("b c (h h2) w -> b (c h2) h w", {"h2": 2}),
                  ("b c (h 2) w -> b c h w", {}), ("b c h w -> b c h w 1", {}), ("b ... -> ... b", {}), ("b ... w -> b (... w)", {}), ("... -> (...)", {}), ("b c h w -> (b c) (h w)", {}),
                  ("b c h w -> b c () h w", {}), ("b c h w -> c b 1 h w", {}), ("(b 1) c h w -> b c h w", {}), ("b (c1 c2) h w -> b c1 c2 h w", {"c1": 3}), ("b c h w -> b c h", {}), ("b c h -> b c h", {}), ("b c (h h2) w -> b c h h2 w", {"h2": 3}),
                  ("b b h w -> b h w", {}), ("b c (h (w)) -> b", {}), ("b c h) w -> b", {}), ("(b c h w -> b", {}), ("b c h w -> b c h w", {"z": 3}), ("b c h w -> b .. c", {}), ("b c h w_ -> b", {}), ("b c h w -> b-c", {}), ("b c h w -> ... b c h w", {}), ("(... b) -> b", {}), ("b c h w -> w h c b", {}), ("b c h 1w -> b", {}), ("b c (h h2) w -> b c h2 h w", {"h": 2, "h2": 2}), ("b c (h h2) w -> b c h2 h w", {"h": 3, "h2": 2})]:
        attempt(rearrange, x, p, **kw)
    for r in ["sum", "mean", "min", "max", "prod", "any", "all", "foo"]:
        attempt(reduce, x, "b c (h 2) (w w2) -> b h w", r, w2=5)
        attempt(reduce, x.long() if r != "any" else x.bool(), "b c h w -> b c", r)
        attempt(reduce, x, "b c ... -> c", r)
        attempt(reduce, x, "b c ... -> c 1 1", r)
        attempt(reduce, x, "b c h w ->", r)
    attempt(reduce, x, "b c h w -> b c", torch.amax)
    attempt(reduce, x, "b c 2 w -> b c", "sum")
    attempt(reduce, x, "b c h w -> b d", "sum")
    y = torch.arange(6.).reshape(2, 3)
    for p, kw in [("h w -> h w c", {"c": 3}), ("h w -> (h 2) (w 3)", {}), ("h w -> c h w", {}), ("h w -> h (repeat w)", {"repeat": 2}), ("h w -> h", {}), ("... -> ... 4", {}), ("h w -> h w (a b)", {"a": 2, "b": 2}), ("h w -> 3 w h", {}), ("h w -> h 1 w", {}), ("h (w 3) -> h w", {}), ("h 3 -> h", {})]:
        attempt(repeat, y, p, **kw)
    attempt(rearrange, [y, y + 1], "b h w -> h (b w)")
    attempt(rearrange, [], "b h w -> h (b w)")
    attempt(rearrange, (y, y), "b h w -> h (b w)")
    attempt(einsum, y, y, "i j, k j -> i k")
    attempt(einsum, y, y, "batch ... , batch ... -> ...")
    attempt(einsum, y, "i j -> ")
    attempt(einsum, y, y, "i j, i j")
    attempt(einsum, y, y, "i j, i j -> q")
    attempt(einsum, y, y, "i j, i (j k) -> i")
    attempt(einsum, y)
    attempt(pack, [torch.ones(2, 3, 5), torch.zeros(2, 3, 7, 5), torch.ones(2, 3, 7, 9, 5)], "i j * k")
    attempt(pack, [torch.ones(2, 3)], "i j k *")
    attempt(pack, [torch.ones(2, 3)], "i i *")
    attempt(pack, [torch.ones(2, 3)], "i j")
    p, ps = pack([torch.ones(2, 3, 5), torch.zeros(2, 3, 7, 5)], "i j * k")
    print(ps)
    attempt(unpack, p, ps, "i j * k")
    attempt(unpack, p, [(4, -1), (2,)], "i j * k")
    attempt(unpack, p, [(4, 4)], "i j * k")
    attempt(unpack, p, [(4, -1), (-1,)], "i j * k")
    attempt(unpack, p, [(4, -1)], "i *")
    attempt(parse_shape, x, "b c h w")
    attempt(parse_shape, x, "b _ h _")
    attempt(parse_shape, x, "b ... w")
    attempt(parse_shape, x, "b c 4 w")
    attempt(parse_shape, x, "b c 3 w")
    attempt(parse_shape, x, "b c w")
    attempt(parse_shape, x, "b c (h w)")
    l = Rearrange("b c (h h2) w -> b (c h2) h w", h2=2)
    print(l, Reduce("b c h w -> b c", "mean"))
    attempt(l, x)
    attempt(Reduce("b c h w -> b c", "mean"), x)
    attempt(Reduce, "b c h w -> b c d", "mean")
    m = EinMix("b c h w -> b d h w", weight_shape="c d", bias_shape="d", c=3, d=4)
    print(m, {k: tuple(v.shape) for k, v in m.state_dict().items()})
    attempt(m, x)
    m = EinMix("b c (h h2) w -> b (d h) w h2", weight_shape="c h d", c=3, d=4, h=2, h2=2)
    print(m, {k: tuple(v.shape) for k, v in m.state_dict().items()}, m.einsum_pattern)
    attempt(m, x)
    attempt(EinMix, "b c -> b d", weight_shape="c d", c=3)
    return x
