# What files of torchvision import from one another.
import torch.hub
from torch import nn


def _log_api_usage_once(obj):
    pass


load_state_dict_from_url = torch.hub.load_state_dict_from_url


def _make_divisible(v, divisor, min_value=None):
    if min_value is None:
        min_value = divisor
    new = max(min_value, int(v + divisor / 2) // divisor * divisor)
    return new + divisor if new < 0.9 * v else new


def _make_ntuple(x, n):
    return tuple(x) if isinstance(x, (list, tuple)) else (x,) * n


def _ovewrite_named_param(kwargs, param, new_value):
    if param not in kwargs:
        kwargs[param] = new_value
    elif kwargs[param] != new_value:
        raise ValueError(f"The parameter '{param}' expected value {new_value} but got {kwargs[param]} instead.")


def _ovewrite_value_param(param, actual, expected):
    if actual is not None and actual != expected:
        raise ValueError(f"The parameter '{param}' expected value {expected} but got {actual} instead.")
    return expected


def handle_legacy_interface(**weights):
    return lambda function: function


def kwonly_to_pos_or_kw(function):
    return function


def register_model(name=None):
    return lambda function: function


class WeightsEnum:
    @classmethod
    def verify(cls, obj):
        return obj


class Weights:
    def __init__(self, url=None, transforms=None, meta=None):
        self.url = url
        self.transforms = transforms
        self.meta = meta


_IMAGENET_CATEGORIES = [f"class {i}" for i in range(1000)]


class IntermediateLayerGetter(nn.ModuleDict):
    """The layers of a model up to the last that is returned, and their outputs by new names."""

    def __init__(self, model, return_layers):
        if not set(return_layers) <= {name for name, _ in model.named_children()}:
            raise ValueError("return_layers are not present in model")
        layers, left = {}, {str(key) for key in return_layers}
        for name, module in model.named_children():
            layers[name] = module
            left.discard(name)
            if not left:
                break
        super().__init__(layers)
        self.return_layers = {str(key): str(value) for key, value in return_layers.items()}

    def forward(self, x):
        out = {}
        for name, module in self.items():
            x = module(x)
            if name in self.return_layers:
                out[self.return_layers[name]] = x
        return out
