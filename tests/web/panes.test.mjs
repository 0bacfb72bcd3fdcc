// tests/web/panes.test.mjs -- what belongs together in the panes of a graph.
import assert from "node:assert/strict";
import { test } from "node:test";
import { ofKernel, ofNodes, ofPlace, textOf, tileParts } from "../../web/js/model/panes.js";

const node = (id, line, kernel = null, more = {}) => ({ id, op: id, args: "", dtype: "float32", shape: "[4]", line, file: "", reads: [], kernel, gone: false, ...more });
const g = { kernel_details: [{ name: "a", lines: [4] }, { name: "b", lines: [5, 6] }, { name: "c", lines: [5] }] };
const after = { nodes: [node("x", 0), node("sin", 4, "0"), node("mul", 5, "1"), node("add", 6, "1"), node("max", 5, "2")], kernels: ["0", "1", "2"], outputs: [], first: 0, title: "" };
const captured = { ...after, kernels: [], first: undefined, nodes: after.nodes.map((n) => ({ ...n, kernel: null })) };
const told = (t) => [[...t.places].sort(), [...t.nodes].sort(), [...t.kernels].sort()];

test("a node has its line and its kernel; before there are kernels those of its line", () => {
  assert.deepEqual(told(ofNodes(g, after, [after.nodes[3]])), [["6"], ["add"], [1]]);
  assert.deepEqual(told(ofNodes(g, captured, [captured.nodes[2]])), [["5"], ["mul"], [1, 2]]);
  assert.deepEqual(told(ofNodes(g, after, [after.nodes[0]])), [[], ["x"], []]);
});

test("a line has its nodes and all kernels that compute something of it", () => {
  assert.deepEqual(told(ofPlace(g, after, { line: 5, file: "" })), [["5"], ["max", "mul"], [1, 2]]);
  assert.deepEqual(told(ofPlace(g, after, { line: 9, file: "" })), [["9"], [], []]);
  assert.deepEqual(told(ofPlace(g, after, { line: 0, file: "" })), [[], [], []]);
});

test("a kernel has its nodes and their lines, in a piece by its number among all", () => {
  assert.deepEqual(told(ofKernel(g, after, 1)), [["5", "6"], ["add", "mul"], [1]]);
  assert.deepEqual(told(ofKernel(g, { ...after, first: 2, nodes: [node("exp", 7, "0")] }, 2)), [["5", "7"], ["exp"], [2]]);
  assert.deepEqual(told(ofKernel(g, captured, 1)), [["5", "6"], ["add", "max", "mul"], [1]]);
  assert.deepEqual(told(ofKernel({}, after, 7)), [[], [], [7]]);
});

test("a line of one file is no line of another", () => {
  const of = { kernel_details: [{ name: "a", lines: [4, 4], files: ["main.py", "net/f g.py"] }, { name: "b", lines: [4], files: ["main.py"] }] };
  const d = { ...after, nodes: [node("sin", 4, "0", { file: "main.py" }), node("mul", 4, "0", { file: "net/f g.py" }), node("add", 4, "1", { file: "main.py" })] };
  assert.deepEqual(told(ofPlace(of, d, { line: 4, file: "net/f g.py" })), [["net%2Ff%20g.py:4"], ["mul"], [0]]);
  assert.deepEqual(told(ofPlace(of, d, { line: 4, file: "main.py" })), [["main.py:4"], ["add", "sin"], [0, 1]]);
  assert.deepEqual(told(ofKernel(of, d, 1)), [["main.py:4"], ["add"], [1]]);
});

test("a graph as text has a line for each node", () => {
  assert.equal(textOf({ ...after, nodes: [node("x", 0, null, { op: "input" }), node("y", 4, null, { op: "sin", reads: ["x"], gone: true })] }), "%x: float32[4] = input()\n%y: float32[4] = sin(%x)  # removed");
});

test("a tile program is cut at its kernels; buffers before them and the end are of none", () => {
  const text = "%0 = input 0 x: float32[4]\nkernel 0 a: map [4]\n  stage 0\n    p0 = load x[i0]\nkernel 1 b: rows [| 4]\n  stage 0\nreturn %1\n";
  assert.deepEqual(tileParts(text), [{ kernel: 0, from: 2, to: 4 }, { kernel: 1, from: 5, to: 6 }]);
  assert.deepEqual(tileParts("%0 = input 0 x: float32[4]\nreturn %0\n"), []);
});
