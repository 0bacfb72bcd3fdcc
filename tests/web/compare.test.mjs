// tests/web/compare.test.mjs -- what the page says of two runs.
import test from "node:test";
import assert from "node:assert/strict";
import { axisOf, compareUrl, excerpt, figureName, figureText, how, pointsIn, ratioText, rowsAt, sentence, sideText, tally, tone } from "../../web/js/model/compare.js";
import { latencies, ratios, sweptModes } from "../../web/js/model/compare_curves.js";
import { asText } from "../../web/js/model/sentence.js";

const side = (value, ci = null, repeats = 0) => ({ value, ci, samples: ci ? 30 : 0, repeats });
const figure = (metric, mode, a, b, extra = {}) => ({
  metric, mode, title: metric, unit: { latency: "us", speedup: "x", peak_bytes: "B", compile_ms: "ms" }[metric] ?? "", kind: ["latency", "speedup"].includes(metric) ? "timed" : metric === "compile_ms" ? "once" : "counted",
  n: null, points: 0, a: side(a, [a * 0.99, a * 1.01]), b: side(b, [b * 0.99, b * 1.01]), ratio: b / a, ci: [(b / a) * 0.98, (b / a) * 1.02], verdict: "SAME", why: null, ...extra,
});
const pair = (headline, extra = {}) => ({ a: "A", b: "B", comparable: true, forced: false, refused: null, verdict: headline?.verdict ?? "NOT ENOUGH", differences: [], headline, control: null, counts: {}, figures: headline ? [headline] : [], breaks: [], ...extra });
const said = (p) => asText(sentence(p));

test("the sentence of each verdict claims what its interval holds", () => {
  const slow = figure("latency", "static", 25.8, 77.2, { verdict: "SLOWER", n: 30 });
  assert.equal(said(pair(slow)), "B takes 2.99x (2.93–3.05) as long as A under static at n = 30: 77.2 us against 25.8 us.");
  const fast = figure("latency", "static", 30, 10, { verdict: "FASTER" });
  assert.equal(said(pair(fast)), "B is 3.00x (2.94–3.06) faster than A under static: 10.0 us against 30.0 us.");
  assert.match(said(pair(figure("latency", "static", 10, 10))), /^B is as fast as A under static: 1\.00x \(0\.98–1\.02\)\.$/);
  const open = figure("latency", "static", 10, 10.5, { verdict: "AMBIGUOUS", ci: [0.9, 1.3] });
  assert.equal(said(pair(open)), "B may take anywhere from 0.9x to 1.3x as long as A under static, so no verdict is given.");
  assert.match(said(pair(figure("latency", "static", 1, 2, { verdict: "NOT ENOUGH" }))), /^Too few rounds to tell B from A/);
  assert.match(said(pair(figure("speedup", "static", 4, 2, { verdict: "SLOWER" }))), /^The speedup of static over eager in B is 0\.50x \(0\.49–0\.51\) of A's: 2\.00x against 4\.00x\.$/);
  assert.equal(said(pair(null)), "B and A have no timed figure in common: there is nothing to judge.");
});

test("a refusal names the field", () => {
  const p = { a: "A", b: "B", verdict: "REFUSED", refused: "not comparable: threads 1 against 16; device cpu against cuda", differences: [] };
  assert.equal(said(p), "B and A are not comparable: threads 1 against 16; device cpu against cuda.");
  assert.deepEqual(how(p), []);
});

test("new breaks follow the claim with what they cost, of its mode alone", () => {
  const f = figure("latency", "static", 10, 20, { verdict: "SLOWER" });
  const brk = (change, mode, cost_us) => ({ change, mode, a: change === "gone" ? { cost_us } : null, b: change === "added" ? { cost_us } : null });
  assert.match(said(pair(f, { breaks: [brk("added", "static", 25), brk("added", "static", 26.4), brk("added", "dynamic", 9)] })), / 2 new breaks cost 51\.4 us a call\.$/);
  assert.match(said(pair(f, { breaks: [brk("added", "static", null)] })), / 1 new break\.$/);
  assert.match(said(pair(f, { breaks: [brk("gone", "static", 3)] })), / 1 break gone, which cost 3 us a call\.$/);
});

test("how far it reaches: counts, control, and what the intervals hold", () => {
  const f = figure("latency", "static", 10, 20, { verdict: "SLOWER" });
  const control = figure("latency", "eager", 10, 13, { verdict: "SLOWER" });
  const text = how(pair(f, { counts: { SLOWER: 2, SAME: 1 }, control })).join(" ");
  assert.match(text, /^Of 3 latencies 2 are SLOWER, 1 is SAME\. Eager, the control, moved too \(1\.30x\)/);
  assert.match(text, /One run a side: what differs from process to process is not in the intervals/);
  assert.match(how(pair({ ...f, a: side(10, [9, 11], 5) })).join(" "), /The intervals hold what 5 runs of the same differ by/);
  assert.match(how(pair(f, { control: { ...control, verdict: "SAME" } })).join(" "), /Eager, the control, is the same in both/);
});

test("figures: names, units, ratios", () => {
  assert.equal(figureName(figure("latency", "static", 1, 2)), "latency");
  assert.equal(figureName(figure("compile_ms", "static", 1, 2, { points: 7 })), "compile_ms of 7 points");
  assert.deepEqual(sideText(figure("latency", "static", 25000, 1), "a"), { text: "25.0 ms".replace(" ", "\u00a0"), interval: "(24.8–25.3)" });
  assert.deepEqual(sideText(figure("peak_bytes", "static", 2048, 1), "a"), { text: "2.05 kB", interval: "" });
  assert.equal(sideText({ ...figure("latency", "static", 1, 2), a: side(null) }, "a").text, "unknown");
  assert.deepEqual(ratioText(figure("launches", "static", 1, 3, { ci: null })), { text: "3.00x", interval: "exact" });
  assert.deepEqual(ratioText(figure("breaks", "static", 0, 3, { ratio: null })), { text: "", interval: "" });
  assert.deepEqual([tone("MORE"), tone("LESS"), tone("SAME")], ["SLOWER", "FASTER", "SAME"]);
});

test("figures in their units", () => {
  const said = (...x) => Object.values(figureText(...x)).join(" ").trim().replace("\u00a0", " ");
  assert.equal(said("us", 25.6, [25, 26]), "25.6 us (25.0–26.0)");
  assert.equal(said("us", 25.6, null, [25.6, 12e3]), "0.0256 ms");
  assert.equal(said("B", 2048, null), "2.05 kB");
  assert.equal(said("ms", 12, null), "12 ms");
  assert.equal(said("", 3, null), "3");
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
