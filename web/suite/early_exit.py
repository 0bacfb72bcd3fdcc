"""Layers that stop once a head is sure: item() decides in Python."""
# input: x=float32[4,64]
import torch
import torch.nn as nn


class EarlyExit(nn.Module):
    def __init__(self, width=64, layers=4, classes=10, threshold=0.9):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(width, width) for _ in range(layers)])
        self.heads = nn.ModuleList([nn.Linear(width, classes) for _ in range(layers)])
        self.threshold = threshold

    def forward(self, x):
        for layer, head in zip(self.layers, self.heads):
            x = torch.relu(layer(x)) + x
            logits = head(x)
            confidence = logits.softmax(dim=-1).max(dim=-1).values.min().item()
            if confidence > self.threshold:
                break
        return logits


torch.manual_seed(0)
model = EarlyExit().eval()
