# torch.nn: recurrent layers and their cells.
import math

import _random_numbers
import _prelude
import torch
import torch.nn.functional as F
from torch.nn import Module, Parameter


def _uniform(shape, bound, dtype, device):
    return Parameter(_random_numbers.even(shape, bound, dtype, device))


class RNNCellBase(Module):
    gates = 1

    def __init__(self, input_size, hidden_size, bias=True, device=None, dtype=None):
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        bound = 1.0 / math.sqrt(hidden_size) if hidden_size > 0 else 0
        rows = self.gates * hidden_size
        self.weight_ih = _uniform((rows, input_size), bound, dtype, device)
        self.weight_hh = _uniform((rows, hidden_size), bound, dtype, device)
        self.bias_ih = _uniform((rows,), bound, dtype, device) if bias else None
        self.bias_hh = _uniform((rows,), bound, dtype, device) if bias else None

    def _start(self, input, hx):
        return torch.zeros(input.size(0), self.hidden_size, dtype=input.dtype) if hx is None else hx

    def _weights(self):
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}" + ("" if self.bias else ", bias=False")
        nonlinearity = getattr(self, "nonlinearity", "tanh")
        return text + (f", nonlinearity={nonlinearity}" if nonlinearity != "tanh" else "")


class RNNCell(RNNCellBase):
    def __init__(self, input_size, hidden_size, bias=True, nonlinearity="tanh", device=None, dtype=None):
        super().__init__(input_size, hidden_size, bias, device, dtype)
        if nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {nonlinearity}")
        self.nonlinearity = nonlinearity

    def forward(self, input, hx=None):
        single = input.dim() == 1
        if single:
            input, hx = input.unsqueeze(0), None if hx is None else hx.unsqueeze(0)
        hx = self._start(input, hx)
        cell = torch.rnn_tanh_cell if self.nonlinearity == "tanh" else torch.rnn_relu_cell
        out = cell(input, hx, *self._weights())
        return out.squeeze(0) if single else out


class GRUCell(RNNCellBase):
    gates = 3

    def forward(self, input, hx=None):
        single = input.dim() == 1
        if single:
            input, hx = input.unsqueeze(0), None if hx is None else hx.unsqueeze(0)
        out = torch.gru_cell(input, self._start(input, hx), *self._weights())
        return out.squeeze(0) if single else out


class LSTMCell(RNNCellBase):
    gates = 4

    def forward(self, input, hx=None):
        single = input.dim() == 1
        if single:
            input = input.unsqueeze(0)
            hx = None if hx is None else (hx[0].unsqueeze(0), hx[1].unsqueeze(0))
        if hx is None:
            zeros = self._start(input, None)
            hx = (zeros, zeros)
        h, c = torch.lstm_cell(input, hx, *self._weights())
        return (h.squeeze(0), c.squeeze(0)) if single else (h, c)


