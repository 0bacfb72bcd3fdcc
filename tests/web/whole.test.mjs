// tests/web/whole.test.mjs -- loops of a graph, and a graph that runs in pieces drawn as one.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { openAtFirst } from "../../web/js/model/groups.js";
import { loopsOf } from "../../web/js/model/loops.js";
import { kernelOf, pictureOf, steps } from "../../web/js/model/picture.js";
import { isInPieces, wholeSteps } from "../../web/js/model/whole.js";
import { startGrouping } from "./grouping.mjs";

let grouping;
before(async () => (grouping = await startGrouping()));
after(() => grouping?.stop());

const node = (id, name, op, reads = [], more = {}) => ({ id, name, op, dtype: "float32", shape: "[4]", line: id, args: reads.map((n) => ({ node: n })), ...more });
const bool = { dtype: "bool", shape: "[]" };
const nodes = [
  node(0, "x", "placeholder"),
  node(1, "soft", "softmax", [0], { module: "Net" }),
  node(2, "ne", "ne", [1], { ...bool, module: "Net" }),
  node(3, "loop_carried", "loop_carried", [1], { module: "Net" }),
  node(4, "cos", "cos", [3], { module: "Net/a:A" }),
  node(5, "mul", "mul", [4, 0], { module: "Net" }),
  node(6, "ne_1", "ne", [5], { ...bool, module: "Net" }),
  node(7, "loop_operands", "loop_operands", [1, 2, 0], { module: "Net" }),
  node(8, "while_loop", "while_loop", [2, 7], { ...bool, module: "Net" }),
  node(9, "loop_result", "getitem", [8], { module: "Net" }),
  node(10, "out", "softmax", [9]),
];
const loop = { kind: "while_loop", node: 8, parent: null, line: 8, first: 2, again: 6, reads: [0], nodes: [4, 5, 6], condition: [6], carried: [{ node: 3, start: 1, next: 5, result: 9 }, { node: null, start: 2, next: 6, result: null }] };
const part = (name, more, before, after) => ({ part: name, loop: null, nodes: 1, before, steps: [{ pass: "decompose", changed: after[0] !== null, after: after[0] }, { pass: "fuse", changed: false, after: after[1] }], ...more });
const first = "%x: float32[4] = input(0)\nin Net\n%soft: float32[4] = softmax(%x)  # line 1\n%ne: bool[] = ne(%soft, 0)  # line 2\nreturn %soft, %ne\n";
const made = "%x: float32[4] = input(0)\nin Net\n%exp: float32[4] = exp(%x)  # line 1\n%soft: float32[4] = div(%exp, %exp)  # line 1\n%ne: bool[] = ne(%soft, 0)  # line 2\nreturn %soft, %ne\n";
const body = "%loop_carried_: float32[4] = input(0)\n%x: float32[4] = input(1)\nin Net/a:A\n%cos: float32[4] = cos(%loop_carried_)  # line 4\nin Net\n%mul: float32[4] = mul(%cos, %x)  # line 5\n%ne_1: bool[] = ne(%mul, 0)  # line 6\nreturn %ne_1, %mul, %ne_1\n";
const last = "%loop_result_: float32[4] = input(0)\n%out: float32[4] = softmax(%loop_result_)  # line 10\nreturn %out\n";
const lastMade = "%loop_result_: float32[4] = input(0)\n%exp: float32[4] = exp(%loop_result_)  # line 10\n%out: float32[4] = div(%exp, %exp)  # line 10\nreturn %out\n";
const graph = {
  nodes,
  outputs: [10],
  subgraphs: [loop],
  kernel_details: ["k0", "body0", "body1", "k3"].map((name) => ({ name, form: "map" })),
  passes: [
    part("piece 0", { takes: ["x"], gives: ["soft", "ne"], first_kernel: 0, n_kernels: 1 }, first, [made, `${made}kernel 0: %exp, %soft, %ne\n`]),
    part("loop 1", { loop: "while_loop", takes: ["loop_carried", "x"], gives: ["ne_1", "mul", "ne_1"], first_kernel: 1, n_kernels: 2 }, body, [null, `${body}kernel 0: %cos, %mul\nkernel 1: %ne_1\n`]),
    part("piece 2", { takes: ["loop_result"], gives: ["out"], first_kernel: 3, n_kernels: 1 }, last, [lastMade, `${lastMade}kernel 0: %exp, %out\n`]),
  ],
};
const by = (drawn) => Object.fromEntries(drawn.nodes.map((n) => [n.id, n]));

test("a loop holds its body, what goes round, its test and what it leaves; nothing goes back", () => {
  const { all, chains, reads, next } = loopsOf(graph);
  assert.deepEqual([...all], [["loop while_loop", { title: "while loop, line 8", parent: null, line: 8 }]]);
  assert.deepEqual([...chains.keys()].sort(), ["cos", "loop_carried", "loop_result", "mul", "ne_1", "while_loop"]);
  assert.deepEqual([reads.get("while_loop"), reads.get("loop_result"), next.get("loop_carried")], [["ne", "ne_1"], ["mul"], "mul"]);
  assert.deepEqual(loopsOf({ nodes }).all.size, 0);
});

