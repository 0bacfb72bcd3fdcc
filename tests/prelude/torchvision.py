# Models of torchvision: the names and shapes of their parameters, their first numbers and an output.
import torch
import torchvision
from torchvision import models
from torchvision.models.resnet import resnet18, BasicBlock
from torchvision.ops import box_iou, nms, box_convert, generalized_box_iou
from torchvision.ops.misc import Conv2dNormActivation, SqueezeExcitation, MLP
from torchvision.models._utils import _make_divisible
import torchvision.transforms as T
def show(m, size=32):
    m.eval()
    d = m.state_dict()
    w = [i * 31 % 97 for i in range(len(d))]
    text = "".join([f"{k}{tuple(v.shape)}" for k, v in d.items()])
    print(type(m).__name__, len(d), sum([ord(c) * (i % 91) for i, c in enumerate(text)]), "%.4g" % sum([float(v.double().abs().sum()) for v in d.values()]))
    with torch.no_grad():
        y = m(torch.linspace(-1, 1, 3 * size * size).reshape(1, 3, size, size))
    print(tuple(y.shape), ["%.3g" % v for v in y[0, :4].tolist()])
def model():
    torch.manual_seed(0)
    show(resnet18())
    show(models.resnet50(num_classes=10))
    show(models.mobilenet_v2(num_classes=10))
    show(models.squeezenet1_1(num_classes=10), 64)
    show(models.squeezenet1_0(num_classes=10), 64)
    show(models.densenet121(num_classes=10))
    show(models.resnext50_32x4d(num_classes=4))
    b = torch.tensor([[0., 0, 2, 2], [1, 1, 3, 3], [0, 0, 2.1, 2]])
    print(box_iou(b, b), nms(b, torch.tensor([.5, .9, .6]), .5), box_convert(b, "xyxy", "cxcywh"), generalized_box_iou(b, b))
    print(_make_divisible(37, 8), SqueezeExcitation(4, 2), MLP(3, [4, 5]))
    x = torch.arange(3 * 6 * 6.).reshape(3, 6, 6)
    print(T.Normalize([1, 2, 3], [2, 2, 2])(x).sum(), T.CenterCrop(4)(x)[0, 0], T.Compose([T.Resize(3), T.CenterCrop(2)])(x)[1], T.RandomHorizontalFlip(1.0)(x)[0, 0])
    from torchvision.utils import make_grid, save_image
    x = torch.arange(5 * 3 * 4 * 3).reshape(5, 3, 4, 3).float() / 180
    for options in ({}, {"nrow": 2, "padding": 1}, {"normalize": True, "nrow": 3}, {"normalize": True, "scale_each": True, "pad_value": 0.5}, {"normalize": True, "value_range": (0.1, 0.7)}):
        g = make_grid(x, **options)
        print(tuple(g.shape), "%.2f %.2f" % (g.sum(), (g * torch.arange(g.numel()).reshape(g.shape)).mean()))
    print(tuple(make_grid(x[0]).shape), tuple(make_grid(x[0, 0]).shape), tuple(make_grid(list(x[:, :1])).shape))
    save_image(x, "grid.png", nrow=2)
    import os
    print(os.path.getsize("grid.png") > 100)
