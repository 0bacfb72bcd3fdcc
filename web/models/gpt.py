# input: ids=int64[2,6]<20
# input: targets=int64[2,6]<20
"""A GPT in one file: tied weights, a ModuleDict, optimiser groups, sampling."""
from __future__ import annotations

import inspect
import math
from dataclasses import dataclass
from typing import Optional, Tuple

import torch
import torch.nn as nn
from torch.nn import functional as F


@dataclass
class Config:
    context: int = 8
    vocabulary: int = 20
    layers: int = 2
    heads: int = 2
    width: int = 12
    dropout: float = 0.0
    bias: bool = False


class Norm(nn.Module):
    """A layer norm that may go without bias."""

    def __init__(self, width: int, bias: bool) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.bias = nn.Parameter(torch.zeros(width)) if bias else None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.layer_norm(x, self.weight.shape, self.weight, self.bias, 1e-5)


class Attention(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        assert config.width % config.heads == 0
        self.config = config
        self.qkv = nn.Linear(config.width, 3 * config.width, bias=config.bias)
        self.c_proj = nn.Linear(config.width, config.width, bias=config.bias)
        self.drop = nn.Dropout(config.dropout)
        self.fast = hasattr(F, "scaled_dot_product_attention")
        mask = torch.tril(torch.ones(config.context, config.context))
        self.register_buffer("mask", mask.view(1, 1, config.context, config.context), persistent=False)

    def forward(self, x):
        B, T, C = x.size()
        heads = self.config.heads
        q, k, v = (
            part.view(B, T, heads, C // heads).transpose(1, 2)
            for part in self.qkv(x).split(C, dim=2)
        )
        if self.fast and not self.training:
            y = F.scaled_dot_product_attention(q, k, v, attn_mask=None, is_causal=True)
        else:
            scores = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
            scores = scores.masked_fill(self.mask[:, :, :T, :T] == 0, float("-inf"))
            y = self.drop(F.softmax(scores, dim=-1)) @ v
        y = y.transpose(1, 2).contiguous().view(B, T, C)
        return self.drop(self.c_proj(y))


class Block(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.before = Norm(config.width, config.bias)
        self.attention = Attention(config)
        self.between = Norm(config.width, config.bias)
        self.mlp = nn.ModuleDict(
            dict(
                fc=nn.Linear(config.width, 4 * config.width, bias=config.bias),
                c_proj=nn.Linear(4 * config.width, config.width, bias=config.bias),
                act=nn.GELU(approximate="tanh"),
            )
        )

    def forward(self, x):
        x = x + self.attention(self.before(x))
        m = self.mlp
        return x + m.c_proj(m.act(m.fc(self.between(x))))


class GPT(nn.Module):
    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.transformer = nn.ModuleDict(
            {
                "tokens": nn.Embedding(config.vocabulary, config.width),
                "places": nn.Embedding(config.context, config.width),
                "drop": nn.Dropout(config.dropout),
                "blocks": nn.ModuleList(Block(config) for _ in range(config.layers)),
                "norm": Norm(config.width, bias=config.bias),
            }
        )
        self.head = nn.Linear(config.width, config.vocabulary, bias=False)
        self.transformer.tokens.weight = self.head.weight
        self.apply(self._init_weights)
        for name, p in self.named_parameters():
            if name.endswith("c_proj.weight"):
                nn.init.normal_(p, mean=0.0, std=0.02 / math.sqrt(2 * config.layers))
        print("%d parameters" % self.count(),)

    def count(self, without_places: bool = True) -> int:
        n = sum(p.numel() for p in self.parameters())
        return n - self.transformer.places.weight.numel() if without_places else n

    def _init_weights(self, module: nn.Module) -> None:
        if isinstance(module, nn.Linear):
            nn.init.normal_(module.weight, mean=0.0, std=0.2)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, mean=0.0, std=0.2)

    def forward(
        self, ids: torch.Tensor, targets: Optional[torch.Tensor] = None
    ) -> Tuple[torch.Tensor, Optional[torch.Tensor]]:
        _, T = ids.size()
        assert T <= self.config.context, f"{T} tokens, but the context is {self.config.context}"
        places = torch.arange(0, T, dtype=torch.long, device=ids.device)
        x = self.transformer.tokens(ids) + self.transformer.places(places)
        x = self.transformer.drop(x)
        for block in self.transformer.blocks:
            x = block(x)
        x = self.transformer.norm(x)
        if targets is None:
            return self.head(x[:, [-1], :]), None
        logits = self.head(x)
        return logits, F.cross_entropy(
            logits.view(-1, logits.size(-1)), targets.view(-1), ignore_index=-1
        )

    def optimizer(self, decay: float, rate: float) -> torch.optim.Optimizer:
        params = {n: p for n, p in self.named_parameters() if p.requires_grad}
        groups = [
            {"params": [p for p in params.values() if p.dim() >= 2], "weight_decay": decay},
            {"params": [p for p in params.values() if p.dim() < 2], "weight_decay": 0.0},
        ]
        more = {}
        if "fused" in inspect.signature(torch.optim.AdamW).parameters and torch.cuda.is_available():
            more["fused"] = True
        return torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.95), **more)

    @torch.no_grad()
    def generate(self, ids: torch.Tensor, n: int, temperature: float = 1.0) -> torch.Tensor:
        for _ in range(n):
            seen = ids if ids.size(1) <= self.config.context else ids[:, -self.config.context :]
            logits, _ = self(seen)
            logits = logits[:, -1, :] / temperature
            best, _ = torch.topk(logits, 3)
            logits[logits < best[:, [-1]]] = -float("Inf")
            ids = torch.cat((ids, F.softmax(logits, dim=-1).argmax(-1, keepdim=True)), dim=1)
        return ids


torch.manual_seed(1)
net = GPT(Config())
optimizer = net.optimizer(0.1, 1e-2)


def model(ids, targets):
    net.train()
    logits, loss = net(ids, targets)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    norm = nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    net.eval()
    grads = [p.grad.clone() for p in net.parameters()]
    return logits.detach(), loss.detach(), norm, grads, net(ids)[0].detach(), net.generate(ids, 4)
