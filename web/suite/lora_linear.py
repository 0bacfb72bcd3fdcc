"""A linear layer with a low-rank adapter."""
# input: x=float32[32,128]
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class LoRALinear(nn.Linear):
    def __init__(self, inputs, outputs, r=8, alpha=16):
        super().__init__(inputs, outputs)
        self.lora_A = nn.Parameter(torch.zeros(r, inputs))
        self.lora_B = nn.Parameter(torch.zeros(outputs, r))
        self.scaling = alpha / r
        self.weight.requires_grad = False
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        nn.init.normal_(self.lora_B, std=0.02)

    def forward(self, x):
        return F.linear(x, self.weight, self.bias) + (x @ self.lora_A.t() @ self.lora_B.t()) * self.scaling


torch.manual_seed(0)
model = LoRALinear(128, 128).eval()
