"""A VGG stage: two convolutions and a pooling."""
# input: x=float32[2,16,28,28]
import torch
import torch.nn as nn


def make_layers(config, channels):
    layers = []
    for item in config:
        if item == "M":
            layers += [nn.MaxPool2d(kernel_size=2, stride=2)]
        else:
            layers += [nn.Conv2d(channels, item, kernel_size=3, padding=1), nn.ReLU(inplace=True)]
            channels = item
    return nn.Sequential(*layers)


torch.manual_seed(0)
model = make_layers([32, 32, "M"], 16).eval()
