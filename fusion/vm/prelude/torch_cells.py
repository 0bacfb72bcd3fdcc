# torch's steps of recurrent layers: one call each.
import torch
import torch.nn.functional as F


def _lstm_step(gates, c):
    i, f, g, o = gates.chunk(4, -1)
    c = torch.sigmoid(f) * c + torch.sigmoid(i) * torch.tanh(g)
    return torch.sigmoid(o) * torch.tanh(c), c


def _gru_step(x, h, before):
    xr, xz, xn = x.chunk(3, -1)
    hr, hz, hn = h.chunk(3, -1)
    z = torch.sigmoid(xz + hz)
    n = torch.tanh(xn + torch.sigmoid(xr + hr) * hn)
    return (before - n) * z + n


def lstm_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """One call."""
    h, c = hx
    gates = F.linear(input, w_ih, b_ih) + F.linear(h, w_hh, b_hh)
    h, c = _lstm_step(gates, c)
    return torch._C.getitem(h), torch._C.getitem(c)


def gru_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """One call."""
    return _gru_step(
        F.linear(input, w_ih, b_ih), F.linear(hx, w_hh, b_hh), hx
    )


def rnn_tanh_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """One call."""
    return torch.tanh(
        F.linear(input, w_ih, b_ih) + F.linear(hx, w_hh, b_hh)
    )


def rnn_relu_cell(input, hx, w_ih, w_hh, b_ih=None, b_hh=None):
    """One call."""
    return torch.relu(
        F.linear(input, w_ih, b_ih) + F.linear(hx, w_hh, b_hh)
    )
