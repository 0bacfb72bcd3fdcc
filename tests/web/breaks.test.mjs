// tests/web/breaks.test.mjs -- breaks and entries of a report, as the page shows them.
import assert from "node:assert/strict";
import { test } from "node:test";
import { breakCount, breakRows, lineMarks, problemsOf, traceRows } from "../../web/js/model/breaks.js";

const branch = {
  stage: "capture",
  kind: "data-dependent-branch",
  outcome: "jump",
  gb: "GB0170",
  graph: 0,
  message: "the branch depends on values",
  hint: "write torch.where(condition, a, b)",
  stack: [{ line: 9, function: "model" }, { line: 3, function: "helper" }],
  column: 8,
  count: 1,
};
const denied = {
  stage: "lowering",
  kind: "denied-op",
  outcome: "fallback",
  graph: 0,
  subject: "sin",
  message: "sin is denied",
  stack: [{ line: 2, function: "model" }],
};

test("a break that is met again is one row with its count", () => {
  const rows = breakRows({ breaks: [denied, branch, { ...branch, graph: 4 }] });
  assert.deepEqual(rows.map((r) => [r.kind, r.count, r.lowering]), [
    ["data-dependent-branch", 2, false],
    ["denied-op", 1, true],
  ]);
  assert.equal(breakCount({ breaks: [denied, branch, branch] }), 1);
});

test("messages are sentences, and a name that begins one stays as it is", () => {
  const [b, d] = breakRows({ breaks: [branch, denied] });
  assert.equal(b.message, "The branch depends on values.");
  assert.equal(b.stack, "model:9, helper:3");
  assert.equal(d.message, "sin is denied.");
});

test("a rewrite is the lines that change, and what they gain", () => {
  const gain = { graphs: [5, 2], breaks: [4, 1], together: 3 };
  const changed = { ...branch, rewrite: "a\nnew\nd\n", rewrite_gain: gain };
  const [row] = breakRows({ breaks: [changed] }, "a\nb\nc\nd\n");
  assert.deepEqual(row.rewrite, {
    source: "a\nnew\nd\n",
    removed: ["b", "c"],
    added: ["new"],
    gain: "These calls come out the same, with the 2 other rewrites: graphs 5 \u2192 2, breaks 4 \u2192 1.",
  });
  assert.equal(breakRows({ breaks: [branch] }, "a\n")[0].rewrite, null);
  const twice = breakRows({ breaks: [{ ...branch, rewrite: "a\na\na\n" }] }, "a\na\n");
  assert.deepEqual(twice[0].rewrite, { source: "a\na\na\n", removed: [], added: ["a"], gain: "" });
});

test("a trace that is run again at the same place for the same cause is one row", () => {
  const run = { call: 0, line: 4, function: "model", cause: "c", message: "m", hash: "ab", compiled: false, graph: 1 };
  const rows = traceRows({ lazy: { runs: [{ ...run, compiled: true }, run, { ...run, call: 1 }], left_out: 0 } });
  assert.deepEqual(rows.map((r) => [r.compiled, r.count, r.message]), [[true, 1, "M."], [false, 2, "M."]]);
});

test("a break in a block is marked where it is, not where the block begins", () => {
  const cause = { line: 12, function: "model", column: 9, end_column: 20 };
  const [row] = breakRows({ breaks: [{ ...branch, cause }] });
  assert.deepEqual([row.line, row.column, row.endColumn], [12, 9, 20]);
});

test("the dearest break comes first where costs are known", () => {
  const cheap = { ...branch, kind: "host-call", cost_us: 3 };
  const rows = breakRows({ breaks: [cheap, { ...branch, cost_us: 25 }] });
  assert.deepEqual(rows.map((r) => r.kind), ["data-dependent-branch", "host-call"]);
});

const cost = {
  ci_us: [20, 30], idle_us: 20, statement_us: 1, guards_us: 2, launch_us: 7, frame_us: 10, kernel_us: 5, met: 1,
  launches: 1, eager_launches: 0, guards: 8, moved_bytes: 1024, kept_bytes: 2e6,
};

test("a cost has its parts, and what they come from", () => {
  const [row] = breakRows({ breaks: [{ ...branch, cost_us: 25, cost }] });
  assert.deepEqual(row.parts, [1, 10, 2, 7, 5]);
  assert.equal(row.parts.reduce((a, b) => a + b), 25);
  assert.deepEqual(row.ci, [20, 30]);
  assert.deepEqual(row.facts.map((f) => f[0]), ["More launches", "More guards", "Moved twice", "Kept alive"]);
  assert.match(row.facts[2][1], /^1.02 kB/);
  assert.deepEqual(breakRows({ breaks: [branch] })[0].facts, []);
});

test("a part of several parts is their sum, and they stand in its facts", () => {
  const finer = { ...cost, dispatch_us: 0.5, alloc_us: 1.5, launch_us: 5, frame_us: 6, outputs_us: 1, entry_us: 3 };
  const [row] = breakRows({ breaks: [{ ...branch, cost_us: 25, cost: finer }] });
  assert.deepEqual(row.parts, [1, 10, 2, 7, 5]);
  assert.deepEqual(row.facts[0], [
    "In detail, us",
    "results into the frame 1, interpreter 6, the call's own frame 3; sizes 0.500, memory 1.50, launch 5",
  ]);
});

test("of a break that several versions meet the costs add up", () => {
  const again = { ...branch, graph: 4, cost_us: 5, cost: { ...cost, kernel_us: 0, idle_us: 5 } };
  const [row] = breakRows({ breaks: [{ ...branch, cost_us: 25, cost }, again] });
  assert.equal(row.cost, 30);
  assert.equal(row.ci, null);
  assert.equal(lineMarks([row]).get(3)?.cost, "30");
});

test("the margin marks breaks and the calls that lead to them", () => {
  const marks = lineMarks(breakRows({ breaks: [branch, denied] }));
  assert.deepEqual([...marks].sort((a, b) => a[0] - b[0]), [
    [2, { cls: "low", note: "no lowering" }],
    [3, { cls: "brk", note: "data dependent branch" }],
    [9, { cls: "brk", note: "call that breaks inside" }],
  ]);
});

test("a check's breaks are allowed problems, its diagnostics errors", () => {
  const found = problemsOf({ diagnostics: [{ message: "m", line: 2 }], breaks: [{ ...branch, line: 3 }] });
  assert.deepEqual(found.map((p) => [p.line, p.allowed ?? false]), [[2, false], [3, true]]);
  const twice = problemsOf({ diagnostics: [], breaks: [{ ...branch, line: 3 }, { ...branch, line: 3 }, { ...branch, line: 4 }] });
  assert.deepEqual(twice.map((p) => p.line), [3, 4]);
});

test("a report of an older version has no breaks", () => {
  assert.deepEqual([breakRows({}), traceRows({}), breakCount({})], [[], [], 0]);
});