test("a loop within a loop is in both", () => {
  const inner = { ...loop, parent: 1, node: 6, nodes: [5], carried: [] };
  const outer = { ...loop, nodes: [4, 5, 6] };
  const { chains, all } = loopsOf({ nodes, subgraphs: [inner, outer] });
  assert.deepEqual([chains.get("mul"), chains.get("cos")], [["loop while_loop", "loop ne_1"], ["loop while_loop"]]);
  assert.equal(all.get("loop ne_1").parent, "loop while_loop");
});

test("pieces are one graph: joined by what they take and give, kernels numbered through, names once each", () => {
  assert.ok(isInPieces(graph));
  const all = wholeSteps(graph);
  assert.deepEqual(all.map((s) => s.title), ["As captured", "After decompose", "After fuse"]);
  assert.ok(!by(all[0]).loop_operands);
  const n = by(all[2]);
  assert.deepEqual(all[2].kernels, ["0", "1", "2", "3"]);
  assert.deepEqual([n.soft.kernel, n.mul.kernel, n.ne_1.kernel, n.out.kernel, n.x.kernel], ["0", "1", "2", "3", null]);
  assert.deepEqual(n.loop_carried.reads, ["soft"]);
  assert.deepEqual(n.cos.reads, ["loop_carried"]);
  assert.deepEqual(n.mul.reads, ["cos", "x"]);
  assert.deepEqual(n.loop_result.reads, ["mul"]);
  // Both softmaxes became an exp.
  assert.deepEqual(n.out.reads, ["exp in piece 2"]);
  assert.deepEqual(n["exp in piece 2"].reads, ["loop_result"]);
  assert.deepEqual(n.cos.loops, ["loop while_loop"]);
  assert.deepEqual([n.ne_1.test, n.mul.test], [true, false]);
  assert.equal(kernelOf(graph, all[2], n.ne_1.kernel).name, "body1");
  const order = all[2].nodes.map((x) => x.id);
  for (const x of all[2].nodes) for (const r of x.reads) assert.ok(order.indexOf(r) < order.indexOf(x.id), `${x.id} stands before ${r}`);
});

test("what a pass gives under another name is read under that", () => {
  const renamed = structuredClone(graph);
  renamed.passes[0].steps[1].after = "%x: float32[4] = input(0)\n%new: float32[4] = exp(%x)\n%ne: bool[] = ne(%new, 0)\nreturn %new, %ne\nkernel 0: %new, %ne\n";
  const n = by(wholeSteps(renamed)[2]);
  assert.deepEqual([n.loop_carried.reads, n.soft.gone], [["new"], true]);
});

test("one that does not say what joins its pieces is drawn piece by piece", () => {
  const old = { ...graph, passes: graph.passes.map(({ takes, ...p }) => p) };
  assert.ok(!isInPieces(old));
  assert.ok(!isInPieces({ ...graph, passes: graph.passes.slice(0, 1) }));
  const only = steps(graph, 1);
  assert.equal(kernelOf(graph, only[1], "1").name, "body1", "its kernels are those of the whole, from its first on");
});

test("a loop is a group around its kernels; closed it is one box, with what it reads and leaves on its edges", async () => {
  const drawn = wholeSteps(graph)[2];
  const groups = await grouping.of(drawn, "kernels");
  assert.deepEqual(groups.chains.get("mul"), ["loop while_loop", "kernel 1"]);
  assert.equal(groups.all.get("kernel 1").parent, "loop while_loop");
  const closed = pictureOf(drawn, graph, new Set(), null, groups);
  const box = closed.boxes.find((b) => b.id === "loop while_loop");
  assert.deepEqual([box.kind, box.title, box.sub], ["loop", "while loop, line 8", "5 ops"]);
  assert.equal(closed.full["kernel 0\nloop while_loop"], "2 tensors, 17 B");
  assert.equal(closed.full["loop while_loop\nkernel 3"], "float32 4, 16 B");
  const open = pictureOf(drawn, graph, openAtFirst(groups, true), null, groups);
  assert.deepEqual(open.boxes.filter((b) => b.group === "kernel 1").map((b) => b.id), ["cos", "mul"]);
});

test("by module a loop is in the module whose call it is, a parameter that it reads outside", async () => {
  const groups = await grouping.of(wholeSteps(graph)[2], "modules");
  assert.deepEqual(groups.chains.get("cos"), ["module Net", "loop while_loop", "module Net/loop 0/a:A"]);
  assert.deepEqual(groups.chains.get("loop_result"), ["module Net", "loop while_loop"]);
  assert.deepEqual(groups.chains.get("x"), ["module Net"]);
  assert.equal(groups.chains.get("out"), undefined);
  assert.deepEqual([...groups.all.values()].map((g) => g.kind), ["module", "loop", "module"]);
});
