# torch.jit, the classes of what is scripted.
from torch import nn as _nn


class ScriptModule(_nn.Module):
    pass


class RecursiveScriptModule(ScriptModule):
    pass


class ScriptFunction:
    pass
