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
/** The findings of breaks none of which are the same, with figures. */
const saidOf = (n, more = {}) => ({ distinct: Array.from({ length: n }, (_, first) => ({ first, met: 1, calls: [0], ...more })) });
const rowsOf = (breaks, source) => breakRows({ breaks }, saidOf(breaks.length), source);
const denied = {
  stage: "lowering",
  kind: "denied-op",
  outcome: "fallback",
  graph: 0,
  subject: "sin",
  message: "sin is denied",
  stack: [{ line: 2, function: "model" }],
};

test("distinct breaks are those of the findings, in their order", () => {
  const said = { distinct: [{ first: 1, met: 2, calls: [0] }, { first: 0, met: 1, calls: [0] }] };
  const rows = breakRows({ breaks: [denied, branch, { ...branch, graph: 4 }] }, said);
  assert.deepEqual(rows.map((r) => [r.kind, r.said.met, r.lowering]), [
    ["data-dependent-branch", 2, false],
    ["denied-op", 1, true],
  ]);
  assert.equal(breakCount({ breaks: [denied, branch, branch] }, said), 2);
});

test("messages are sentences, and a name that begins one stays as it is", () => {
  const [b, d] = rowsOf([branch, denied]);
  assert.equal(b.message, "The branch depends on values.");
  assert.equal(b.stack, "model:9, helper:3");
  assert.equal(d.message, "sin is denied.");
});

test("a rewrite is the lines that change, and what they gain", () => {
  const changed = { ...branch, rewrite: "a\nnew\nd\n" };
  const [row] = breakRows({ breaks: [changed] }, saidOf(1, { gain: "Less." }), "a\nb\nc\nd\n");
  assert.deepEqual(row.rewrite, {
    source: "a\nnew\nd\n",
    removed: ["b", "c"],
    added: ["new"],
    gain: "Less.",
  });
  assert.equal(rowsOf([branch], "a\n")[0].rewrite, null);
  const twice = rowsOf([{ ...branch, rewrite: "a\na\na\n" }], "a\na\n");
  assert.deepEqual(twice[0].rewrite, { source: "a\na\na\n", removed: [], added: ["a"], gain: "" });
});

test("a trace that is run again at the same place for the same cause is one row", () => {
  const run = { call: 0, line: 4, function: "model", cause: "c", message: "m", hash: "ab", compiled: false, graph: 1 };
  const rows = traceRows({ lazy: { runs: [{ ...run, compiled: true }, run, { ...run, call: 1 }], left_out: 0 } });
  assert.deepEqual(rows.map((r) => [r.compiled, r.count, r.message]), [[true, 1, "M."], [false, 2, "M."]]);
});

test("a break in a block is marked where it is, not where the block begins", () => {
  const cause = { line: 12, function: "model", column: 9, end_column: 20 };
  const [row] = rowsOf([{ ...branch, cause }]);
  assert.deepEqual([row.line, row.column, row.endColumn], [12, 9, 20]);
});

test("a line of the margin has what all of its breaks cost", () => {
  const rows = breakRows({ breaks: [branch, { ...branch, message: "another" }] }, saidOf(2, { line_cost: "30" }));
  assert.equal(lineMarks(rows, []).get(3)?.cost, "30");
});

test("the margin marks breaks and the calls that lead to them", () => {
  const marks = lineMarks(rowsOf([branch, denied]), []);
  assert.deepEqual([...marks].sort((a, b) => a[0] - b[0]), [
    [2, { cls: "low", note: "no lowering" }],
    [3, { cls: "brk", note: "data dependent branch" }],
    [9, { cls: "brk", note: "call that breaks inside" }],
  ]);
});

test("the margin of a file has what is in it: its breaks, calls from it that break elsewhere, its lines in eager", () => {
  const there = { ...branch, stack: [{ line: 9, function: "model", file: "main.py" }, { line: 3, function: "f", file: "net/f.py" }] };
  const eager = [{ name: "model", says: "", places: [{ line: 7, file: "main.py" }, { line: 4, file: "net/f.py" }], broke: -1 }];
  const marks = (file) => [...lineMarks(rowsOf([there]), eager, file)].map(([line, m]) => `${line} ${m.note}`).sort();
  assert.deepEqual(marks("main.py"), ["7 runs in eager", "9 call that breaks inside"]);
  assert.deepEqual(marks("net/f.py"), ["3 data dependent branch", "4 runs in eager"]);
  assert.deepEqual(marks("other.py"), []);
});

test("what to do around a break stands beside what to write instead of it", () => {
  const because = { message: "the whole function runs in eager, because the break is in a loop", hint: "move the body of the loop" };
  const rows = rowsOf([{ ...branch, because }, { ...branch, hint: null, because }]);
  assert.deepEqual(rows.map((r) => [r.hint, r.around]), [["Write torch.where(condition, a, b).", "Move the body of the loop."], ["Move the body of the loop.", ""]]);
});

test("a check's breaks are allowed problems, its diagnostics errors", () => {
  const found = problemsOf({ diagnostics: [{ message: "m", line: 2 }], breaks: [{ ...branch, line: 3 }] });
  assert.deepEqual(found.map((p) => [p.line, p.allowed ?? false]), [[2, false], [3, true]]);
  const twice = problemsOf({ diagnostics: [], breaks: [{ ...branch, line: 3 }, { ...branch, line: 3 }, { ...branch, line: 4 }] });
  assert.deepEqual(twice.map((p) => p.line), [3, 4]);
  const failing = { message: "sizes do not broadcast", line: 3, column: 5 };
  const ended = problemsOf({ diagnostics: [failing], breaks: [{ ...branch, line: 3, column: 5 }, { ...branch, line: 3, column: 9 }, { ...branch, file: "a.py", line: 3, column: 5 }] });
  assert.deepEqual(ended.map((p) => [p.column, p.file ?? "", p.allowed ?? false]), [[5, "", false], [5, "a.py", true], [9, "", true]], "where a call fails it ends: that is no break beside");
});

test("a report of an older version has no breaks", () => {
  assert.deepEqual([breakRows({}), traceRows({}), breakCount({}), breakRows({ breaks: [branch] })], [[], [], 0, []]);
});
