"""CLIP's contrastive loss between images and texts."""
# input: image=float32[32,64]
# input: text=float32[32,64]
# input: logit_scale=2.66
import math

import torch
import torch.nn.functional as F


def model(image, text, logit_scale):
    image = F.normalize(image, dim=-1)
    text = F.normalize(text, dim=-1)
    logits_per_image = math.exp(logit_scale) * image @ text.t()
    logits_per_text = logits_per_image.t()
    labels = torch.arange(image.shape[0], device=image.device, dtype=torch.long)
    return (F.cross_entropy(logits_per_image, labels) + F.cross_entropy(logits_per_text, labels)) / 2
