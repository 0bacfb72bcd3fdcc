// tests/web/policies.test.mjs -- one program under both policies, and breaks of a kind.
import assert from "node:assert/strict";
import { test } from "node:test";
import { breakRows, firstError, kindsOf, problemsOf } from "../../web/js/model/breaks.js";
import { cutsOf, inBoth, otherPolicy, policyOf, underOther } from "../../web/js/model/policies.js";

const at = (kind, line, more = {}) => ({ kind, message: kind, stage: "capture", stack: [{ line, function: "model" }], ...more });

test("graphs and breaks of both stages are counted", () => {
  const m = { graphs: [{}, {}], counts: { captured: 3, lowered: 5 }, breaks: [at("scalar-read", 3), at("scalar-read", 3, { call: 1 }), at("denied-op", 4, { stage: "lowering" })] };
  assert.deepEqual(cutsOf("native", m), { policy: "native", captured: 3, lowered: 5, breaks: 1, fallbacks: 1 });
  assert.deepEqual(cutsOf("dynamo", { graphs: [{}] }), { policy: "dynamo", captured: 1, lowered: 1, breaks: 0, fallbacks: 0 });
});

test("the other policy gets the program of the point, in one mode", () => {
  const w = { source: "a", calls: [[]], modes: ["eager", "static"], sweep: { input: { arg: 0, dim: 0, sizes: [1, 2] } }, before: "b" };
  assert.deepEqual(underOther(w, { source: "c", mode: "auto", n: 2 }), { source: "c", calls: [[]], modes: ["auto"], sweep: { input: { arg: 0, dim: 0, sizes: [2] } }, policy: "native" });
  assert.equal(underOther({ source: "a", policy: "native", sweep: { statements: { pool: [], counts: [1] } } }, { source: "c", mode: "static", n: 1 }).policy, "dynamo");
  assert.deepEqual([policyOf(undefined), otherPolicy("dynamo"), otherPolicy("native")], ["dynamo", "native", "dynamo"]);
});

test("a break is one of both policies where its kind and line are", () => {
  const here = { breaks: [at("scalar-read", 3), at("host-call", 5)] };
  assert.deepEqual(inBoth(here, { breaks: [at("host-call", 5, { message: "other words" }), at("scalar-read", 4)] }), [false, true]);
});

test("breaks of a kind stand together, the dearest kind first, with the calls that met them", () => {
  const rows = breakRows({ breaks: [at("scalar-read", 3, { cost_us: 2, call: 0 }), at("scalar-read", 3, { cost_us: 2, call: 4 }), at("host-call", 5, { cost_us: 9 }), at("scalar-read", 7, { cost_us: 6 })] });
  assert.deepEqual(kindsOf(rows).map((k) => [k.kind, k.cost, k.rows.map((i) => rows[i].line)]), [["scalar-read", 10, [7, 3]], ["host-call", 9, [5]]]);
  assert.deepEqual(rows.map((r) => r.calls), [[], [], [0, 4]]);
  assert.equal(kindsOf(breakRows({ breaks: [at("scalar-read", 3)] }))[0].cost, null);
});

test("a warning is no reason to know nothing of the other policy; problems stand by line", () => {
  const warning = { severity: "warning", message: "w", line: 5, column: 3 };
  const error = { severity: "error", message: "e", line: 2, column: 7 };
  assert.equal(firstError({ diagnostics: [warning] }), undefined);
  assert.equal(firstError({ diagnostics: [warning, error] }), error);
  assert.deepEqual(problemsOf({ diagnostics: [warning, { ...error, column: 9 }, error], breaks: [] }).map((p) => [p.line, p.column]), [[2, 7], [2, 9], [5, 3]]);
});
