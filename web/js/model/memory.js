// js/model/memory.js -- tensor memory over one call: what is in use when, and for what.
//
// Bytes are exact, so they carry no interval.  Of a call with very many tensors the report
// lists the largest.  What is summed here follows the pointer; the sums of a call and of its lines
// are the findings'.

import { stepOf, toStep } from "./format.js";

/**
 * @typedef {import("../api/report.js").ReportMemoryTensor} MemoryTensor
 * @typedef {import("../api/report.js").ReportHeld} Held
 * @typedef {import("../api/report.js").ReportMemory} Memory
 * @typedef {{tensors: MemoryTensor[], bytes: number, at: MemoryTensor}} Alike tensors of one statement, all alike
 * @typedef {object} Moment
 * @property {number} used
 * @property {Alike[]} rows largest first
 * @property {number} rest of `used`: what was held before the call, less what of it was given back, and
 *   what is not listed
 */

/** How many moments of the call can be looked at: before it, and after each event. @param {Memory} m */
export const moments = (m) => m.curve.at_us.length + 1;

/** @param {Memory} m @param {number} i of moments(); 0: before the first event */
export const momentTime = (m, i) => (i === 0 ? 0 : m.curve.at_us[i - 1]);

/** @param {Memory} m @param {number} i */
export const momentBytes = (m, i) => (i === 0 ? m.held_bytes : m.curve.bytes[i - 1]);

/** The moment of the peak: the first at which so much is in use. @param {Memory} m */
export const peakMoment = (m) => m.curve.bytes.indexOf(m.peak_bytes) + 1;

/** The last moment that is not after a time. @param {Memory} m @param {number} us */
export function momentAt(m, us) {
  let [lo, hi] = [0, m.curve.at_us.length];
  while (lo < hi) {
    const mid = (lo + hi + 1) >> 1;
    if (m.curve.at_us[mid - 1] <= us) lo = mid;
    else hi = mid - 1;
  }
  return lo;
}

/** @param {readonly MemoryTensor[]} tensors @returns {Alike[]} */
function alike(tensors) {
  /** @type {Map<string, Alike>} */
  const rows = new Map();
  for (const t of tensors) {
    const key = [t.op, t.line, t.use, t.graph, t.dtype, t.shape, t.values, t.bytes].join("|");
    const row = rows.get(key);
    if (row) {
      row.tensors.push(t);
      row.bytes += t.bytes;
    } else rows.set(key, { tensors: [t], bytes: t.bytes, at: t });
  }
  return [...rows.values()].sort((a, b) => b.bytes - a.bytes || a.at.from_us - b.at.from_us);
}

/** What is in use at a moment. @param {Memory} m @param {number} i @returns {Moment} */
export function momentOf(m, i) {
  const us = momentTime(m, i);
  const used = momentBytes(m, i);
  // At the peak the report says itself what is there: times of events may be equal.
  const there = (/** @type {MemoryTensor} */ t) =>
    i === peakMoment(m) ? t.at_peak : i > 0 && t.from_us <= us && (t.to_us === null || t.to_us > us);
  const rows = alike(m.tensors.filter(there));
  return { used, rows, rest: used - rows.reduce((sum, r) => sum + r.bytes, 0) };
}

/** Round values for an axis from `lo` to at least `hi`. @param {number} lo @param {number} hi @param {number} most */
export function axisTicks(lo, hi, most) {
  const span = hi - lo > 0 ? hi - lo : 1;
  const power = 10 ** Math.floor(Math.log10(span / most));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => span / s <= most) ?? 10 * power;
  const ticks = [];
  for (let v = Math.ceil(lo / step - 1e-9) * step; v <= hi + 1e-9 * span; v += step) ticks.push(v || 0); // no -0
  return ticks;
}

/** "[64, 256] float32" @param {{dtype: string | null, shape: number[] | null}} t */
export const shapeText = (t) => (t.shape ? `[${t.shape.join(", ")}] ${t.dtype ?? ""}`.trim() : "");

/** What took it, in words. @param {MemoryTensor} t */
export function whatOf(t) {
  if (t.values > 1) return `${t.values} temporaries in one block`;
  if (t.op) return t.op;
  return { constant: "a constant", recording: "a recording", temporary: "a temporary" }[t.use] ?? "not by an op";
}

/** Who writes it. @param {MemoryTensor} t */
export function whoOf(t) {
  if (t.graph !== null) return t.kernel === null ? `graph ${t.graph}` : `graph ${t.graph}, kernel ${t.kernel}`;
  if (t.eager) return "an op by itself";
  return t.use === "other" ? "the host" : "a graph's backward part";
}

/**
 * Bytes in a column's unit, no digit finer than one; what its digits do not reach is said to be less.
 * @param {number} b @param {{scale: number}} unit
 */
export function inUnit(b, unit) {
  if (b > 0 && b < unit.scale / 1000) return "<0.001";
  const x = b / unit.scale;
  return toStep(x, unit.scale > 1 ? Math.max(stepOf(x), Number.isInteger(x) ? 1 : 1 / unit.scale) : 1);
}
