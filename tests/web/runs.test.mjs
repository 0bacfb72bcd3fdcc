// tests/web/runs.test.mjs -- the list of runs: rows in sight, order, filters, sparklines.
import assert from "node:assert/strict";
import { test } from "node:test";
import { nextSort, pagesOf, rowsInView, sparkPoints } from "../../web/js/model/window.js";
import { drops, mistakes, parseQuery, withField } from "../../web/js/model/query.js";

test("rows in sight, with some around them, never beyond the list", () => {
  const at = (top, total = 10000) => rowsInView({ total, height: 32, top, view: 900, around: 20 });
  assert.deepEqual(at(-200), { start: 0, end: 42 });
  assert.deepEqual(at(32 * 5000), { start: 4980, end: 5049 });
  assert.deepEqual(at(32 * 9999), { start: 9979, end: 10000 });
  assert.deepEqual(at(32 * 50000), { start: 9999, end: 10000 });
  assert.deepEqual(at(0, 0), { start: 0, end: 0 });
});

test("pages that hold rows", () => {
  assert.deepEqual(pagesOf(0, 42, 100), [0]);
  assert.deepEqual(pagesOf(95, 205, 100), [0, 1, 2]);
  assert.deepEqual(pagesOf(0, 0, 100), []);
});

test("a head that is pressed again turns its order around", () => {
  assert.equal(nextSort("-age", "age", false), "age");
  assert.equal(nextSort("age", "age", false), "-age");
  assert.equal(nextSort("-age", "name", true), "name");
  assert.equal(nextSort("name", "name", true), "-name");
  assert.equal(nextSort("name", "speedup", false), "-speedup");
});

test("a sparkline has its end at the right and equal ratios equally high", () => {
  const y = (values) => sparkPoints(values, 60, 10).map((p) => p[1]);
  assert.deepEqual(sparkPoints([2], 60, 10), [[60, 5]]);
  assert.deepEqual(sparkPoints([1, 2, 4], 60, 10), [[0, 10], [30, 5], [60, 0]]);
  assert.ok(Math.max(...y([2, 2.01])) - Math.min(...y([2, 2.01])) < 1);
});

test("a field is set, changed and dropped; quotes hold a value with spaces", () => {
  assert.equal(withField("soft tag:x", "project", "my bench"), 'soft tag:x project:"my bench"');
  assert.deepEqual(parseQuery('soft project:"my bench" tag:x'), { q: "soft", project: "my bench", tag: "x" });
  assert.equal(withField('soft project:"my bench"', "project", "b"), "soft project:b");
  assert.equal(withField("project:b soft", "project", ""), "soft");
  assert.deepEqual(parseQuery("verdict:slower x"), { q: "x", verdict: "slower" });
  assert.deepEqual(parseQuery("verdict:slow"), { q: "verdict:slow" }, "half typed, it is no filter");
  assert.deepEqual(drops('project:"my bench"', "").map((d) => [d.label, d.text]), [['project:"my bench"', ""]]);
});

test("a word that looks like a filter and is none says what would be right", () => {
  assert.deepEqual(mistakes("breaks:>2 tag:a verdict:faster softmax"), []);
  assert.match(mistakes("breaks:>x")[0], /^breaks:>x is no filter: breaks takes a number or a bound/);
  assert.match(mistakes("verdict:fast")[0], /there are verdict:faster, verdict:slower/);
  assert.match(mistakes("brek:2")[0], /^brek:2 is no filter: there are verdict:, project:/);
});
