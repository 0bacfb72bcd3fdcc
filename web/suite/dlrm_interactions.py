"""A recommender's tower: embedding bags, feature crosses and an MLP."""
# input: dense=float32[32,13]
# input: sparse=int64[32,4]
import torch
import torch.nn as nn


class DLRM(nn.Module):
    def __init__(self, tables=4, rows=100, dim=16):
        super().__init__()
        self.tables = nn.ModuleList([nn.Embedding(rows, dim) for _ in range(tables)])
        self.bottom = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, dim), nn.ReLU())
        n = tables + 1
        self.top = nn.Sequential(nn.Linear(dim + n * (n - 1) // 2, 32), nn.ReLU(), nn.Linear(32, 1))

    def forward(self, dense, sparse):
        x = self.bottom(dense)
        vectors = [x] + [table(sparse[:, i]) for i, table in enumerate(self.tables)]
        stacked = torch.stack(vectors, dim=1)
        crosses = torch.bmm(stacked, stacked.transpose(1, 2))
        n = stacked.shape[1]
        rows, columns = torch.tril_indices(n, n, offset=-1, device=dense.device)
        features = torch.cat([x, crosses[:, rows, columns]], dim=1)
        return torch.sigmoid(self.top(features)).squeeze(1)


torch.manual_seed(0)
model = DLRM().eval()
