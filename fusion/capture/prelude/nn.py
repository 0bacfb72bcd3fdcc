# torch.nn's classes.  Parameters, buffers and submodules are plain attributes:
# a tensor that Parameter() made, one whose name register_buffer() noted, and an
# instance of Module.
import math

import torch
import torch.nn.functional as F
import _prelude

Parameter = _prelude.Parameter


def _uniform(shape, bound, dtype=None):
    # As PyTorch's uniform_(): the bound in float32, one rounding for both steps.
    bound = torch.tensor(bound).item()
    values = torch.rand(*shape).double() * (2 * bound) - bound
    return Parameter(values.to(torch.float32 if dtype is None else dtype))


def _pair(value):
    return value if isinstance(value, tuple) else (value, value)


def _indented(text):
    return "\n  ".join(text.split("\n"))


class Module:
    training = True
    __call__ = _prelude.forward

    def forward(self, *args, **keywords):
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def _call_impl(self, *args, **keywords):
        for hook in self._hooks["before"]:
            changed = hook(self, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
        result = self.forward(*args, **keywords)
        for hook in self._hooks["after"]:
            changed = hook(self, args, result)
            if changed is not None:
                result = changed
        return result

    def _hook(self, when, hook):
        if "_hooks" not in vars(self):
            self._hooks = {"before": [], "after": []}
        self._hooks[when].append(hook)
        return _Handle(self._hooks[when], hook)

    def register_forward_pre_hook(self, hook):
        return self._hook("before", hook)

    def register_forward_hook(self, hook):
        return self._hook("after", hook)

    def __getattr__(self, name):
        if name == "_parameters":
            return dict(self.named_parameters(recurse=False))
        if name == "_buffers":
            return dict(self.named_buffers(recurse=False))
        if name == "_modules":
            return dict(self.named_children())
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def register_buffer(self, name, tensor, persistent=True):
        if "_buffer_names" not in vars(self):
            _prelude.set(self, "_buffer_names", {})
        self._buffer_names[name] = persistent
        _prelude.set(self, name, tensor)

    def register_parameter(self, name, param):
        setattr(self, name, param)

    def add_module(self, name, module):
        setattr(self, name, module)

    def register_module(self, name, module):
        setattr(self, name, module)

    def _own(self, wanted):
        found = []
        buffers = vars(self).get("_buffer_names", {})
        for name, value in vars(self).items():
            if wanted == "modules" and isinstance(value, Module):
                found.append((name, value))
            elif wanted == "parameters" and _prelude.is_parameter(value):
                found.append((name, value))
            elif wanted == "buffers" and name in buffers and value is not None:
                found.append((name, value))
        return found

    def named_children(self):
        return iter(self._own("modules"))

    def children(self):
        return iter([module for _, module in self._own("modules")])

    def _walk(self, prefix, found):
        if any([module is self for _, module in found]):
            return found
        found.append((prefix, self))
        for name, module in self._own("modules"):
            module._walk(prefix + "." + name if prefix else name, found)
        return found

    def named_modules(self, prefix=""):
        return iter(self._walk(prefix, []))

    def modules(self):
        return iter([module for _, module in self._walk("", [])])

    def _named(self, wanted, prefix, recurse):
        found = []
        for path, module in self._walk(prefix, []) if recurse else [(prefix, self)]:
            for name, value in module._own(wanted):
                if not any([other is value for _, other in found]):
                    found.append((path + "." + name if path else name, value))
        return found

    def named_parameters(self, prefix="", recurse=True):
        return iter(self._named("parameters", prefix, recurse))

    def parameters(self, recurse=True):
        return iter([value for _, value in self._named("parameters", "", recurse)])

    def named_buffers(self, prefix="", recurse=True):
        return iter(self._named("buffers", prefix, recurse))

    def buffers(self, recurse=True):
        return iter([value for _, value in self._named("buffers", "", recurse)])

    def state_dict(self):
        found = {}
        for path, module in self._walk("", []):
            kept = vars(module).get("_buffer_names", {})
            for name, value in module._own("parameters"):
                found[path + "." + name if path else name] = value
            for name, value in module._own("buffers"):
                if kept[name]:
                    found[path + "." + name if path else name] = value
        return found

    def load_state_dict(self, state_dict, strict=True):
        own = self.state_dict()
        for name, value in state_dict.items():
            if name in own:
                own[name].copy_(value)
            elif strict:
                raise RuntimeError(f"the state_dict has {name}, which the module has not")
        for name in own:
            if strict and name not in state_dict:
                raise RuntimeError(f"the state_dict has no {name}")

    def get_submodule(self, target):
        module = self
        for name in target.split(".") if target else []:
            module = getattr(module, name)
        return module

    def get_parameter(self, target):
        path, _, name = target.rpartition(".")
        return getattr(self.get_submodule(path), name)

    def train(self, mode=True):
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self):
        return self.train(False)

    def apply(self, fn):
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def requires_grad_(self, requires_grad=True):
        return self

    def zero_grad(self, set_to_none=True):
        pass

    def _convert(self, dtype):
        for module in self.modules():
            for name, value in module._own("parameters"):
                _prelude.set(module, name, Parameter(value.to(dtype)))
            for name, value in module._own("buffers"):
                if value.dtype.is_floating_point:
                    _prelude.set(module, name, value.to(dtype))
        return self

    def to(self, *args, dtype=None, device=None):
        for arg in args:
            if isinstance(arg, torch.dtype):
                dtype = arg
        return self if dtype is None else self._convert(dtype)

    def float(self):
        return self._convert(torch.float32)

    def double(self):
        return self._convert(torch.float64)

    def half(self):
        return self._convert(torch.float16)

    def bfloat16(self):
        return self._convert(torch.bfloat16)

    def cpu(self):
        return self

    def compile(self, *args, **keywords):
        pass

    def extra_repr(self):
        return ""

    def __repr__(self):
        lines = [
            f"({name}): {_indented(repr(module))}" for name, module in self._own("modules")
        ]
        extra = self.extra_repr()
        name = type(self).__name__
        if not lines:
            return f"{name}({extra})"
        if extra:
            lines = extra.split("\n") + lines
        return name + "(\n  " + "\n  ".join(lines) + "\n)"


