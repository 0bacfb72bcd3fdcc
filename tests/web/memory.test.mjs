// tests/web/memory.test.mjs -- memory over a call: moments, lines, words.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as memory from "../../web/js/model/memory.js";

const tensor = (op, line, bytes, from, to, at_peak, more = {}) => ({
  op, line, use: "output", graph: null, kernel: null, values: 1, dtype: "float32", shape: [bytes / 4], bytes,
  from_us: from, to_us: to, at_peak, ...more,
});

/** x of 100 bytes is held; sin and cos take 40 each, a third comes when sin has gone. */
const eager = () => ({
  call: 0, duration_us: 10, held_bytes: 100, peak_bytes: 180, peak_us: 2, left_bytes: 140, held_at_peak_bytes: 100, events: 4,
  curve: { at_us: [1, 2, 3, 4], bytes: [140, 180, 140, 180] },
  tensors: [tensor("sin", 3, 40, 1, 3, true), tensor("cos", 4, 40, 2, null, true), tensor("add", 4, 40, 4, null, false)],
  left_out: { tensors: 0, bytes: 0, peak_bytes: 0 }, held: [], other_inputs_bytes: 0, other_bytes: 100,
});

test("a moment holds what was taken and not given back", () => {
  const m = eager();
  assert.equal(memory.moments(m), 5);
  assert.equal(memory.peakMoment(m), 2);
  const at = (i) => { const o = memory.momentOf(m, i); return [o.used, o.rest, o.rows.map((r) => r.at.op)]; };
  assert.deepEqual(at(0), [100, 100, []]);
  assert.deepEqual(at(1), [140, 100, ["sin"]]);
  assert.deepEqual(at(2), [180, 100, ["sin", "cos"]]);
  assert.deepEqual(at(3), [140, 100, ["cos"]]);
  assert.deepEqual(at(4), [180, 100, ["cos", "add"]]);
});

test("the moment at a time is the last that is not after it", () => {
  const m = eager();
  assert.deepEqual([0, 0.9, 1, 2.5, 4, 99].map((us) => memory.momentAt(m, us)), [0, 0, 1, 2, 4, 4]);
});

test("tensors of one statement that are alike are one row", () => {
  const m = eager();
  m.tensors.push(tensor("cos", 4, 40, 2, null, true));
  const { rows } = memory.momentOf(m, 2);
  assert.deepEqual(rows.map((r) => [r.at.op, r.tensors.length, r.bytes]), [["cos", 2, 80], ["sin", 1, 40]]);
});

test("who writes a tensor, and sizes below a column's digits", () => {
  const who = (more) => memory.whoOf({ ...tensor("a", 1, 4, 0, 1, true), ...more });
  assert.deepEqual([who({ eager: true }), who({ graph: 2, kernel: 1 }), who({ graph: 2 }), who({ use: "other" }), who({})],
    ["an op by itself", "graph 2, kernel 1", "graph 2", "the host", "a graph's backward part"]);
  const mb = { scale: 1e6 };
  assert.deepEqual([0, 999, 1000, 2.5e6, 3e6].map((b) => memory.inUnit(b, mb)), ["0", "<0.001", "0.00100", "2.50", "3"]);
  assert.deepEqual([1, 4, 40, 512, 2048].map((b) => memory.inUnit(b, { scale: 1e3 })), ["0.001", "0.004", "0.040", "0.512", "2.05"]);
  assert.deepEqual([4, 360004].map((b) => memory.inUnit(b, { scale: 1 })), ["4", "360,004"]);
});

test("an axis has round values within its span", () => {
  assert.deepEqual(memory.axisTicks(0, 4.2e6, 5), [0, 1e6, 2e6, 3e6, 4e6]);
  assert.deepEqual(memory.axisTicks(0, 35, 5), [0, 10, 20, 30]);
  assert.deepEqual(memory.axisTicks(-20, 60, 5), [-20, 0, 20, 40, 60]);
  assert.ok(memory.axisTicks(0, 0, 5).length > 0);
});
