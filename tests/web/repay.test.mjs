// tests/web/repay.test.mjs -- break-even over the number of calls.
import assert from "node:assert/strict";
import { test } from "node:test";
import { callsOf, repaidOf, repayCrossing, repaySeries } from "../../web/js/model/repay.js";

const latency = (us) => ({ median_us: us, ci_us: [us, us], n: 20 });
const point = (static_us, be, compile_ms = 1) => ({ n: 30, modes: { eager: { latency: latency(10) }, static: { latency: latency(static_us), compile_ms } }, break_even: { static: be } });
const said = (nearly) => ({ static: { repay: { compile: "1 ms", saved: null, after: { text: "125 calls", low: null, high: null }, nearly, nearly_after: "4,500" } } });
const good = point(2, { speedup: 5, speedup_ci: [4, 6], calls_to_repay: 125, calls_to_repay_ci: [112, 143], repay: "after", saved_us: 8, saved_ci_us: [7, 9] });

test("the curve begins at the price of compiling, meets 1x where it is repaid, and ends at the speedup", () => {
  const all = repaidOf(good, said(4500));
  const [s] = repaySeries(all);
  const at = (x) => s.dots.find((d) => d.x === x);
  assert.ok(Math.abs(at(1).y - 10 / 1002) < 1e-12);
  assert.ok(Math.abs(at(125).y - 1) < 1e-12, "1000 µs over 8 µs a call");
  assert.ok(s.dots.at(-1).y > 0.9 * 5 && s.dots.at(-1).y < 5);
  assert.ok(s.dots.every((d) => d.lo < d.y && d.y < d.hi));
  assert.deepEqual(repayCrossing(all, "static"), [{ x: 125, lo: 112, hi: 143, text: "", sub: "static is repaid" }]);
  assert.equal(callsOf(all).at(-1), 10000, "as far as nine tenths of the speedup");
  const [near] = repaySeries([{ ...all[0], calls: 4500 }]);
  assert.ok(Math.abs(near.dots.find((d) => d.x === 4500).y - 0.9 * 5) < 1e-9);
});

test("an interval as wide as what is left of a call keeps the band at the speedup's own", () => {
  const all = repaidOf(point(0.1, { speedup: 100, speedup_ci: [95, 105], calls_to_repay: 101, calls_to_repay_ci: [99, 106], repay: "after", saved_us: 9.9, saved_ci_us: [9.4, 10.1] }), said(90000));
  const last = repaySeries(all)[0].dots.at(-1);
  assert.ok(last.hi < 110 && last.lo > 80, `${last.lo} to ${last.hi}`);
  const lowest = repaySeries(repaidOf(point(12, { speedup: 0.8, speedup_ci: [0.01, 1], calls_to_repay: null, repay: "never", saved_us: -2, saved_ci_us: [-50, 0] }), said(null)))[0];
  assert.ok(lowest.dots.every((d) => d.lo >= 0));
});

test("calls reach as far as a mode is repaid, and no further than a thousand million", () => {
  const all = repaidOf(good, said(4500));
  assert.deepEqual([callsOf(all)[0], callsOf(all).at(-1), callsOf(all).includes(125)], [1, 10000, true]);
  assert.equal(callsOf([{ ...all[0], calls: 1e12 }]).at(-1), 1e9);
});

test("a mode that saves nothing stays below 1x and is never repaid; one that compiles nothing, or has no eager, is left out", () => {
  const all = repaidOf(point(12, { speedup: 10 / 12, speedup_ci: null, calls_to_repay: null, repay: "never" }), said(null));
  assert.ok(repaySeries(all)[0].dots.every((d) => d.y < 1 && d.lo === undefined));
  assert.deepEqual(repayCrossing(all, "static"), []);
  assert.deepEqual(repaidOf(good, { static: {} }), []);
});
