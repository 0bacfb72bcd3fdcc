# torchvision.utils: pictures of a batch.  A file has the numbers as PPM has them, whatever its name.
import math
import torch

import _files


def _scale(t, low, high):
    t.clamp_(min=low, max=high)
    t.sub_(low).div_(max(high - low, 1e-5))


def _range(t, value_range):
    if value_range is not None:
        _scale(t, value_range[0], value_range[1])
    else:
        _scale(t, float(t.min()), float(t.max()))


@torch.no_grad()
def make_grid(tensor, nrow=8, padding=2, normalize=False, value_range=None, scale_each=False, pad_value=0.0):
    """The images of a batch side by side, nrow of them in a row."""
    if not torch.is_tensor(tensor):
        if not isinstance(tensor, list):
            raise TypeError(f"tensor or list of tensors expected, got {type(tensor)}")
        for t in tensor:
            if not torch.is_tensor(t):
                raise TypeError(f"tensor or list of tensors expected, got a list containing {type(t)}")
        tensor = torch.stack(tensor, dim=0)
    if tensor.dim() == 2:
        tensor = tensor.unsqueeze(0)
    if tensor.dim() == 3:
        if tensor.size(0) == 1:
            tensor = torch.cat((tensor, tensor, tensor), 0)
        tensor = tensor.unsqueeze(0)
    if tensor.dim() == 4 and tensor.size(1) == 1:
        tensor = torch.cat((tensor, tensor, tensor), 1)
    if normalize:
        tensor = tensor.clone()
        if value_range is not None and not isinstance(value_range, tuple):
            raise TypeError("value_range has to be a tuple (min, max) if specified. min and max are numbers")
        if scale_each:
            for t in tensor:
                _range(t, value_range)
        else:
            _range(tensor, value_range)
    if tensor.size(0) == 1:
        return tensor.squeeze(0)
    count = tensor.size(0)
    across = min(nrow, count)
    down = int(math.ceil(float(count) / across))
    height, width = int(tensor.size(2) + padding), int(tensor.size(3) + padding)
    grid = tensor.new_full((tensor.size(1), height * down + padding, width * across + padding), pad_value)
    for k in range(count):
        y, x = k // across * height + padding, k % across * width + padding
        grid[:, y : y + height - padding, x : x + width - padding] = tensor[k]
    return grid


@torch.no_grad()
def save_image(tensor, fp, format=None, **kwargs):
    grid = make_grid(tensor, **kwargs)
    pixels = grid.mul(255).add_(0.5).clamp_(0, 255).permute(1, 2, 0).to(torch.uint8)
    content = f"P6\n{pixels.shape[1]} {pixels.shape[0]}\n255\n".encode() + bytes(pixels.reshape(-1).tolist())
    if hasattr(fp, "write"):
        fp.write(content)
        return
    with _files.opened(fp, "wb") as file:
        file.write(content)
