"""A step of beam search: the best continuations, ended where all are over."""
# input: hidden=float32[4,32]
# input: beam_scores=float32[4]
import torch
import torch.nn as nn


class Step(nn.Module):
    def __init__(self, width=32, vocabulary=50, beams=4, eos=2):
        super().__init__()
        self.lm_head = nn.Linear(width, vocabulary, bias=False)
        self.beams, self.eos = beams, eos

    def forward(self, hidden, beam_scores):
        logprobs = torch.log_softmax(self.lm_head(hidden), dim=-1)
        total = beam_scores[:, None] + logprobs
        vocabulary = total.shape[-1]
        scores, flat = torch.topk(total.view(-1), 2 * self.beams)
        beams = torch.div(flat, vocabulary, rounding_mode="floor")
        tokens = flat % vocabulary
        chosen = []
        for rank, (token, beam) in enumerate(zip(tokens.tolist(), beams.tolist())):
            if token == self.eos:
                continue
            chosen.append(rank)
            if len(chosen) == self.beams:
                break
        chosen = torch.tensor(chosen, device=hidden.device)
        if (tokens == self.eos).all():
            return scores, tokens, beams
        return scores[chosen], tokens[chosen], beams[chosen]


torch.manual_seed(0)
model = Step().eval()