class _Handle:
    def __init__(self, hooks, hook):
        self.hooks = hooks
        self.hook = hook

    def remove(self):
        if self.hook in self.hooks:
            self.hooks.remove(self.hook)


# ---- containers


class _Container(Module):
    def __len__(self):
        return len(self._own("modules"))

    def __iter__(self):
        return self.children()

    def _number(self, index):
        n = len(self)
        if index < -n or index >= n:
            raise IndexError(f"index {index} is out of range")
        return index + n if index < 0 else index

    def __getitem__(self, index):
        if isinstance(index, slice):
            return type(self)(*self._picked(index))
        return self._own("modules")[self._number(index)][1]

    def __setitem__(self, index, module):
        setattr(self, self._own("modules")[self._number(index)][0], module)

    def append(self, module):
        setattr(self, str(len(self)), module)
        return self

    def extend(self, modules):
        for module in modules:
            self.append(module)
        return self


class Sequential(_Container):
    def __init__(self, *args):
        if len(args) == 1 and isinstance(args[0], dict):
            for name, module in args[0].items():
                setattr(self, name, module)
        else:
            for i, module in enumerate(args):
                setattr(self, str(i), module)

    def _picked(self, index):
        return list(self.children())[index]

    def forward(self, input):
        for module in self:
            input = module(input)
        return input


class ModuleList(_Container):
    def __init__(self, modules=()):
        for i, module in enumerate(modules):
            setattr(self, str(i), module)

    def _picked(self, index):
        return (list(self.children())[index],)

    def insert(self, index, module):
        modules = list(self.children())
        modules.insert(index, module)
        for i, each in enumerate(modules):
            setattr(self, str(i), each)

    def __contains__(self, module):
        return any([each is module for each in self.children()])


