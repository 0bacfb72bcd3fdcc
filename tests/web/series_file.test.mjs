// tests/web/series_file.test.mjs -- series from files, to lay over a run's own.
import assert from "node:assert/strict";
import { test } from "node:test";
import { toCsv } from "../../web/js/model/curves.js";
import { overlayOfFile, overlayOfReport } from "../../web/js/model/series_file.js";
import { reportOf } from "./report_of.mjs";

const dots = (series) => series.map((s) => [s.label, s.mode, s.imported, s.dots.map((d) => [d.x, d.y])]);

test("what a chart writes is read again, intervals too", () => {
  const own = [
    { key: "eager", mode: "eager", label: "eager", imported: false, dots: [{ x: 1, y: 4, lo: 3, hi: 5 }, { x: 5, y: 8, lo: 7, hi: 9 }] },
    { key: "static", mode: "static", label: "static", imported: false, dots: [{ x: 1, y: 2, lo: 1, hi: 3 }] },
  ];
  const o = overlayOfFile("chain_1_latency.csv", toCsv(own, "us"));
  assert.deepEqual(dots(o.latency), [["eager, chain_1_latency", "eager", true, [[1, 4], [5, 8]]], ["static, chain_1_latency", "static", true, [[1, 2]]]]);
  assert.deepEqual(o.latency[0].dots[0], { x: 1, y: 4, lo: 3, hi: 5 });
  assert.deepEqual(dots(o.speedup), [["static, chain_1_latency", "static", true, [[1, 2]]]]);
});

test("units are converted, gaps stay gaps, quotes and a byte order mark are no harm", () => {
  const o = overlayOfFile("a.csv", '\ufeffn,"eager_ms",torch graphs_ns\r\n10,1,\r\n1,0.5,2000\r\n');
  assert.deepEqual(o.latency.map((s) => [s.mode, s.dots.map((d) => [d.x, d.y])]), [["eager", [[1, 500], [10, 1000]]], ["graphs", [[1, 2]]]]);
  assert.deepEqual(o.speedup[0].dots, [{ x: 1, y: 250 }]);
});

test("what is wrong in a file is said with its line and column", () => {
  for (const [text, message] of [
    ["", /the first column is empty; it must be n/],
    ["x,static_us\n1,2", /the first column is x; it must be n/],
    ["n,static\n1,2", /column static: a mode and a unit are needed, for example static_us/],
    ["n,fast_us\n1,2", /column fast_us: a mode/],
    ["n,static_us\n1,x", /line 2, static_us: x is not a number above 0/],
    ["n,static_us\n1,-2", /line 2, static_us: -2 is not a number/],
    ["n,static_us\n1", /line 2 has 1 cells, and the head has 2/],
    ["n,static_us\n", /no line has a figure/],
    ['n,"static_us\n1,2', /a quote has no end/],
    [`n,static_us\n${"1,2\n".repeat(3000)}`, /at most 2000 lines/],
    ["{}", /it has no sweep/],
    ["{", /JSON|Expected/],
  ])
    assert.throws(() => overlayOfFile("a.csv", text), (e) => e instanceof Error && message.test(e.message), text.slice(0, 40));
});

test("a report is read bare or as an export; one without a sweep is none", () => {
  const report = reportOf([1, 9], 2);
  for (const json of [report, { run: {}, report }]) {
    const o = overlayOfFile("r.json", JSON.stringify(json));
    assert.deepEqual(dots(o.latency)[1], ["static, r", "static", true, [[1, 2], [9, 2]]]);
    assert.deepEqual(o.speedup[0].dots.map((d) => d.y), [1, 5]);
    assert.equal(o.latency[0].dots[0].lo, 1.98);
  }
  assert.equal(overlayOfReport({ breakeven: 1, modes: {}, points: [] }, { key: "k", title: "t", short: "s", source: "" }), null);
});
