// tests/web/compare.test.mjs -- what the page shows of two runs.
import test from "node:test";
import assert from "node:assert/strict";
import { axisOf, compareUrl, excerpt, figureName, pointsIn, ratioText, rowsAt, tally, tone } from "../../web/js/model/compare.js";
import { latencies, ratios, sweptModes } from "../../web/js/model/compare_curves.js";

const side = (value, ci = null) => ({ value, ci, samples: ci ? 30 : 0, repeats: 0 });
const shown = (x) => ({ text: `${x.toFixed(2)}x`, low: (0.98 * x).toFixed(2), high: (1.02 * x).toFixed(2) });
const figure = (metric, mode, a, b, extra = {}) => ({
  metric, mode, title: metric, unit: { latency: "us", speedup: "x", peak_bytes: "B", compile_ms: "ms" }[metric] ?? "", kind: ["latency", "speedup"].includes(metric) ? "timed" : metric === "compile_ms" ? "once" : "counted",
  n: null, points: 0, a: side(a, [a * 0.99, a * 1.01]), b: side(b, [b * 0.99, b * 1.01]), ratio: b / a, ci: [(b / a) * 0.98, (b / a) * 1.02], times: shown(b / a), verdict: "SAME", why: null, ...extra,
});
const pair = (headline, extra = {}) => ({ a: "A", b: "B", comparable: true, forced: false, refused: null, verdict: headline?.verdict ?? "NOT ENOUGH", differences: [], headline, control: null, counts: {}, figures: headline ? [headline] : [], breaks: [], ...extra });

test("figures: names, units, ratios", () => {
  assert.equal(figureName(figure("latency", "static", 1, 2)), "latency");
  assert.equal(figureName(figure("compile_ms", "static", 1, 2, { points: 7 })), "compile_ms of 7 points");
  assert.deepEqual(ratioText(figure("latency", "static", 1, 3)), { text: "3.00x", interval: "(2.94–3.06)" });
  assert.deepEqual(ratioText(figure("launches", "static", 1, 3, { times: { text: "3.00x", low: null, high: null } })), { text: "3.00x", interval: "exact" });
  assert.deepEqual(ratioText(figure("breaks", "static", 0, 3, { ratio: null, times: null })), { text: "", interval: "" });
  assert.deepEqual([tone("MORE"), tone("LESS"), tone("SAME")], ["SLOWER", "FASTER", "SAME"]);
});

test("rows of one point: timed, what is counted and differs, and what was measured once", () => {
  const figures = [
    figure("launches", "static", 1, 1, { n: 5 }), figure("peak_bytes", "static", 1, 2, { n: 5, verdict: "MORE" }), figure("latency", "static", 1, 2, { n: 5 }),
    figure("latency", "static", 1, 2, { n: 9 }), figure("compile_ms", "static", 1, 2, { points: 2 }),
  ];
  const { rows, same } = rowsAt(figures, 5);
  assert.deepEqual(rows.map((f) => f.metric), ["latency", "peak_bytes", "compile_ms"]);
  assert.equal(same, 1);
  assert.deepEqual(pointsIn(figures), [5, 9]);
});

test("curves: A dotted below the other, a series of one point is none", () => {
  const p = pair(null, { figures: [figure("latency", "static", 1, 2, { n: 1 }), figure("latency", "static", 3, 4, { n: 5 }), figure("latency", "eager", 3, 4, { n: 5 })] });
  assert.deepEqual(latencies([p], "").map((s) => [s.key, s.imported, s.dots.map((d) => d.y)]), [["A static", true, [1, 3]], ["B static", false, [2, 4]]]);
  assert.deepEqual(sweptModes([p]), ["static"]);
  const [r] = ratios([p], "", "latency");
  assert.deepEqual([r.label, r.dots.map((d) => [d.x, d.y, d.lo, d.hi])], ["static", [[1, 2, 1.96, 2.04], [5, 4 / 3, (4 / 3) * 0.98, (4 / 3) * 1.02]]]);
});

test("curves of several runs: A once, with the most points, each other with its own variant; one that was refused has none", () => {
  const at = (b, ns) => pair(null, { b, figures: ns.map((n) => figure("latency", "static", n, 2 * n, { n })) });
  const pairs = [at("B", [1, 5]), at("C", [1, 5, 9]), { b: "D", differences: [] }];
  assert.deepEqual(latencies(pairs, "static").map((s) => [s.label, s.variant, s.dots.length]), [["A static", 0, 3], ["B static", 0, 2], ["C static", 1, 3]]);
  assert.deepEqual(ratios(pairs, "static", "latency").map((s) => s.label), ["B / A", "C / A"]);
  assert.deepEqual(ratios(pairs, "static", "speedup"), []);
});

test("the axis of the rows holds what is timed; an interval from nothing to everything does not set it", () => {
  const once = figure("compile_ms", "static", 1, 2, { ci: [0, 43] });
  assert.deepEqual(axisOf([figure("latency", "static", 1, 2), once]), [2, 1.96, 2.04, 2]);
});

test("changes are counted, and lines shown about what changed", () => {
  assert.equal(tally([{ change: "added" }, { change: "gone" }, { change: "added" }], ["added", "gone"]), "2 added, 1 gone");
  const lines = "     +    ".split("").map((sign, i) => ({ sign, a: i, b: i, text: "" }));
  assert.deepEqual(excerpt(lines, 1).map((l) => l?.a ?? null), [null, 4, 5, 6, null]);
  assert.equal(compareUrl([3, 4, 5]), "/compare?a=3&b=4&b=5");
  assert.equal(compareUrl(["3", "4"], new URLSearchParams("a=9&b=8&force=1&margin=2")), "/compare?a=3&b=4&force=1&margin=2");
});