class RNNBase(Module):
    gates = 1
    mode = "RNN_TANH"

    def __init__(
        self, input_size, hidden_size, num_layers=1, bias=True, batch_first=False, dropout=0.0,
        bidirectional=False, proj_size=0, device=None, dtype=None,
    ):
        if proj_size < 0:
            raise ValueError(
                "proj_size should be a positive integer or zero to disable projections"
            )
        if proj_size >= hidden_size > 0:
            raise ValueError("proj_size has to be smaller than hidden_size")
        if proj_size and self.mode != "LSTM":
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        if hidden_size <= 0:
            raise ValueError("hidden_size must be greater than zero")
        if num_layers <= 0:
            raise ValueError("num_layers must be greater than zero")
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        bound = 1.0 / math.sqrt(hidden_size)
        rows = self.gates * hidden_size
        given = proj_size or hidden_size
        for layer in range(num_layers):
            size = input_size if layer == 0 else given * (2 if bidirectional else 1)
            for end in self._ends(layer):
                setattr(self, "weight_ih" + end, _uniform((rows, size), bound, dtype, device))
                setattr(self, "weight_hh" + end, _uniform((rows, given), bound, dtype, device))
                if bias:
                    setattr(self, "bias_ih" + end, _uniform((rows,), bound, dtype, device))
                    setattr(self, "bias_hh" + end, _uniform((rows,), bound, dtype, device))
                if proj_size:
                    setattr(self, "weight_hr" + end, _uniform((proj_size, hidden_size), bound, dtype, device))

    def _zeros(self, batch, parts, dtype):
        """A state to begin with: what a layer gives, and its cells."""
        given = torch.zeros(batch, self.proj_size or self.hidden_size, dtype=dtype)
        if parts == 2 and self.proj_size:
            return given, torch.zeros(batch, self.hidden_size, dtype=dtype)
        return (given,) * parts

    def _recurrent(self, end):
        """What a step multiplies its state by, and adds; and what projects it, where something does."""
        found = (self._weight("weight_hh" + end), self._weight("bias_hh" + end))
        return found + (getattr(self, "weight_hr" + end),) if self.proj_size else found

    def _ends(self, layer):
        return [f"_l{layer}", f"_l{layer}_reverse"] if self.bidirectional else [f"_l{layer}"]

    def flatten_parameters(self):
        pass

    @property
    def all_weights(self):
        names = ("weight_ih", "weight_hh") + (("bias_ih", "bias_hh") if self.bias else ())
        names += ("weight_hr",) if self.proj_size else ()
        ends = [end for layer in range(self.num_layers) for end in self._ends(layer)]
        return [[getattr(self, name + end) for name in names] for end in ends]

    @property
    def _flat_weights(self):
        return [weight for layer in self.all_weights for weight in layer]

    def _weight(self, name):
        return getattr(self, name) if self.bias or name[0] == "w" else None

    def _direction(self, x, end, state, backwards):
        """The outputs of one direction of one layer, and its last state."""
        inputs = F.linear(x, self._weight("weight_ih" + end), self._weight("bias_ih" + end))
        weights = self._recurrent(end)
        outs = []
        steps = inputs.unbind(0)
        for step in steps[::-1] if backwards else steps:
            state = self._step(step, state, *weights)
            outs.append(state[0])
        return torch.stack(outs[::-1] if backwards else outs), state

    def _run(self, x, states, sizes=None):
        """`states`: a tuple for each direction of each layer, of one or two tensors; `sizes` of a
        packed sequence."""
        last = []
        for layer in range(self.num_layers):
            made = []
            for k, end in enumerate(self._ends(layer)):
                if sizes is None:
                    out, state = self._direction(x, end, states[len(last)], k == 1)
                else:
                    out, state = self._packed_direction(x, sizes, end, states[len(last)], k == 1)
                made.append(out)
                last.append(state)
            x = made[0] if len(made) == 1 else torch.cat(made, -1)
            if self.dropout > 0.0 and layer + 1 < self.num_layers:
                x = F.dropout(x, self.dropout, self.training)
        return x, last

    def _packed_direction(self, x, sizes, end, state, backwards):
        """The same where `sizes` sequences of the batch have a step: the first ones, for they are sorted."""
        inputs = F.linear(x, self._weight("weight_ih" + end), self._weight("bias_ih" + end))
        weights = self._recurrent(end)
        steps = list(zip(inputs.split(sizes), sizes))
        outs = []
        for step, n in steps[::-1] if backwards else steps:
            new = self._step(step, tuple([part[:n] for part in state]), *weights)
            state = tuple([torch.cat([fresh, part[n:]]) for fresh, part in zip(new, state)])
            outs.append(new[0])
        return torch.cat(outs[::-1] if backwards else outs), state

    def _packed(self, input, hx, parts):
        """The output, packed, and the last states, of a packed sequence."""
        _prelude.rnn()
        sizes = input.batch_sizes.tolist()
        n = self.num_layers * (2 if self.bidirectional else 1)
        if hx is None:
            zeros = self._zeros(sizes[0], parts, input.data.dtype)
            states = [zeros for _ in range(n)]
        else:
            order = input.sorted_indices
            given = hx if order is None else [h.index_select(1, order) for h in hx]
            states = [tuple([h[k] for h in given]) for k in range(n)]
        x, last = self._run(input.data, states, sizes)
        ends = [torch.stack([state[part] for state in last]) for part in range(parts)]
        if input.unsorted_indices is not None:
            ends = [e.index_select(1, input.unsorted_indices) for e in ends]
        return input._replace(data=x), ends

    def _begin(self, input, hx, parts):
        """Time first, with a batch; the states, and whether there was no batch."""
        _prelude.rnn()
        if input.dim() not in (2, 3):
            raise ValueError(f"{type(self).__name__}: Expected input to be 2D or 3D, got {input.dim()}D instead")
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got {input.size(-1)}"
            )
        single = input.dim() == 2
        if single:
            x = input.unsqueeze(1)
        else:
            x = input.transpose(0, 1) if self.batch_first else input
        n = self.num_layers * (2 if self.bidirectional else 1)
        if hx is None:
            zeros = self._zeros(x.size(1), parts, x.dtype)
            states = [zeros for _ in range(n)]
        else:
            given = [h.unsqueeze(1) if single else h for h in hx]
            states = [tuple([h[k] for h in given]) for k in range(n)]
        return x, states, single

    def _end(self, x, last, single):
        if single:
            x = x.squeeze(1)
        elif self.batch_first:
            x = x.transpose(0, 1)
        ends = [torch.stack([state[part] for state in last]) for part in range(len(last[0]))]
        return x, [e.squeeze(1) if single else e for e in ends]

    def extra_repr(self):
        text = f"{self.input_size}, {self.hidden_size}"
        if self.proj_size:
            text += f", proj_size={self.proj_size}"
        if self.num_layers != 1:
            text += f", num_layers={self.num_layers}"
        if not self.bias:
            text += f", bias={self.bias}"
        if self.batch_first:
            text += f", batch_first={self.batch_first}"
        if self.dropout != 0:
            text += f", dropout={self.dropout}"
        if self.bidirectional:
            text += f", bidirectional={self.bidirectional}"
        return text


