# torch.version: of a build without CUDA and HIP.
import torch

__version__ = torch.__version__
cuda = None
hip = None
xpu = None
git_version = "unknown"
debug = False