class ModuleDict(Module):
    def __init__(self, modules=None):
        self.update({} if modules is None else modules)

    def update(self, modules):
        for name, module in modules.items() if isinstance(modules, dict) else modules:
            setattr(self, name, module)

    def __getitem__(self, name):
        return getattr(self, name)

    def __setitem__(self, name, module):
        setattr(self, name, module)

    def __delitem__(self, name):
        delattr(self, name)

    def __len__(self):
        return len(self._own("modules"))

    def __iter__(self):
        return iter(self.keys())

    def __contains__(self, name):
        return name in self.keys()

    def keys(self):
        return [name for name, _ in self._own("modules")]

    def values(self):
        return [module for _, module in self._own("modules")]

    def items(self):
        return self._own("modules")


class ParameterList(Module):
    def __init__(self, values=()):
        self.extend(values)

    def append(self, value):
        setattr(self, str(len(self)), Parameter(value))
        return self

    def extend(self, values):
        for value in values:
            self.append(value)
        return self

    def __len__(self):
        return len(self._own("parameters"))

    def __iter__(self):
        return iter([value for _, value in self._own("parameters")])

    def __getitem__(self, index):
        return [value for _, value in self._own("parameters")][index]


class ParameterDict(Module):
    def __init__(self, values=None):
        for name, value in ({} if values is None else values).items():
            setattr(self, name, Parameter(value))

    def __getitem__(self, name):
        return getattr(self, name)

    def __setitem__(self, name, value):
        setattr(self, name, Parameter(value))

    def keys(self):
        return [name for name, _ in self._own("parameters")]

    def values(self):
        return [value for _, value in self._own("parameters")]

    def items(self):
        return self._own("parameters")

    def __len__(self):
        return len(self._own("parameters"))

    def __contains__(self, name):
        return name in self.keys()


# ---- layers with parameters


class Identity(Module):
    def __init__(self, *args, **keywords):
        pass

    def forward(self, input):
        return input


class Linear(Module):
    def __init__(self, in_features, out_features, bias=True, device=None, dtype=None):
        self.in_features = in_features
        self.out_features = out_features
        bound = 1 / math.sqrt(in_features) if in_features > 0 else 0.0
        self.weight = _uniform((out_features, in_features), bound, dtype)
        self.bias = _uniform((out_features,), bound, dtype) if bias else None

    def forward(self, input):
        return F.linear(input, self.weight, self.bias)

    def extra_repr(self):
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, "
            f"bias={self.bias is not None}"
        )


class Bilinear(Module):
    def __init__(self, in1_features, in2_features, out_features, bias=True):
        bound = 1 / math.sqrt(in1_features)
        self.weight = _uniform((out_features, in1_features, in2_features), bound)
        self.bias = _uniform((out_features,), bound) if bias else None

    def forward(self, input1, input2):
        result = torch.einsum("...i,oij,...j->...o", input1, self.weight, input2)
        return result if self.bias is None else result + self.bias


class Embedding(Module):
    def __init__(self, num_embeddings, embedding_dim, padding_idx=None):
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = padding_idx
        weight = torch.randn(num_embeddings, embedding_dim)
        if padding_idx is not None:
            weight[padding_idx] = 0.0
        self.weight = Parameter(weight)

    def forward(self, input):
        return F.embedding(input, self.weight, self.padding_idx)

    def extra_repr(self):
        return f"{self.num_embeddings}, {self.embedding_dim}"


