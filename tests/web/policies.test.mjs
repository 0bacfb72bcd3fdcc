// tests/web/policies.test.mjs -- one program under both policies.
import assert from "node:assert/strict";
import { test } from "node:test";
import { firstError, problemsOf } from "../../web/js/model/breaks.js";
import { cutsOf, inBoth, otherPolicy, policyOf, underOther } from "../../web/js/model/policies.js";

const at = (kind, line, more = {}) => ({ kind, message: kind, stage: "capture", stack: [{ line, function: "model" }], ...more });

test("graphs and breaks of both stages are counted", () => {
  const breaks = [at("scalar-read", 3), at("scalar-read", 3, { call: 1 }), at("denied-op", 4, { stage: "lowering" })];
  const m = { graphs: [{}, {}], counts: { captured: 3, lowered: 5, breaks: 1, fallbacks: 1 }, breaks };
  assert.deepEqual(cutsOf("native", { ...m, counts: { captured: 3, lowered: 5 } }, { distinct: [{ first: 0 }, { first: 2 }] }), cutsOf("native", m)); // a report of before
  assert.deepEqual(cutsOf("native", m), { policy: "native", captured: 3, lowered: 5, breaks: 1, fallbacks: 1 });
  assert.deepEqual(cutsOf("dynamo", { graphs: [{}] }), { policy: "dynamo", captured: 1, lowered: 1, breaks: 0, fallbacks: 0 });
});

test("the other policy gets the program of the point, in one mode", () => {
  const w = { source: "a", calls: [[]], modes: ["eager", "static"], sweep: { input: { arg: 0, dim: 0, sizes: [1, 2] } }, before: "b" };
  assert.deepEqual(underOther(w, { source: "c", mode: "auto", n: 2 }), { source: "c", calls: [[]], modes: ["auto"], sweep: { input: { arg: 0, dim: 0, sizes: [2] } }, policy: "native" });
  assert.equal(underOther({ source: "a", policy: "native", sweep: { statements: { pool: [], counts: [1] } } }, { source: "c", mode: "static", n: 1 }).policy, "dynamo");
  const files = { files: { "a.py": "a" }, entry: "a.py:model" };
  assert.deepEqual(underOther(files, { source: "", mode: "auto", n: null }), { ...files, modes: ["auto"], policy: "native" }); // a workload has source or files
  assert.deepEqual([policyOf(undefined), otherPolicy("dynamo"), otherPolicy("native")], ["dynamo", "native", "dynamo"]);
});

test("a break is one of both policies where its kind and line are", () => {
  const here = [at("scalar-read", 3), at("host-call", 5)];
  assert.deepEqual(inBoth(here, { breaks: [at("host-call", 5, { message: "other words" }), at("scalar-read", 4)] }), [false, true]);
});

test("a warning is no reason to know nothing of the other policy; problems stand by line", () => {
  const warning = { severity: "warning", message: "w", line: 5, column: 3 };
  const error = { severity: "error", message: "e", line: 2, column: 7 };
  assert.equal(firstError({ diagnostics: [warning] }), undefined);
  assert.equal(firstError({ diagnostics: [warning, error] }), error);
  assert.deepEqual(problemsOf({ diagnostics: [warning, { ...error, column: 9 }, error], breaks: [] }).map((p) => [p.line, p.column]), [[2, 7], [2, 9], [5, 3]]);
});
