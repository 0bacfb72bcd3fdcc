"""tests/weights/make_weights.py -- writes the files of weights that tests load, and NAME.want: what
model() of NAME.py prints and returns where PyTorch is (recorded with 2.6).

Safetensors are written by hand, for their format is eight bytes, a JSON object and the elements."""
import collections
import contextlib
import io
import json
import os
import struct
import sys

import torch

HERE = os.path.dirname(os.path.abspath(__file__))
os.chdir(HERE)
sys.path.insert(0, HERE)
NAMES = {torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64",
         torch.int32: "I32", torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8", torch.bool: "BOOL",
         torch.float8_e4m3fn: "F8_E4M3"}


def save_safetensors(path, tensors, metadata=None):
    header, elements = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for name, t in tensors.items():
        raw = bytes(t.contiguous().reshape(-1).view(torch.uint8).tolist())
        header[name] = {"dtype": NAMES[t.dtype], "shape": list(t.shape), "data_offsets": [len(elements), len(elements) + len(raw)]}
        elements += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + elements)


def every_kind(net):
    base = torch.arange(12.0)
    group = {"lr": 0.1, "params": [0, 1], "betas": (0.9, 0.99)}
    return {
        "model": net.state_dict(),
        "optimizer": {"state": {0: {"step": torch.tensor(3.0), "exp_avg": torch.ones(2, 2)}}, "param_groups": [group]},
        "epoch": 3, "name": "é", "best": None, "flags": [True, False], "large": 2**62, "negative": -(2**40),
        "base": base, "col": base.view(3, 4).t(), "part": base[4:6], "row": base.view(3, 4)[1:2].expand(2, 4),
        "empty": torch.empty(0, 3), "scalar": torch.tensor(5),
        "bf16": torch.tensor([1.5, -2], dtype=torch.bfloat16), "f16": torch.tensor([1.5], dtype=torch.float16),
        "f64": torch.tensor([0.1], dtype=torch.float64), "i8": torch.tensor([-3, 4], dtype=torch.int8),
        "u8": torch.tensor([200], dtype=torch.uint8), "i16": torch.tensor([-300], dtype=torch.int16),
        "i32": torch.tensor([70000], dtype=torch.int32), "bool": torch.tensor([True, False]),
        "param": torch.nn.Parameter(torch.ones(2)), "leaf": torch.ones(2, requires_grad=True),
        "dtype": torch.float16, "size": torch.Size([2, 3]), "set": {1, 2}, "ordered": collections.OrderedDict(a=1, b=2),
    }


def big_endian(path, of):
    """The archive of `of`, whose elements are all float32, as a machine with the other order writes it."""
    import zipfile

    with zipfile.ZipFile(of) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as out:
        for entry in source.infolist():
            data = source.read(entry)
            if entry.filename.endswith("/byteorder"):
                data = b"big"
            elif "/data/" in entry.filename:
                data = struct.pack(f">{len(data) // 4}f", *struct.unpack(f"<{len(data) // 4}f", data))
            out.writestr(entry.filename, data)


def main():
    torch.manual_seed(0)
    import gpt
    import state

    net = state.Net()
    net(torch.randn(16, 4))
    torch.save(net.state_dict(), "net.pt")
    torch.save(every_kind(net), "every.pt")
    torch.save(every_kind(net)["optimizer"], "protocol4.pt", pickle_protocol=4)
    torch.save({"a": torch.arange(6.0).view(2, 3)}, "little.pt")
    big_endian("big.pt", "little.pt")
    os.remove("little.pt")
    torch.save({"x": torch.ones(2, dtype=torch.float8_e4m3fn)}, "float8.pt")
    torch.save(net, "whole.pt")
    torch.save({"a": torch.ones(2)}, "legacy.pt", _use_new_zipfile_serialization=False)
    save_safetensors("net.safetensors", net.state_dict(), {"format": "pt", "a b": "é\n\U0001f600"})
    kinds = [k for k, v in every_kind(net).items() if isinstance(v, torch.Tensor)]
    save_safetensors("every.safetensors", {k: every_kind(net)[k].detach() for k in kinds})
    save_safetensors("float8.safetensors", {"x": torch.ones(2, dtype=torch.float8_e4m3fn)})
    torch.save({"model": gpt.GPT().state_dict(), "config": gpt.CONFIG}, "gpt.pt")
    for module in (state, gpt):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            module.model(torch.ones(1))
        with open(module.__name__ + ".want", "w") as want:
            want.write(printed.getvalue())


if __name__ == "__main__":
    main()