class LayerNorm(Module):
    def __init__(self, normalized_shape, eps=1e-05, elementwise_affine=True, bias=True):
        if isinstance(normalized_shape, int):
            normalized_shape = (normalized_shape,)
        self.normalized_shape = tuple(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.weight = Parameter(torch.ones(*self.normalized_shape)) if elementwise_affine else None
        self.bias = (
            Parameter(torch.zeros(*self.normalized_shape))
            if elementwise_affine and bias
            else None
        )

    def forward(self, input):
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class RMSNorm(Module):
    def __init__(self, normalized_shape, eps=None, elementwise_affine=True):
        if isinstance(normalized_shape, int):
            normalized_shape = (normalized_shape,)
        self.normalized_shape = tuple(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        self.weight = Parameter(torch.ones(*self.normalized_shape)) if elementwise_affine else None

    def forward(self, input):
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self):
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Module):
    def __init__(self, num_groups, num_channels, eps=1e-05, affine=True):
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        self.weight = Parameter(torch.ones(num_channels)) if affine else None
        self.bias = Parameter(torch.zeros(num_channels)) if affine else None

    def forward(self, input):
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self):
        return f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}"


class _BatchNorm(Module):
    def __init__(
        self, num_features, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True
    ):
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        self.weight = Parameter(torch.ones(num_features)) if affine else None
        self.bias = Parameter(torch.zeros(num_features)) if affine else None
        self.register_buffer("running_mean", torch.zeros(num_features) if track_running_stats else None)
        self.register_buffer("running_var", torch.ones(num_features) if track_running_stats else None)
        self.register_buffer(
            "num_batches_tracked", torch.tensor(0) if track_running_stats else None
        )

    def forward(self, input):
        if not self.training:
            if self.running_mean is None:
                return F.batch_norm(
                    input, None, None, self.weight, self.bias, True, 0.0, self.eps
                )
            return F.batch_norm(
                input,
                self.running_mean,
                self.running_var,
                self.weight,
                self.bias,
                False,
                self.momentum,
                self.eps,
            )
        if self.track_running_stats:
            self.num_batches_tracked.add_(1)
            dims = (0,) + tuple(range(2, input.dim()))
            mean = input.mean(dims)
            var = input.var(dims)
            self.running_mean.mul_(1 - self.momentum).add_(mean * self.momentum)
            self.running_var.mul_(1 - self.momentum).add_(var * self.momentum)
        return F.batch_norm(
            input, None, None, self.weight, self.bias, True, self.momentum, self.eps
        )

    def extra_repr(self):
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    pass


class BatchNorm2d(_BatchNorm):
    pass


class BatchNorm3d(_BatchNorm):
    pass


class _Conv(Module):
    def _init(self, dims, in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias):
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size if isinstance(kernel_size, tuple) else (kernel_size,) * dims
        self.stride = stride if isinstance(stride, tuple) else (stride,) * dims
        self.padding = padding if isinstance(padding, (tuple, str)) else (padding,) * dims
        self.dilation = dilation if isinstance(dilation, tuple) else (dilation,) * dims
        self.groups = groups
        shape = (out_channels, in_channels // groups) + self.kernel_size
        bound = 1 / math.sqrt(math.prod(shape[1:]))
        self.weight = _uniform(shape, bound)
        self.bias = _uniform((out_channels,), bound) if bias else None

    def extra_repr(self):
        return (
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, "
            f"stride={self.stride}"
        )


class Conv1d(_Conv):
    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True
    ):
        self._init(1, in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias)

    def forward(self, input):
        return F.conv1d(
            input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups
        )


class Conv2d(_Conv):
    def __init__(
        self, in_channels, out_channels, kernel_size, stride=1, padding=0, dilation=1, groups=1, bias=True
    ):
        self._init(2, in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias)

    def forward(self, input):
        return F.conv2d(
            input, self.weight, self.bias, self.stride, self.padding, self.dilation, self.groups
        )


class MaxPool2d(Module):
    def __init__(self, kernel_size, stride=None, padding=0):
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding

    def forward(self, input):
        return F.max_pool2d(input, self.kernel_size, self.stride, self.padding)


class AvgPool2d(Module):
    def __init__(self, kernel_size, stride=None, padding=0):
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding

    def forward(self, input):
        return F.avg_pool2d(input, self.kernel_size, self.stride, self.padding)


class AdaptiveAvgPool2d(Module):
    def __init__(self, output_size):
        self.output_size = output_size

    def forward(self, input):
        return F.adaptive_avg_pool2d(input, self.output_size)


