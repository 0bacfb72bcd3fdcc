// tests/web/strip.test.mjs -- the strip of a mode's graphs, cuts and functions in eager.
import assert from "node:assert/strict";
import { test } from "node:test";
import { stripOf } from "../../web/js/model/strip.js";

const brk = (graph, line, more = {}) => ({ stage: "capture", kind: "host-call", outcome: "resume", message: `line ${line}`, subject: "print()", call: 0, graph, count: 1, stack: [{ line, function: "model" }], ...more });
const graph = (id, compile, ...ops) => ({ id, compile, ops });
const said = (breaks, more = {}) => ({ distinct: breaks.map((first) => ({ first, met: 1, calls: [0] })), ...more });
const told = (pieces) => pieces.map((p) => (p.kind === "graph" ? `graph ${p.id}` : p.kind === "eager" ? `eager ${p.name} ${p.places.map((x) => x.line).join(",")}` : `${p.kind} ${p.row} line ${p.line} ${p.reason}`));

test("cuts are after the graphs that they end, a break without a graph is after the one before it", () => {
  const breaks = [brk(null, 6, { outcome: "inline", stack: [{ line: 11, function: "model" }, { line: 6, function: "helper" }] }), brk(0, 6), brk(1, 13), brk(null, 14)];
  const m = { graphs: [graph(0, "1/0", "a", "b"), graph(1, "2/0", "c"), graph(2, "3/0", "d")], breaks };
  const pieces = stripOf(m, said([2, 1, 0, 3], { graphs: [{ time: "9 µs" }, {}, {}] }));
  assert.deepEqual(told(pieces), ["cut 2 line 6 print()", "graph 0", "cut 1 line 6 print()", "graph 1", "cut 0 line 13 print()", "cut 3 line 14 print()", "graph 2"]);
  assert.deepEqual([pieces[0].from, pieces[1].ops, pieces[1].time, pieces[3].time], ["11", 2, "9 µs", ""]);
});

test("a frame has one box, with its cache entries; a break that is met again has one cut", () => {
  const m = { graphs: [graph(0, "1/0", "a"), graph(1, "2/0", "b"), graph(2, "2/1", "b"), graph(3, "2/2", "b")], breaks: [brk(0, 4), brk(1, 6), brk(2, 6), brk(null, 6)] };
  const pieces = stripOf(m, said([0, 1]));
  assert.deepEqual(told(pieces), ["graph 0", "cut 0 line 4 print()", "graph 1", "cut 1 line 6 print()"]);
  assert.equal(pieces[2].entries, 3);
  assert.deepEqual(told(stripOf({ graphs: [graph(0, null, "a"), graph(1, null, "b")], breaks: [] })), ["graph 0", "graph 1"]);
});

test("what runs in eager is after the break that is its cause; an op that is not lowered is told in its graph", () => {
  const limit = brk(null, 3, { kind: "recompile-limit", subject: "gate", outcome: "skip" });
  const low = brk(0, 5, { stage: "lowering", kind: "unsupported-op", subject: "cumsum" });
  const tree = [
    { frame: "model", line: 10, skipped: true, broke: 0, lines: [10, 12] },
    { frame: "torch_dynamo_resume_in_gate_at_6", line: 6, run_only: true, broke: 3, lines: [6], entries: [{ graph: null }, { graph: 0 }] },
    { frame: "gate", line: 3, entries: [{ graph: 1 }] },
  ];
  const m = { graphs: [graph(0, "2/0", "a"), graph(1, "3/0", "b")], breaks: [brk(null, 9), low, brk(1, 6), limit], tree };
  assert.deepEqual(told(stripOf(m, said([0, 1, 2, 3]))), ["cut 0 line 9 print()", "eager model 10,12", "graph 0", "fallback 1 line 5 cumsum", "cut 3 line 3 recompile limit", "eager gate 6", "graph 1", "cut 2 line 6 print()"]);
  assert.deepEqual(stripOf({}), []);
});
