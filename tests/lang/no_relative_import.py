from .layers import block
