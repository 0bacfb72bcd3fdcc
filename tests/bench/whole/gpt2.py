"""GPT-2 small, forward with its loss: tied weights, learned places, gelu by tanh.  SMALL and DEVICE are set before."""
import torch
import torch.nn as nn
import torch.nn.functional as F

WORDS, WIDTH, HEADS, LAYERS = (211, 32, 4, 2) if SMALL else (50257, 768, 12, 12)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln_1 = nn.LayerNorm(width)
        self.c_attn = nn.Linear(width, 3 * width)
        self.c_proj = nn.Linear(width, width)
        self.ln_2 = nn.LayerNorm(width)
        self.c_fc = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        b, n, c = x.shape
        q, k, v = self.c_attn(self.ln_1(x)).split(c, dim=2)
        q, k, v = [y.view(b, n, self.heads, c // self.heads).transpose(1, 2) for y in (q, k, v)]
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.c_proj(y.transpose(1, 2).contiguous().view(b, n, c))
        return x + self.down(F.gelu(self.c_fc(self.ln_2(x)), approximate="tanh"))


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.wte = nn.Embedding(WORDS, WIDTH)
        self.wpe = nn.Embedding(1024, WIDTH)
        self.blocks = nn.ModuleList([Block(WIDTH, HEADS) for _ in range(LAYERS)])
        self.ln_f = nn.LayerNorm(WIDTH)
        self.head = nn.Linear(WIDTH, WORDS, bias=False)
        self.head.weight = self.wte.weight

    def forward(self, ids):
        x = self.wte(ids) + self.wpe(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.ln_f(x))


torch.manual_seed(0)
with torch.device(DEVICE):
    net = GPT()
if not TRAINED:
    net = net.to(torch.bfloat16).eval()
optimizer = torch.optim.AdamW(net.parameters(), lr=3e-4)


def loss_of(ids, targets):
    with torch.autocast(DEVICE, dtype=torch.bfloat16):
        logits = net(ids)
        return F.cross_entropy(logits.flatten(0, 1), targets.flatten())


def model(ids, targets):
    if not TRAINED:
        with torch.no_grad():
            return F.cross_entropy(net(ids).flatten(0, 1), targets.flatten())
    optimizer.zero_grad(set_to_none=True)
    loss = loss_of(ids, targets)
    loss.backward()
    optimizer.step()
    return loss.detach()
