// tests/web/history.test.mjs -- what the page draws of a workload over its runs.
import test from "node:test";
import assert from "node:assert/strict";
import { baselineOf, label, measured, tip, valueAxis, valueRange } from "../../web/js/model/history.js";

const point = (id, value, extra = {}, run = {}) => ({ run: { id, status: "done", commit: "", note: "", baseline: false, ...run }, source: "s1", settings: "e1", n: null, value, ci: value && [value * 0.99, value * 1.01], samples: 30, shown: value && { text: `${value.toFixed(2)}x`, low: (value * 0.99).toFixed(2), high: (value * 1.01).toFixed(2) }, of_baseline: null, ...extra });
const history = (points, extra = {}) => ({ workload: "chain", workloads: [], metric: "speedup", title: "speedup over eager", unit: "x", mode: "static", more_is_better: true, points, total: points.length, pending: false, ...extra });

test("runs are called by their commit", () => {
  assert.deepEqual([label(point(7, 1)), label(point(7, 1, {}, { commit: "0123456789" }))], ["#7", "0123456"]);
  assert.equal(measured(history([point(1, null), point(2, 3)])).length, 1);
  assert.equal(baselineOf(history([point(1, null, {}, { baseline: true })])), null);
});

test("a point says its run, its figure, how it compares with the baseline, what changed and what was noted", () => {
  const at = (id, value, extra, run) => point(id, value, extra, { created_ns: 1.7e18, ...run });
  const h = history([at(1, 4, {}, { baseline: true, commit: "0123456789", branch: "main" }), at(2, null), at(3, 6, { parting: "source changed", of_baseline: "1.50x" }, { note: "new\n  driver" })]);
  const { title, lines } = tip(h, 1);
  assert.match(title, /^#3, 2023-11-\d\d$/);
  assert.deepEqual(lines, ["static speedup over eager: 6.00x (5.94–6.06)", "1.50x of the baseline", "source changed", "Note: new driver"]);
  assert.match(tip(h, 0).title, /^#1, commit 0123456, main, 2023/);
  assert.deepEqual(tip(h, 0).lines.slice(1), ["the baseline"]);
});

test("the axis of values has one unit", () => {
  const us = valueAxis(history([point(1, 900), point(2, 40000)], { unit: "us", title: "latency" }));
  assert.deepEqual([us.title, us.write(900), us.write(40000)], ["latency, ms", "0.9", "40"]);
  assert.deepEqual([valueAxis(history([point(1, 2)])).title, valueAxis(history([point(1, 2)])).write(2.5)], ["speedup over eager, x", "2.5x"]);
  assert.equal(valueAxis(history([point(1, 2)], { unit: "B", title: "peak memory" })).write(2048), "2.05 kB");
  assert.equal(valueAxis(history([point(1, 2)], { unit: "", title: "breaks" })).title, "breaks");
});

test("the axis of values goes by ratios where one would press the others flat", () => {
  assert.deepEqual(valueRange([2, 3]), { log: false, min: 1.88, max: 3.12 });
  assert.equal(valueRange([0, 12, 40]).log, false, "nothing is a ratio of 0");
  const wide = valueRange([1.5, 2, 27]);
  assert.ok(wide.log && wide.min > 1 && wide.min < 1.5 && wide.max > 27 && wide.max < 40, JSON.stringify(wide));
});
