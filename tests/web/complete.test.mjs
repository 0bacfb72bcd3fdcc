// tests/web/complete.test.mjs -- whose names complete what is being written.
import assert from "node:assert/strict";
import test from "node:test";
import { askedAt, imported } from "../../web/js/model/complete.js";

const head = "import torch\nimport torch.nn as nn, math\nimport torch.nn.functional as F\nfrom torch import optim\nfrom torch.optim import (lr_scheduler as lr,\n    SGD)\n";
const at = (line, before = head) => {
  const asked = askedAt(before + line, (before + line).length);
  return asked && [asked.module, asked.word, asked.names].filter((x) => x !== undefined);
};

test("names of imports stand for modules", () => {
  assert.deepEqual(Object.fromEntries(imported(head)), { torch: "torch", nn: "torch.nn", math: "math", F: "torch.nn.functional", optim: "torch.optim", lr: "torch.optim.lr_scheduler", SGD: "torch.optim.SGD" });
  assert.deepEqual(Object.fromEntries(imported("import os.path\n")), { os: "os" });
});

test("after a module and a dot come its names, after anything else a tensor's", () => {
  assert.deepEqual(at("y = F.lay"), ["torch.nn.functional", "lay"]);
  assert.deepEqual(at("y = torch.nn.functional."), ["torch.nn.functional", ""]);
  assert.deepEqual(at("z = x + nn.init.xav"), ["torch.nn.init", "xav"]);
  assert.deepEqual(at("y = x.unsq"), ["torch.Tensor", "unsq"]);
  assert.deepEqual(at("y = f(x)[0].su"), ["torch.Tensor", "su"]);
  assert.deepEqual(at("from torch.optim import Ad"), ["torch.optim", "Ad"]);
  assert.deepEqual(at("from torch.optim import SGD, Ad"), ["torch.optim", "Ad"]);
});

test("self has what the text gives it", () => {
  const text = head + "class Net(nn.Module):\n    def __init__(self):\n        self.up = nn.Linear(2, 3)\n    def attend(self, x):\n        return self.up(x)\n    def forward(self, x):\n        return ";
  assert.deepEqual(at("self.u", text), ["", "u", ["__init__", "attend", "forward", "up"]]);
});

test("a word alone, a number, a string and a comment ask for none", () => {
  for (const line of ["y = sof", "y = 1.", "s = \"torch.", "# torch.", "print('x', x)  # F."]) assert.equal(at(line), null, line);
  assert.deepEqual(at("print('#', torch."), ["torch", ""]);
});
