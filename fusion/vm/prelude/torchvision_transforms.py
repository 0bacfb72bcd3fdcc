# torchvision.transforms, of tensors.
import torch
from torch import nn
import torch.nn.functional as F


class InterpolationMode:
    NEAREST = "nearest"
    NEAREST_EXACT = "nearest-exact"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, img):
        for t in self.transforms:
            img = t(img)
        return img


class Lambda:
    def __init__(self, lambd):
        self.lambd = lambd

    def __call__(self, img):
        return self.lambd(img)


class ToTensor:
    def __call__(self, pic):
        made = torch.as_tensor(pic)
        made = made.unsqueeze(-1) if made.dim() == 2 else made
        made = made.permute(2, 0, 1).contiguous()
        return made.float().div(255) if made.dtype == torch.uint8 else made


class Normalize(nn.Module):
    def __init__(self, mean, std, inplace=False):
        super().__init__()
        self.mean = mean
        self.std = std
        self.inplace = inplace

    def forward(self, tensor):
        if not tensor.is_floating_point():
            raise TypeError(f"Input tensor should be a float tensor. Got {tensor.dtype}.")
        if tensor.ndim < 3:
            raise ValueError(
                f"Expected tensor to be a tensor image of size (..., C, H, W). Got tensor.size() = {tensor.size()}"
            )
        mean = torch.as_tensor(self.mean, dtype=tensor.dtype).view(-1, 1, 1)
        std = torch.as_tensor(self.std, dtype=tensor.dtype).view(-1, 1, 1)
        if self.inplace:
            return tensor.sub_(mean).div_(std)
        return tensor.sub(mean).div(std)


class Resize(nn.Module):
    def __init__(self, size, interpolation="bilinear", max_size=None, antialias=True):
        super().__init__()
        self.size = size
        self.interpolation = interpolation
        self.antialias = antialias

    def forward(self, img):
        size = self.size
        h, w = img.shape[-2:]
        if isinstance(size, int) or len(size) == 1:
            short = size if isinstance(size, int) else size[0]
            size = (int(short * h / w), short) if w <= h else (short, int(short * w / h))
        batch = img.reshape(-1, *img.shape[-3:])
        linear = self.interpolation in ("bilinear", "bicubic")
        if linear:
            made = F.interpolate(
                batch, size=list(size), mode=self.interpolation, align_corners=False, antialias=self.antialias
            )
        else:
            made = F.interpolate(batch, size=list(size), mode=self.interpolation)
        return made.reshape(*img.shape[:-2], *made.shape[-2:])


class CenterCrop(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = (size, size) if isinstance(size, int) else tuple(size)

    def forward(self, img):
        h, w = img.shape[-2:]
        th, tw = self.size
        if tw > w or th > h:
            left, top = max((tw - w) // 2, 0), max((th - h) // 2, 0)
            img = F.pad(img, [left, max((tw - w + 1) // 2, 0), top, max((th - h + 1) // 2, 0)])
            h, w = img.shape[-2:]
        top, left = int(round((h - th) / 2.0)), int(round((w - tw) / 2.0))
        return img[..., top : top + th, left : left + tw]


class RandomCrop(nn.Module):
    def __init__(self, size, padding=None, pad_if_needed=False, fill=0, padding_mode="constant"):
        super().__init__()
        self.size = (size, size) if isinstance(size, int) else tuple(size)
        self.padding = (padding,) * 4 if isinstance(padding, int) else padding
        self.fill = fill
        self.padding_mode = padding_mode

    def forward(self, img):
        if self.padding is not None:
            img = F.pad(img, self.padding, self.padding_mode, self.fill)
        h, w = img.shape[-2:]
        th, tw = self.size
        if h < th or w < tw:
            raise ValueError(f"Required crop size {(th, tw)} is larger than input image size {(h, w)}")
        if (h, w) == (th, tw):
            return img
        i = torch.randint(0, h - th + 1, size=(1,)).item()
        j = torch.randint(0, w - tw + 1, size=(1,)).item()
        return img[..., i : i + th, j : j + tw]


class RandomHorizontalFlip(nn.Module):
    def __init__(self, p=0.5):
        super().__init__()
        self.p = p

    def forward(self, img):
        return img.flip(-1) if torch.rand(1).item() < self.p else img


class RandomVerticalFlip(nn.Module):
    def __init__(self, p=0.5):
        super().__init__()
        self.p = p

    def forward(self, img):
        return img.flip(-2) if torch.rand(1).item() < self.p else img


class Pad(nn.Module):
    def __init__(self, padding, fill=0, padding_mode="constant"):
        super().__init__()
        self.padding = (padding,) * 4 if isinstance(padding, int) else padding
        self.fill = fill
        self.padding_mode = padding_mode

    def forward(self, img):
        p = self.padding
        if len(p) == 2:
            p = (p[0], p[1], p[0], p[1])
        return F.pad(img, [p[0], p[2], p[1], p[3]], self.padding_mode, self.fill)


class ConvertImageDtype(nn.Module):
    def __init__(self, dtype):
        super().__init__()
        self.dtype = dtype

    def forward(self, image):
        if image.is_floating_point() == self.dtype.is_floating_point:
            return image.to(self.dtype)
        if self.dtype.is_floating_point:
            return image.to(self.dtype) / torch.iinfo(image.dtype).max
        return image.mul(torch.iinfo(self.dtype).max + 1.0 - 1e-3).to(self.dtype)


class ImageClassification(nn.Module):
    def __init__(
        self, *, crop_size, resize_size=256, mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225), interpolation="bilinear",
        antialias=True,
    ):
        super().__init__()
        self.steps = Compose(
            [
                Resize([resize_size], interpolation, antialias=antialias),
                CenterCrop([crop_size] * 2),
                ConvertImageDtype(torch.float),
                Normalize(mean, std),
            ]
        )

    def forward(self, img):
        return self.steps(img)
