# torch.save and torch.load, which are read on first use.
import _weights

load = _weights.load
save = _weights.save