class MultiheadAttention(Module):
    def __init__(self, embed_dim, num_heads, dropout=0.0, bias=True, batch_first=False):
        self.embed_dim = embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        bound = math.sqrt(6 / (4 * embed_dim))
        self.in_proj_weight = _uniform((3 * embed_dim, embed_dim), bound)
        self.in_proj_bias = Parameter(torch.zeros(3 * embed_dim)) if bias else None
        self.out_proj = Linear(embed_dim, embed_dim, bias)

    def _heads(self, x, part):
        n = self.embed_dim
        weight = self.in_proj_weight[part * n : (part + 1) * n]
        bias = None if self.in_proj_bias is None else self.in_proj_bias[part * n : (part + 1) * n]
        x = F.linear(x, weight, bias)
        return x.view(x.size(0), x.size(1), self.num_heads, n // self.num_heads).transpose(1, 2)

    def forward(self, query, key, value, need_weights=True, attn_mask=None):
        if not self.batch_first:
            query, key, value = query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1)
        q, k, v = self._heads(query, 0), self._heads(key, 1), self._heads(value, 2)
        scores = q @ k.transpose(-2, -1) / math.sqrt(self.embed_dim // self.num_heads)
        if attn_mask is not None:
            if attn_mask.dtype == torch.bool:
                scores = scores.masked_fill(attn_mask, float("-inf"))
            else:
                scores = scores + attn_mask
        weights = F.dropout(F.softmax(scores, dim=-1), self.dropout, self.training)
        out = (weights @ v).transpose(1, 2).reshape(query.size(0), query.size(1), self.embed_dim)
        out = self.out_proj(out)
        if not self.batch_first:
            out = out.transpose(0, 1)
        return out, weights.mean(1) if need_weights else None


# ---- layers without parameters


class Dropout(Module):
    def __init__(self, p=0.5, inplace=False):
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def forward(self, input):
        return F.dropout(input, self.p, self.training, self.inplace)

    def extra_repr(self):
        return f"p={self.p}, inplace={self.inplace}"


class Flatten(Module):
    def __init__(self, start_dim=1, end_dim=-1):
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input):
        return input.flatten(self.start_dim, self.end_dim)


class Unflatten(Module):
    def __init__(self, dim, unflattened_size):
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input):
        return input.unflatten(self.dim, self.unflattened_size)


class ReLU(Module):
    def __init__(self, inplace=False):
        self.inplace = inplace

    def forward(self, input):
        return input.relu_() if self.inplace else F.relu(input)


class GELU(Module):
    def __init__(self, approximate="none"):
        self.approximate = approximate

    def forward(self, input):
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self):
        return f"approximate={self.approximate!r}"


class SiLU(Module):
    def __init__(self, inplace=False):
        self.inplace = inplace

    def forward(self, input):
        return F.silu(input)


class Mish(Module):
    def __init__(self, inplace=False):
        self.inplace = inplace

    def forward(self, input):
        return F.mish(input)


class Tanh(Module):
    def forward(self, input):
        return torch.tanh(input)


class Sigmoid(Module):
    def forward(self, input):
        return torch.sigmoid(input)


class LogSigmoid(Module):
    def forward(self, input):
        return F.logsigmoid(input)


class Softsign(Module):
    def forward(self, input):
        return F.softsign(input)


class Tanhshrink(Module):
    def forward(self, input):
        return F.tanhshrink(input)


class Hardswish(Module):
    def __init__(self, inplace=False):
        self.inplace = inplace

    def forward(self, input):
        return F.hardswish(input)


class Hardsigmoid(Module):
    def __init__(self, inplace=False):
        self.inplace = inplace

    def forward(self, input):
        return F.hardsigmoid(input)


class ReLU6(Module):
    def __init__(self, inplace=False):
        self.inplace = inplace

    def forward(self, input):
        return F.relu6(input)


