# input: images=float32[3,3,16,16]
# input: labels=int64[3]<4
"""A ResNet in one file: blocks by class attribute, in-place sums, running statistics."""
from typing import Any, Callable, List, Optional, Type, Union

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor

__all__ = ["ResNet", "resnet"]


def conv3x3(inputs: int, outputs: int, stride: int = 1, groups: int = 1) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, kernel_size=3, stride=stride, padding=1, groups=groups, bias=False)


def conv1x1(inputs: int, outputs: int, stride: int = 1) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, kernel_size=1, stride=stride, bias=False)


class Basic(nn.Module):
    expansion: int = 1

    def __init__(self, inputs, planes, stride=1, downsample=None, norm_layer=None):
        super(Basic, self).__init__()
        norm_layer = nn.BatchNorm2d if norm_layer is None else norm_layer
        self.conv1 = conv3x3(inputs, planes, stride)
        self.bn1 = norm_layer(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = conv3x3(planes, planes)
        self.bn2 = norm_layer(planes)
        self.downsample = downsample

    def forward(self, x: Tensor) -> Tensor:
        identity = x
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        if self.downsample is not None:
            identity = self.downsample(x)
        out += identity
        return self.relu(out)


class Bottleneck(nn.Module):
    expansion: int = 2

    def __init__(self, inputs, planes, stride=1, downsample=None, norm_layer=None):
        super(Bottleneck, self).__init__()
        norm_layer = nn.BatchNorm2d if norm_layer is None else norm_layer
        self.conv1 = conv1x1(inputs, planes)
        self.bn1 = norm_layer(planes)
        self.conv2 = conv3x3(planes, planes, stride, groups=2)
        self.bn2 = norm_layer(planes)
        self.conv3 = conv1x1(planes, planes * self.expansion)
        self.bn3 = norm_layer(planes * self.expansion)
        self.downsample = downsample

    def forward(self, x: Tensor) -> Tensor:
        out = F.relu(self.bn1(self.conv1(x)), inplace=True)
        out = F.relu(self.bn2(self.conv2(out)), inplace=True)
        out = self.bn3(self.conv3(out))
        out += x if self.downsample is None else self.downsample(x)
        return F.relu(out)


class ResNet(nn.Module):
    def __init__(
        self,
        blocks: List[Type[Union[Basic, Bottleneck]]],
        counts: List[int],
        num_classes: int = 4,
        zero_init_residual: bool = False,
        norm_layer: Optional[Callable[..., nn.Module]] = None,
    ) -> None:
        super().__init__()
        self._norm_layer = nn.BatchNorm2d if norm_layer is None else norm_layer
        self.inputs = 4
        self.conv1 = nn.Conv2d(3, self.inputs, kernel_size=5, stride=1, padding=2, bias=False)
        self.bn1 = self._norm_layer(self.inputs)
        self.maxpool = nn.MaxPool2d(kernel_size=3, stride=2, padding=1)
        for i, (block, n) in enumerate(zip(blocks, counts)):
            setattr(self, f"layer{i + 1}", self._layer(block, 4 * 2**i, n, stride=1 if i == 0 else 2))
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(self.inputs, num_classes)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")
            elif isinstance(m, (nn.BatchNorm2d, nn.GroupNorm)):
                nn.init.constant_(m.weight, 1)
                nn.init.constant_(m.bias, 0)
        if zero_init_residual:
            for m in self.modules():
                if isinstance(m, Basic):
                    nn.init.constant_(m.bn2.weight, 0.5)

    def _layer(self, block, planes: int, n: int, stride: int = 1) -> nn.Sequential:
        downsample = None
        if stride != 1 or self.inputs != planes * block.expansion:
            downsample = nn.Sequential(
                conv1x1(self.inputs, planes * block.expansion, stride),
                self._norm_layer(planes * block.expansion),
            )
        layers = [block(self.inputs, planes, stride, downsample, self._norm_layer)]
        self.inputs = planes * block.expansion
        for _ in range(1, n):
            layers.append(block(self.inputs, planes, norm_layer=self._norm_layer))
        return nn.Sequential(*layers)

    def _forward_impl(self, x: Tensor) -> Tensor:
        x = self.maxpool(F.relu(self.bn1(self.conv1(x))))
        x = self.layer2(self.layer1(x))
        return self.fc(torch.flatten(self.avgpool(x), 1))

    def forward(self, x: Tensor) -> Tensor:
        return self._forward_impl(x)


def resnet(**kwargs: Any) -> ResNet:
    return ResNet([Basic, Bottleneck], [2, 1], **kwargs)


torch.manual_seed(4)
net = resnet(zero_init_residual=True)
optimizer = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-4, nesterov=True)


def model(images, labels):
    net.train()
    loss = F.cross_entropy(net(images), labels)
    optimizer.zero_grad()
    loss.backward()
    grads = [p.grad.clone() for p in net.parameters()]
    optimizer.step()
    buffers = [b.clone() for b in net.buffers()]
    net.eval()
    return loss.detach(), grads, buffers, net(images).detach()


if __name__ == "__main__":
    import argparse

    parser = argparse.ArgumentParser()
    train(parser.parse_args())
