// js/model/repay.js -- break-even over the number of calls: eager over a mode with its compile
// time paid, which begins far below 1x, meets it where the compilation is repaid, and ends at
// the speedup.
//
// After N calls the mode took C + N t, eager N (t + s): compile time C, its own t a call, s saved
// a call (the median over rounds, with its interval).  So the curve meets 1x at the report's own
// C / s.  (The difference of two medians, eager's time and what is saved, could not be trusted
// where little is left, and its interval would reach below zero.)

import { inOrder } from "./modes.js";

/** @typedef {import("../api/types.js").Point} Point */
/** @typedef {import("./curves.js").Series} Series */
/** @typedef {import("../api/report.js").ReportFindingsRepay} Said */
/** @typedef {Record<string, {repay?: Said}>} SaidModes */
/**
 * @typedef {object} Repaid one mode at one point
 * @property {string} mode
 * @property {string} by "" for ours, else whose it is: "torch"
 * @property {number} compile_us
 * @property {number} each_us the mode's own time of a call
 * @property {number} saved a call, µs; 0 or less: nothing
 * @property {readonly [number, number] | null} saved_ci
 * @property {number | null} calls to repay; null: never, or it cannot be told
 * @property {readonly number[] | null} calls_ci
 * @property {Said} said the same in words and digits: the findings'
 */

const LEAST_CALLS = 1000;
const MOST_CALLS = 1e9;
const STEPS = [1, 2, 5];

/** Modes that compile and are held against the eager of their own engine.
 * @param {{modes: Record<string, Pick<import("../api/types.js").ModeReport, "latency" | "compile_ms">>, break_even?: Point["break_even"]}} point
 * @param {SaidModes} said the findings of its modes
 * @param {string} [by] whose they are, where they are not ours @returns {Repaid[]} */
export function repaidOf(point, said, by = "") {
  return inOrder(Object.keys(point.modes)).flatMap((mode) => {
    const [m, b, repay] = [point.modes[mode], point.break_even?.[mode], said[mode]?.repay];
    if (mode === "eager" || !b || !m.latency || !repay) return [];
    const compile_us = (b.compile_ms ?? Number(m.compile_ms)) * 1e3;
    return [{ mode, by, compile_us, each_us: m.latency.median_us, saved: b.saved_us ?? 0, saved_ci: b.saved_ci_us ?? null, calls: b.calls_to_repay ?? null, calls_ci: b.calls_to_repay_ci ?? null, said: repay }];
  });
}

/** Eager over the mode after so many calls, of which each saved `saved`. @param {Repaid} r @param {number} calls @param {number} saved */
const ratioAfter = (r, calls, saved) => Math.max(r.each_us + saved, 0) / (r.compile_us / calls + r.each_us);

/** Numbers of calls for the curve: 1, 2, 5, ... until the last mode has its speedup, and where each is repaid.
 * @param {readonly Repaid[]} all @returns {number[]} ascending */
export function callsOf(all) {
  const far = Math.max(LEAST_CALLS, ...all.map((r) => Math.max(10 * (r.calls ?? 0), r.said.nearly ?? 0)));
  const last = Math.min(MOST_CALLS, 10 ** Math.ceil(Math.log10(far)));
  const round = [];
  for (let p = 1; p <= last; p *= 10) round.push(...STEPS.map((s) => s * p).filter((n) => n <= last));
  const met = all.flatMap((r) => (r.calls !== null && r.calls >= 1 && r.calls <= last ? [r.calls] : []));
  return [...new Set([...round, ...met])].sort((a, b) => a - b);
}

/** The curves of all modes over the same numbers of calls. @param {readonly Repaid[]} all @returns {Series[]} */
export function repaySeries(all) {
  const calls = callsOf(all);
  return all.map((r) => ({
    key: r.by ? `${r.mode}-${r.by}` : r.mode,
    mode: r.mode,
    label: r.by ? `${r.mode}, ${r.by}` : r.mode,
    imported: r.by !== "",
    dots: calls.map((x) => {
      const y = ratioAfter(r, x, r.saved);
      return r.saved_ci ? { x, y, lo: ratioAfter(r, x, r.saved_ci[0]), hi: ratioAfter(r, x, r.saved_ci[1]) } : { x, y };
    }),
  }));
}

/** Where a mode is repaid, to be marked. @param {readonly Repaid[]} all @param {string | null} mode @returns {import("./curves.js").Crossing[]} */
export function repayCrossing(all, mode) {
  const r = all.find((x) => x.mode === mode && !x.by);
  if (!r || r.calls === null || r.calls < 1) return [];
  const [lo, hi] = r.calls_ci ?? [r.calls, r.calls];
  return [{ x: r.calls, lo, hi, text: "", sub: `${mode} is repaid` }];
}
