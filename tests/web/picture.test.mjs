// tests/web/picture.test.mjs -- graphs read from their texts, as boxes.
import * as hooks from "node:test";
import test from "node:test";
import assert from "node:assert/strict";
import { neighbourhood, parseGraph, pictureOf, sizeOf, steps } from "../../web/js/model/picture.js";
import { startGrouping } from "./grouping.mjs";

let grouping;
hooks.before(async () => (grouping = await startGrouping()));
hooks.after(() => grouping?.stop());

const before = "%x: float32[8, 16] = input(0)\n%relu: float32[8, 16] = relu(%x)  # line 4\n%soft: float32[8, 16] = softmax(%relu, dim=-1)  # line 5\nreturn %soft\n";
const after =
  "%x: float32[8, 16] = input(0)\n%relu: float32[8, 16] = relu(%x)  # line 4\n%exp: float32[8, 16] = exp(%relu)  # line 5\n%mm: float32[8, 8] = matmul(%exp, %relu)  # line 6\nreturn %mm\nkernel 0: %relu, %exp\nkernel 1: %mm\n";
const graph = {
  kernel_details: [{ form: "map" }, { form: "library" }],
  passes: [{ part: "", before, steps: [{ pass: "cse", changed: false, after: null }, { pass: "fuse", changed: true, after }] }],
};

test("a line of a file is a line", () => {
  const [node] = parseGraph("%mul: float32[4] = mul(%relu, 8)  # net/a.py, line 18\n").nodes;
  assert.deepEqual([node.id, node.op, node.shape, node.line], ["mul", "mul", "[4]", 18]);
});

test("a text gives nodes, what each reads, its line and its kernel", () => {
  const { nodes, kernels, outputs } = parseGraph(after);
  assert.deepEqual(nodes.map((n) => [n.id, n.op, n.shape, n.line, n.kernel]), [
    ["x", "input", "[8, 16]", 0, null],
    ["relu", "relu", "[8, 16]", 4, "0"],
    ["exp", "exp", "[8, 16]", 5, "0"],
    ["mm", "matmul", "[8, 8]", 6, "1"],
  ]);
  assert.deepEqual(nodes[3].reads, ["exp", "relu"]);
  assert.deepEqual([kernels, outputs], [["0", "1"], ["mm"]]);
});

test("a line names its file; names of inputs may be any source: operands of a frame, items of a dict", () => {
  const text = "%self._states[0]['exp_avg']: float32[4] = input(0)\n%operand 0: float32[4] = input(1)\n%self: float32[4] = input(2)\n%mul: float32[4] = mul(%operand 0, %self._states[0]['exp_avg'])  # net/a.py, line 18\n%add: float32[4] = add(%mul, %self)  # line 7\nreturn %add, %operand 0\n";
  const { nodes, outputs } = parseGraph(text);
  assert.deepEqual(nodes.map((n) => n.id), ["self._states[0]['exp_avg']", "operand 0", "self", "mul", "add"]);
  assert.deepEqual(nodes.map((n) => n.reads), [[], [], [], ["operand 0", "self._states[0]['exp_avg']"], ["mul", "self"]]);
  assert.deepEqual(nodes.slice(3).map((n) => [n.line, n.file]), [[18, "net/a.py"], [7, ""]]);
  assert.deepEqual(outputs, ["add", "operand 0"]);
});

test("steps are the graph as captured and after each pass that changed it, with what that removed", () => {
  const all = steps(graph, 0);
  assert.deepEqual(all.map((s) => s.title), ["As captured", "After fuse"]);
  assert.deepEqual(all[1].nodes.filter((n) => n.gone).map((n) => n.id), ["soft"]);
  const plain = steps({ nodes: [{ id: 0, name: "x", op: "placeholder" }, { id: 1, name: "y", op: "cat", args: [[{ node: 0 }, { node: 0 }]] }] }, 0);
  assert.deepEqual(plain[0].nodes.map((n) => [n.id, n.op, n.reads]), [["x", "input", []], ["y", "cat", ["x"]]]);
});

test("a closed kernel is one box; open, its ops are; bytes stand where an edge leaves a kernel", async () => {
  const drawn = steps(graph, 0)[1];
  const groups = await grouping.of(drawn, "kernels");
  const closed = pictureOf(drawn, graph, new Set(), null, groups);
  assert.deepEqual(closed.boxes.map((b) => [b.id, b.kind]), [["x", "input"], ["kernel 0", "kernel"], ["kernel 1", "library"], ["soft", "gone"]]);
  assert.equal(closed.labels["kernel 0\nkernel 1"], "1.02 kB", "both tensors that it reads, each once");
  const open = pictureOf(drawn, graph, new Set(["kernel 0"]), null, groups);
  assert.deepEqual(open.boxes.filter((b) => b.group === "kernel 0").map((b) => b.id), ["relu", "exp"]);
  assert.equal(open.labels["relu\nexp"], undefined);
  assert.deepEqual(pictureOf(drawn, graph, new Set(), new Set(["x"]), groups).boxes.length, 1);
});

test("bytes of a tensor; none where a size is a symbol", () => {
  assert.deepEqual([sizeOf("float16", "[3, 4]"), sizeOf("bool", "[]"), sizeOf("float32", "[s0, 4]")], [24, 1, null]);
});

test("a neighbourhood is connected, holds its node and is bounded", () => {
  const nodes = Array.from({ length: 300 }, (_, i) => ({ id: `n${i}`, reads: i ? [`n${i - 1}`] : [] }));
  const near = neighbourhood({ nodes }, "n150", 20);
  assert.equal(near.size, 20);
  const at = [...near].map((id) => Number(id.slice(1)));
  assert.equal(Math.max(...at) - Math.min(...at), 19);
  assert.ok(near.has("n150"));
});
