"""ResNet-50, forward."""
import torch
import torch.nn as nn
import torch.nn.functional as F

STAGES, WIDTH, CLASSES = ((1, 1), 8, 10) if SMALL else ((3, 4, 6, 3), 64, 1000)


class Bottleneck(nn.Module):
    def __init__(self, inputs, width, stride):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(inputs, width, 1, bias=False), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = nn.Conv2d(width, width, 3, stride, 1, bias=False), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = nn.Conv2d(width, 4 * width, 1, bias=False), nn.BatchNorm2d(4 * width)
        self.short = None
        if stride != 1 or inputs != 4 * width:
            self.short = nn.Sequential(nn.Conv2d(inputs, 4 * width, 1, stride, bias=False), nn.BatchNorm2d(4 * width))

    def forward(self, x):
        y = F.relu(self.bn1(self.conv1(x)))
        y = F.relu(self.bn2(self.conv2(y)))
        y = self.bn3(self.conv3(y))
        return F.relu(y + (x if self.short is None else self.short(x)))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, WIDTH, 7, 2, 3, bias=False), nn.BatchNorm2d(WIDTH), nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1))
        layers, inputs = [], WIDTH
        for i, n in enumerate(STAGES):
            for j in range(n):
                layers.append(Bottleneck(inputs, WIDTH << i, 2 if i > 0 and j == 0 else 1))
                inputs = 4 * (WIDTH << i)
        self.layers = nn.Sequential(*layers)
        self.fc = nn.Linear(inputs, CLASSES)

    def forward(self, x):
        x = self.layers(self.stem(x))
        return self.fc(F.adaptive_avg_pool2d(x, 1).flatten(1))


torch.manual_seed(0)
with torch.device(DEVICE):
    net = ResNet().to(torch.bfloat16).eval()


def model(x):
    with torch.no_grad():
        return net(x)
