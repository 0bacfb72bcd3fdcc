"""Non-maximum suppression in plain Python: how many boxes stay depends on them."""
# input: boxes=float32[24,4]
# input: scores=float32[24]
import torch


def box_area(boxes):
    return (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])


def box_iou(a, b):
    lt = torch.max(a[:, None, :2], b[:, :2])
    rb = torch.min(a[:, None, 2:], b[:, 2:])
    wh = (rb - lt).clamp(min=0)
    inter = wh[:, :, 0] * wh[:, :, 1]
    return inter / (box_area(a)[:, None] + box_area(b) - inter)


def model(boxes, scores, threshold=0.3):
    corner = boxes[:, :2]
    boxes = torch.cat((corner, corner + boxes[:, 2:].abs() + 0.5), dim=1)
    order = scores.argsort(descending=True)
    iou = box_iou(boxes, boxes)
    keep = []
    suppressed = torch.zeros_like(scores, dtype=torch.bool)
    for i in order[:8]:
        if suppressed[i]:
            continue
        keep.append(i)
        suppressed = suppressed | (iou[i] > threshold)
    return torch.stack(keep)
