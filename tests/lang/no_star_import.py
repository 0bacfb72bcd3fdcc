from torch import *
