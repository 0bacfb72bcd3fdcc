// tests/web/align.test.mjs -- two timelines aligned: where bars, slices and lines lie, and addresses.
import test from "node:test";
import assert from "node:assert/strict";
import { countsText, linesBetween, placeSlices, placeUrl, shortName, toneOf, waterfall } from "../../web/js/model/align.js";

const row = (delta, more = {}) => ({ part: "device", n_a: 1, n_b: 1, stands: true, time: { delta_us: delta, changed: true, ci_us: [delta - 1, delta + 1] }, ...more });

test("colours are those of rows that stand", () => {
  assert.deepEqual([toneOf(row(3)), toneOf(row(-3)), toneOf(row(3, { stands: false })), toneOf(row(0))], ["worse", "better", "same", "same"]);
});

test("bars begin where the one before ends", () => {
  assert.deepEqual(waterfall([row(6), row(-8), row(4)]), { zero: 0.25, bars: [{ from: 0.25, to: 1 }, { from: 1, to: 0 }, { from: 0, to: 0.5 }] });
  assert.deepEqual(waterfall([]), { zero: 0, bars: [] });
  assert.deepEqual(waterfall([row(0)]).bars, [{ from: 0, to: 0 }]);
});

test("what a row says of its items", () => {
  assert.equal(countsText(row(1)), "");
  assert.equal(countsText(row(1, { n_a: 4, n_b: 4 })), "4×");
  assert.equal(countsText(row(1, { n_a: 4, n_b: 8 })), "4 → 8");
  assert.equal(shortName("void at::native::(anonymous namespace)::k<4, f>(int)"), "k");
  assert.equal(shortName("Memset (Device)"), "Memset (Device)");
  assert.equal(shortName("triton_poi_0"), "triton_poi_0");
});

test("without idle time a moment in which nothing runs takes no room; streams stay beside each other", () => {
  const slices = [{ at_us: 10, us: 5, lane: 0 }, { at_us: 12, us: 6, lane: 1 }, { at_us: 30, us: 1, lane: 0 }];
  const busy = placeSlices(slices, false), whole = placeSlices(slices, true);
  assert.deepEqual(busy.placed.map((p) => p.x), [0, 2, 8]);
  assert.deepEqual([busy.end, busy.lanes], [9, 2]);
  assert.deepEqual(whole.placed.map((p) => p.x), [10, 12, 30]);
  assert.equal(whole.end, 31);
  assert.deepEqual(placeSlices([], false), { placed: [], end: 0, lanes: 1 });
});

test("lines join what was made of each other", () => {
  const of = (...matches) => matches.map((match) => ({ slice: { match }, x: match, width: 1 }));
  const lines = linesBetween(of(1, 2, 3), of(3, 1, 1));
  assert.deepEqual(lines.map((l) => [l.a.slice.match, l.b.slice.match]), [[1, 1], [1, 1], [3, 3]]);
});

test("a place leads to the timeline of its run, with the lanes that were aligned", () => {
  const side = { id: 7, mode: "static", n: 30 };
  assert.equal(placeUrl(side, { t0_ns: 5000, t1_ns: 9000 }), "/runs/7/timeline?mode=static&n=30&t0=1000&t1=13000&s0=5000&s1=9000");
  assert.equal(placeUrl({ ...side, mode: null, n: null }, { t0_ns: 0, t1_ns: 10 }), "/runs/7/timeline?t0=0&t1=1010&s0=0&s1=10");
  assert.equal(placeUrl({ file: "a.json", mode: null, n: null }, { t0_ns: 0, t1_ns: 10 }), null);
  assert.equal(placeUrl(side, null), null);
});
