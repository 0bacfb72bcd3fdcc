import sin from torch
