"""nn.GRUCell over time, keeping every state."""
# input: x=float32[10,8,32]
import torch
import torch.nn as nn


class Encoder(nn.Module):
    def __init__(self, inputs=32, hidden=48):
        super().__init__()
        self.cell = nn.GRUCell(inputs, hidden)

    def forward(self, x):
        h = torch.zeros(x.shape[1], self.cell.hidden_size, device=x.device)
        states = []
        for step in x:
            h = self.cell(step, h)
            states.append(h)
        return torch.stack(states), h


torch.manual_seed(0)
model = Encoder().eval()
