"""A block with the print that someone left in, and a check for NaN."""
# input: x=float32[16,64]
import torch
import torch.nn as nn


class Debugged(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.fc1 = nn.Linear(width, width)
        self.fc2 = nn.Linear(width, width)

    def forward(self, x):
        h = torch.relu(self.fc1(x))
        print("hidden", tuple(h.shape))
        if torch.isnan(h).any():
            raise ValueError("NaN in hidden")
        y = self.fc2(h)
        return y / y.norm(dim=-1, keepdim=True)


torch.manual_seed(0)
model = Debugged().eval()