class RNN(RNNBase):
    def __init__(self, *args, nonlinearity="tanh", **keywords):
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        self.nonlinearity = nonlinearity
        super().__init__(*args, **keywords)

    def _step(self, x, state, w, b):
        total = x + F.linear(state[0], w, b)
        return (torch.tanh(total) if self.nonlinearity == "tanh" else torch.relu(total),)

    def forward(self, input, hx=None):
        if not isinstance(input, torch.Tensor):
            out, (h,) = self._packed(input, None if hx is None else (hx,), 1)
            return out, h
        x, states, single = self._begin(input, None if hx is None else (hx,), 1)
        out, (h,) = self._end(*self._run(x, states), single)
        return out, h


class GRU(RNNBase):
    gates = 3

    def _step(self, x, state, w, b):
        h = state[0]
        xr, xz, xn = x.chunk(3, -1)
        hr, hz, hn = F.linear(h, w, b).chunk(3, -1)
        z = torch.sigmoid(xz + hz)
        n = torch.tanh(xn + torch.sigmoid(xr + hr) * hn)
        return ((h - n) * z + n,)

    def forward(self, input, hx=None):
        if not isinstance(input, torch.Tensor):
            out, (h,) = self._packed(input, None if hx is None else (hx,), 1)
            return out, h
        x, states, single = self._begin(input, None if hx is None else (hx,), 1)
        out, (h,) = self._end(*self._run(x, states), single)
        return out, h


class LSTM(RNNBase):
    gates = 4
    mode = "LSTM"

    def _step(self, x, state, w, b, projection=None):
        h, c = state
        i, f, g, o = (x + F.linear(h, w, b)).chunk(4, -1)
        c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
        h = torch.sigmoid(o) * torch.tanh(c)
        return h if projection is None else F.linear(h, projection), c

    def forward(self, input, hx=None):
        if not isinstance(input, torch.Tensor):
            out, (h, c) = self._packed(input, hx, 2)
            return out, (h, c)
        if torch._C._autocast_mode("enabled", "run"):  # one op to torch, all in the lower dtype
            dtype = torch._C._autocast_mode("dtype", "run")
            input = input.to(dtype)
            hx = None if hx is None else (hx[0].to(dtype), hx[1].to(dtype))
        x, states, single = self._begin(input, hx, 2)
        out, (h, c) = self._end(*self._run(x, states), single)
        return out, (h, c)
