"""An LSTM cell written out and unrolled over time."""
# input: x=float32[8,12,32]
import torch
import torch.nn as nn


class LSTMCell(nn.Module):
    def __init__(self, inputs, hidden):
        super().__init__()
        self.hidden = hidden
        self.x2h = nn.Linear(inputs, 4 * hidden)
        self.h2h = nn.Linear(hidden, 4 * hidden)

    def forward(self, x, state):
        h, c = state
        i, f, g, o = (self.x2h(x) + self.h2h(h)).chunk(4, 1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        return torch.sigmoid(o) * torch.tanh(c), c


class Reader(nn.Module):
    def __init__(self, inputs=32, hidden=48):
        super().__init__()
        self.cell = LSTMCell(inputs, hidden)
        self.head = nn.Linear(hidden, 10)

    def forward(self, x):
        h = c = x.new_zeros(x.size(0), self.cell.hidden)
        for t in range(x.size(1)):
            h, c = self.cell(x[:, t], (h, c))
        return self.head(h)


torch.manual_seed(0)
model = Reader().eval()
