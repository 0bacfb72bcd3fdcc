"""Cross entropy with label smoothing, ignoring padding."""
# input: logits=float32[64,100]
# input: target=int64[64]
import torch
import torch.nn as nn


class LabelSmoothing(nn.Module):
    def __init__(self, smoothing=0.1, padding=0):
        super().__init__()
        self.confidence = 1.0 - smoothing
        self.smoothing = smoothing
        self.padding = padding

    def forward(self, logits, target):
        logprobs = torch.nn.functional.log_softmax(logits, dim=-1)
        nll = -logprobs.gather(dim=-1, index=target.unsqueeze(1)).squeeze(1)
        smooth = -logprobs.mean(dim=-1)
        loss = self.confidence * nll + self.smoothing * smooth
        keep = target.ne(self.padding)
        return loss.masked_fill(~keep, 0.0).sum() / keep.sum().clamp(min=1)


model = LabelSmoothing()