class Hardtanh(Module):
    def __init__(self, min_val=-1.0, max_val=1.0, inplace=False):
        self.min_val = min_val
        self.max_val = max_val

    def forward(self, input):
        return F.hardtanh(input, self.min_val, self.max_val)


class LeakyReLU(Module):
    def __init__(self, negative_slope=0.01, inplace=False):
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input):
        return F.leaky_relu(input, self.negative_slope)

    def extra_repr(self):
        return f"negative_slope={self.negative_slope}"


class ELU(Module):
    def __init__(self, alpha=1.0, inplace=False):
        self.alpha = alpha
        self.inplace = inplace

    def forward(self, input):
        return F.elu(input, self.alpha)

    def extra_repr(self):
        return f"alpha={self.alpha}"


class CELU(Module):
    def __init__(self, alpha=1.0, inplace=False):
        self.alpha = alpha

    def forward(self, input):
        return F.celu(input, self.alpha)


class SELU(Module):
    def __init__(self, inplace=False):
        self.inplace = inplace

    def forward(self, input):
        return F.selu(input)


class Softplus(Module):
    def __init__(self, beta=1.0, threshold=20.0):
        self.beta = beta
        self.threshold = threshold

    def forward(self, input):
        return F.softplus(input, self.beta, self.threshold)


class GLU(Module):
    def __init__(self, dim=-1):
        self.dim = dim

    def forward(self, input):
        return F.glu(input, self.dim)


class PReLU(Module):
    def __init__(self, num_parameters=1, init=0.25):
        self.weight = Parameter(torch.full((num_parameters,), init))

    def forward(self, input):
        weight = self.weight
        if weight.numel() > 1:
            weight = weight.view(*((-1,) + (1,) * (input.dim() - 2)))
        return torch.where(input >= 0, input, input * weight)


class Softmax(Module):
    def __init__(self, dim=None):
        self.dim = dim

    def forward(self, input):
        return F.softmax(input, self.dim)

    def extra_repr(self):
        return f"dim={self.dim}"


class LogSoftmax(Module):
    def __init__(self, dim=None):
        self.dim = dim

    def forward(self, input):
        return F.log_softmax(input, self.dim)

    def extra_repr(self):
        return f"dim={self.dim}"


class CosineSimilarity(Module):
    def __init__(self, dim=1, eps=1e-08):
        self.dim = dim
        self.eps = eps

    def forward(self, x1, x2):
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


# ---- losses


class _Loss(Module):
    def __init__(self, reduction="mean"):
        self.reduction = reduction


class MSELoss(_Loss):
    def forward(self, input, target):
        return F.mse_loss(input, target, reduction=self.reduction)


class L1Loss(_Loss):
    def forward(self, input, target):
        return F.l1_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(Module):
    def __init__(self, reduction="mean", beta=1.0):
        self.reduction = reduction
        self.beta = beta

    def forward(self, input, target):
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(Module):
    def __init__(self, reduction="mean", delta=1.0):
        self.reduction = reduction
        self.delta = delta

    def forward(self, input, target):
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class BCELoss(_Loss):
    def forward(self, input, target):
        return F.binary_cross_entropy(input, target, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    def forward(self, input, target):
        return F.binary_cross_entropy_with_logits(input, target, reduction=self.reduction)


class KLDivLoss(Module):
    def __init__(self, reduction="mean", log_target=False):
        self.reduction = reduction
        self.log_target = log_target

    def forward(self, input, target):
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class NLLLoss(Module):
    def __init__(self, weight=None, ignore_index=-100, reduction="mean"):
        self.register_buffer("weight", weight)
        self.ignore_index = ignore_index
        self.reduction = reduction

    def forward(self, input, target):
        return F.nll_loss(
            input, target, self.weight, ignore_index=self.ignore_index, reduction=self.reduction
        )


class CrossEntropyLoss(Module):
    def __init__(self, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
        self.register_buffer("weight", weight)
        self.ignore_index = ignore_index
        self.reduction = reduction
        self.label_smoothing = label_smoothing

    def forward(self, input, target):
        return F.cross_entropy(
            input,
            target,
            self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )
