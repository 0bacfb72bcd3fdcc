// tests/web/curves.test.mjs -- series, axes, crossovers, CSV.
import test from "node:test";
import assert from "node:assert/strict";
import * as c from "../../web/js/model/curves.js";
import { PUBLISHED, publishedCrossing, publishedLatency, publishedSpeedup } from "../../web/js/model/published.js";
import { moved, scaled } from "../../web/js/model/ranges.js";
import { reportOf } from "./report_of.mjs";

test("a series has the report's medians and intervals", () => {
  const s = c.latencySeries(reportOf([1, 5], 4));
  assert.deepEqual(
    s.map((x) => x.key),
    ["eager", "static"],
  );
  assert.deepEqual(s[0].dots[1], { x: 5, y: 6, lo: 6 * 0.99, hi: 6 * 1.01 });
});

test("a point that was not measured is a gap, not a zero", () => {
  const r = reportOf([1, 5, 9], 4);
  delete r.points[1].modes.static.latency;
  assert.deepEqual(
    c.latencySeries(r)[1].dots.map((d) => d.x),
    [1, 9],
  );
});

test("lines meet where the log of their ratio is zero, at the last meeting", () => {
  assert.equal(
    c.meeting(
      [
        { x: 0, y: 1 },
        { x: 2, y: 4 },
      ],
      [
        { x: 0, y: 2 },
        { x: 2, y: 2 },
      ],
    ),
    1,
  );
  assert.equal(
    c.meeting(
      [
        { x: 0, y: 1 },
        { x: 2, y: 1 },
      ],
      [
        { x: 0, y: 2 },
        { x: 2, y: 2 },
      ],
    ),
    null,
  );
});

test("PyTorch on the H200 meets eager between n = 1 and 5, the seed's series by n = 5", () => {
  const [h200, seed] = PUBLISHED.map((p) => publishedCrossing(p)[0].x);
  assert.ok(h200 > 3 && h200 < 4, String(h200));
  assert.ok(seed > 4.5 && seed < 5, String(seed));
});

test("published series carry their source and no interval", () => {
  for (const p of PUBLISHED) {
    for (const s of [...publishedLatency(p), ...publishedSpeedup(p)]) {
      assert.ok(s.imported && s.label.endsWith(p.short));
      assert.ok(s.dots.every((d) => d.lo === undefined) && s.dots.length === 7);
    }
  }
});

test("ticks are round and inside the axis", () => {
  assert.deepEqual(c.linearTicks(0, 15, 5), [0, 5, 10, 15]);
  assert.deepEqual(c.linearTicks(0, 200, 5), [0, 50, 100, 150, 200]);
  assert.deepEqual(c.logTicks(0.25, 8, true), [0.25, 0.5, 1, 2, 4, 8]);
  assert.deepEqual(c.logTicks(10, 200, false), [10, 20, 50, 100, 200]);
});

test("an axis holds every interval, and 1x on a ratio's", () => {
  const s = c.speedupSeries(reportOf([10, 30], 2));
  const y = c.yRange(s, { log: true, ratio: true });
  assert.ok(y.min <= 0.5 && y.max >= 15.5 * 1.02);
  assert.equal(c.yRange(c.latencySeries(reportOf([1, 12], 4)), { log: false, ratio: false }).min, 0);
});

test("sizes that grow by factors get a logarithmic axis", () => {
  assert.equal(c.wantsLogX([64, 1024, 16384]), true);
  assert.equal(c.wantsLogX([1, 5, 10, 15, 20, 25, 30]), false);
  assert.equal(c.wantsLogX([0, 100, 10000]), false);
});

test("names at line ends are moved apart and stay within the frame", () => {
  const out = c.spread([95, 96, 97], 13, 0, 100);
  assert.deepEqual(out, [74, 87, 100]);
  assert.deepEqual(c.spread([10, 50], 13, 0, 100), [10, 50]);
});

test("a line is read between its points", () => {
  assert.equal(
    c.valueAt(
      [
        { x: 0, y: 1 },
        { x: 2, y: 9 },
      ],
      1,
      false,
    ),
    5,
  );
  assert.equal(
    c.valueAt(
      [
        { x: 0, y: 1 },
        { x: 2, y: 9 },
      ],
      1,
      true,
    ),
    3,
  );
  assert.equal(
    c.valueAt(
      [
        { x: 0, y: 1 },
        { x: 2, y: 9 },
      ],
      3,
      false,
    ),
    null,
  );
});

test("the CSV has a column for each median and end, quoted where needed", () => {
  const csv = c.toCsv(
    [
      { key: "s", mode: "static", label: "static, H200", imported: true, dots: [{ x: 1, y: 2 }] },
      { key: "e", mode: "eager", label: "eager", imported: false, dots: [{ x: 5, y: 3, lo: 2.5, hi: 3.5 }] },
    ],
    "us",
  );
  assert.deepEqual(csv.trim().split("\n"), [
    'n,"static, H200_us","static, H200_us_lo","static, H200_us_hi",eager_us,eager_us_lo,eager_us_hi',
    "1,2,,,,,",
    "5,,,,3,2.5,3.5",
  ]);
});

test("zooming keeps within the data and about the pointer", () => {
  const bounds = { min: 0, max: 30 };
  assert.deepEqual(scaled(bounds, 10, 0.5, bounds, false), { min: 5, max: 20 });
  assert.deepEqual(scaled({ min: 5, max: 20 }, 10, 10, bounds, false), bounds);
  assert.deepEqual(scaled({ min: 5, max: 5.1 }, 5.05, 0.5, bounds, false), { min: 5, max: 5.1 });
  assert.deepEqual(moved({ min: 5, max: 15 }, 2, bounds), { min: 20, max: 30 });
  assert.deepEqual(moved({ min: 5, max: 15 }, -2, bounds), { min: 0, max: 10 });
});
