// tests/web/axis.test.mjs -- the axis of ratios that the rows of a column share.
import test from "node:test";
import assert from "node:assert/strict";
import { extent, ratioAxis } from "../../web/js/model/axis.js";

const WIDTH = 120;

test("an interval that is wide without bounds does not make the axis of all rows", () => {
  const noisy = [[1.01, [0.07, 240]], [0.98, [0.9, 1.1]], [1.2, null]];
  const { at, ticks } = ratioAxis(extent(noisy), WIDTH);
  assert.deepEqual(ticks, [0.25, 0.5, 1, 2, 4, 8].filter((t) => ticks.includes(t)));
  assert.ok(at(1.2) - at(0.98) > 2, "rows can be told apart");
  assert.deepEqual(extent([[2, [1.5, 3]]]), [2, 1.5, 3]);
});

test("labels never lie over each other, and 1x is among them", () => {
  for (const [lo, hi] of [[0.5, 8], [0.0625, 256], [0.001, 2], [1, 4096], [0.0001, 100000]]) {
    const { at, ticks } = ratioAxis([lo, hi], WIDTH);
    assert.ok(ticks.includes(1) && ticks.length > 1, `${ticks}`);
    const half = (t) => 3 * (t.toLocaleString("en-US", { maximumFractionDigits: 6 }).length + 1);
    ticks.slice(1).forEach((t, i) => assert.ok(at(t) - half(t) >= at(ticks[i]) + half(ticks[i]), `${ticks}`));
    assert.ok(at(lo) >= 0 && at(hi) <= WIDTH);
  }
});
