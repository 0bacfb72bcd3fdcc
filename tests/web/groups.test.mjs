// tests/web/groups.test.mjs -- kernels and modules that the nodes of a graph are part of.
import test, { after, before } from "node:test";
import assert from "node:assert/strict";
import { hasModules, kernelOfGroup, openAtFirst } from "../../web/js/model/groups.js";
import { parseGraph, pictureOf } from "../../web/js/model/picture.js";
import { startGrouping } from "./grouping.mjs";

let grouping;
before(async () => (grouping = await startGrouping()));
after(() => grouping?.stop());

const TEXT = `%x: float32[2, 4] = input(0)
%w: float32[4, 4] = input(1)
%v: float32[4, 4] = input(2)
%first: float32[2, 4] = relu(%x)  # line 3
in Net/a.0:Block/up:Linear
%mm: float32[2, 4] = matmul(%first, %w)  # line 4
in Net/a.0:Block
%relu: float32[2, 4] = relu(%mm)  # line 5
in Net
%mul: float32[2, 4] = mul(%relu, %v)  # line 6
in Net/a.0:Block
%again: float32[2, 4] = add(%mul, %v)  # line 5
in the program
%last: float32[2, 4] = neg(%again)  # line 7
return %last
kernel 0: %first
kernel 1: %mm, %relu, %mul, %again, %last
`;
const parsed = parseGraph(TEXT);
const drawn = { title: "", ...parsed };

test("modules stand within each other; one that is called again is a group for each call", async () => {
  assert.ok(hasModules(parsed.nodes));
  const { all, chains } = await grouping.of(drawn, "modules");
  assert.deepEqual([...all].map(([id, g]) => [id, g.title, g.parent]), [
    ["module Net", "Net", null],
    ["module Net/a.0:Block", "a.0 Block", "module Net"],
    ["module Net/a.0:Block/up:Linear", "up Linear", "module Net/a.0:Block"],
    ["module Net/a.0:Block#2", "a.0 Block", "module Net"],
  ]);
  assert.deepEqual(chains.get("mm"), ["module Net", "module Net/a.0:Block", "module Net/a.0:Block/up:Linear"]);
  assert.deepEqual(chains.get("again"), ["module Net", "module Net/a.0:Block#2"]);
  assert.equal(chains.get("first"), undefined);
  assert.equal(chains.get("last"), undefined);
});

test("a parameter is in the innermost module of all that read it", async () => {
  const { chains } = await grouping.of(drawn, "modules");
  assert.deepEqual(chains.get("w")?.at(-1), "module Net/a.0:Block/up:Linear");
  assert.deepEqual(chains.get("v"), ["module Net"]);
  assert.equal(chains.get("x"), undefined);
});

test("a closed module is one box with all that is in it, an open one holds boxes and modules", async () => {
  const groups = await grouping.of(drawn, "modules");
  const closed = pictureOf(drawn, {}, new Set(), null, groups);
  assert.deepEqual(closed.boxes.map((b) => [b.id, b.kind, b.nodes.length]), [["x", "input", 1], ["module Net", "module", 6], ["first", "op", 1], ["last", "op", 1]]);
  assert.deepEqual(closed.edges, [["x", "first"], ["first", "module Net"], ["module Net", "last"]]);
  const open = pictureOf(drawn, {}, openAtFirst(groups, false), null, groups);
  assert.deepEqual(open.boxes.map((b) => [b.id, b.group]), [
    ["x", null],
    ["module Net/a.0:Block", "module Net"],
    ["v", "module Net"],
    ["first", null],
    ["mul", "module Net"],
    ["module Net/a.0:Block#2", "module Net"],
    ["last", null],
  ]);
  assert.equal(open.full["module Net/a.0:Block\nmul"], "float32 2\u00d74, 32 B");
  assert.deepEqual(["kernel 12", "module Net", "mul", null].map(kernelOfGroup), ["12", null, null, null]);
});

test("by kernel each kernel is a group, and of a large graph all begin closed", async () => {
  const groups = await grouping.of(drawn, "kernels");
  assert.deepEqual(groups.chains.get("mul"), ["kernel 1"]);
  assert.deepEqual([...openAtFirst(groups, true)], ["kernel 0", "kernel 1"]);
  assert.deepEqual([...openAtFirst(groups, false)], []);
});
