// tests/web/format.test.mjs -- numbers as the design of the pages wants them.
import test from "node:test";
import assert from "node:assert/strict";
import { onAxis } from "../../web/js/model/format.js";
import { readFileSync } from "node:fs";
import * as f from "../../web/js/model/format.js";

const table = JSON.parse(readFileSync(new URL("../numbers.json", import.meta.url), "utf8"));

test("numbers are those that the server writes: its table, case by case", () => {
  const each = { short: f.number, plain: f.plain, count: f.count, error: f.smallError, duration: f.duration, bytes: f.bytes };
  for (const [kind, write] of Object.entries(each)) for (const [x, text] of table[kind]) assert.equal(write(x), text, `${kind} of ${x}`);
  for (const [most, name] of table.time_unit) assert.equal(f.timeUnit([most]).name, name);
  for (const [least, most, name] of table.bytes_unit) assert.equal(f.bytesUnit([least, most]).name, name);
  for (const [mid, lo, hi, text, low, high] of table.interval)
    assert.deepEqual(f.withInterval(mid, [lo, hi]), { text, interval: lo < 0 ? `(${low} to ${high})` : `(${low}–${high})` });
});

test("a ratio that is not 1 does not read as 1", () => {
  for (const [mid, lo, hi, text, low, high] of table.ratio) assert.deepEqual(f.ratio(mid, [lo, hi]), { text: `${text}x`, interval: `(${low}–${high})` });
});

test("what rounds to nothing has no sign", () => {
  assert.equal(f.withInterval(-0.2, [-10, 80]).text, "0");
  assert.equal(f.number(-0.25), "-0.250");
});

test("no digit is finer than the interval's half-width, and the ends share the step", () => {
  assert.deepEqual(f.ratio(7.148, [6.998, 7.306]), { text: "7.1x", interval: "(7.0–7.3)" });
  assert.deepEqual(f.ratio(7.634, [7.541, 7.728]), { text: "7.63x", interval: "(7.54–7.73)" });
  assert.deepEqual(f.withInterval(183, [178.1, 188.8]), { text: "183", interval: "(178–189)" });
  assert.deepEqual(f.withInterval(129.8, [127.6, 132.5]), { text: "130", interval: "(128–133)" });
});

test("an interval wider than its value leaves no false digits", () => {
  assert.deepEqual(f.ratio(1.07, [0.854, 1.28]), { text: "1.1x", interval: "(0.9–1.3)" });
  assert.deepEqual(f.withInterval(120, [20, 420]), { text: "120", interval: "(20–420)" });
});

test("without an interval none is made up", () => {
  assert.deepEqual(f.ratio(2.5), { text: "2.50x", interval: "" });
  assert.equal(f.withInterval(5, [5, 5]).text, "5.00");
});

test("microseconds stay microseconds below 10 ms, a column has one unit", () => {
  assert.equal(f.timeUnit([9999, 3]).name, "µs");
  assert.equal(f.timeUnit([10000, 3]).name, "ms");
  assert.equal(f.timeUnit([2e7]).name, "s");
  assert.equal(f.timeUnit([]).name, "µs");
  assert.equal(f.duration(470000), "470 ms");
  assert.equal(f.duration(25.61), "25.6 µs");
});

test("calls to repay are rounded, and none are at once, as the findings say it", () => {
  assert.deepEqual([f.calls(2987), f.calls(1), f.calls(0)], ["2,990 calls", "1 call", "at once"]);
});

test("bytes are powers of ten", () => {
  assert.deepEqual(
    [f.bytesUnit([999]).name, f.bytesUnit([33300]).name, f.bytesUnit([5e6]).name, f.bytesUnit([2e9]).name],
    ["B", "kB", "MB", "GB"],
  );
  assert.deepEqual([[1540, 4, 0], [1540, 516], [5e6, 512], [5e6, 60e3], [786e3 * 2, 4]].map((of) => f.bytesUnit(of).name), ["B", "kB", "kB", "MB", "MB"]);
});

test("an interval with a negative end is written with a word, not with a second dash", () => {
  assert.deepEqual(f.withInterval(-40, [-120, 20]), { text: "-40", interval: "(-120 to 20)" });
});

test("shares are to a tenth and add up", () => {
  assert.deepEqual(f.shares([1, 1, 1], 3), [33.4, 33.3, 33.3]);
  assert.deepEqual(f.shares([125, 89], 214), [58.4, 41.6]);
  // One part of a whole has the same share beside others.
  assert.equal(f.shares([95, 905], 1000)[0], f.shares([95, 300, 300, 305], 1000)[0]);
  assert.deepEqual(f.shares([1], 0), [0]);
  assert.deepEqual([f.shareText(0, 0.1), f.shareText(0, 0), f.shareText(3, 5)], ["<0.1 %", "0 %", "3.0 %"]);
});

test("ages are short", () => {
  const h = 3600e3;
  assert.deepEqual(
    [0, 5 * 60e3, 2 * h, 50 * h].map((a) => f.age(1e12 - a, 1e12)),
    ["now", "5 min", "2 h", "2 d"],
  );
});

test("what is left is said roughly", () => {
  assert.deepEqual([0.2, 8.4, 130, 7200].map(f.about), ["about 1 s", "about 8 s", "about 2 min", "about 2 h"]);
});

test("a stamp names its zone", () => {
  assert.match(f.stamp(Date.UTC(2026, 10, 21, 12)), /^2026-11-2[12] \d\d:\d\d:\d\d [+-]\d\d:\d\d$/);
});

test("thousands are parted by a comma, before the point alone", () => {
  assert.deepEqual([0, 999, 1000, 1234567, -1234, -0.2, 1e15].map(f.count), ["0", "999", "1,000", "1,234,567", "-1,234", "0", "1,000,000,000,000,000"]);
  assert.deepEqual([f.toStep(1234.5678, 0.0001), f.toStep(-98765.4, 0.1), f.toStep(123456, 1000)], ["1,234.5678", "-98,765.4", "123,000"]);
});

test("values of an axis have the digits of its step", () => {
  assert.deepEqual([0.8, 1, 1.2].map(onAxis(0.2)), ["0.8", "1.0", "1.2"]);
  assert.deepEqual([0, 0.05, 0.1].map(onAxis(0.05)), ["0.00", "0.05", "0.10"]);
  assert.deepEqual([0, 1000, 2000].map(onAxis(1000)), ["0", "1,000", "2,000"]);
  assert.deepEqual([0, 2, 4].map(onAxis(2)), ["0", "2", "4"]);
});
