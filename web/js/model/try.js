// js/model/try.js -- a suggested change of the source as a run of its own, and what it showed.

/** @typedef {import("../api/types.js").Workload} Workload */
/**
 * @typedef {import("../api/report.js").ReportChange} Change
 */

import { number, plural, withInterval } from "./format.js";

const SECONDS = 0.6; // of sampling: a short comparison
const MOST_NAME = 200; // bytes, of the server
const TAG = "tried";

/**
 * The workload with `after` in place of `before`, which runs beside it.  Of a sweep one point is left.
 * @param {Workload} w as it was posted
 * @param {{before: string, after: string, mode: string, n: number | null, what: string}} change sources of the point
 * @returns {Workload}
 */
export function tryWorkload(w, { before, after, mode, n, what }) {
  const { sweep, time, engines: _engines, title: _title, ...kept } = /** @type {Workload & {time?: Record<string, number[]>, title?: string}} */ (w);
  const modes = [...new Set([...((w.modes ?? []).includes("eager") ? ["eager"] : []), mode])];
  const cycles = time ? Object.fromEntries(Object.entries(time).filter(([m]) => modes.includes(m))) : {};
  return {
    ...kept,
    source: after,
    before,
    modes,
    seconds: Math.min(w.seconds ?? SECONDS, SECONDS),
    ...(sweep?.input && n !== null ? { sweep: { input: { ...sweep.input, sizes: [n] } } } : {}),
    ...(Object.keys(cycles).length ? { time: cycles } : {}),
    name: nameOf(w.name ?? "workload", what),
    tags: [...new Set([...(w.tags ?? []), TAG])].slice(-20),
  };
}

/** A name of its own: the history of the workload is of the workload as it is. @param {string} name @param {string} what */
function nameOf(name, what) {
  const room = MOST_NAME - new TextEncoder().encode(`, ${what}`).length;
  let kept = name;
  while (new TextEncoder().encode(kept).length > room) kept = kept.slice(0, -1);
  return `${kept}, ${what}`;
}

/**
 * What a run that was tried says of a mode; null where it says nothing.
 * @param {import("../api/types.js").Report | null | undefined} report @param {string} mode @returns {Change | null}
 */
export function changeOf(report, mode) {
  const modes = report?.points?.length ? report.points[0].modes : report?.modes;
  return modes?.[mode]?.change ?? null;
}

/**
 * Rows of before and after, as texts; an interval is the last of a cell.
 * @param {Change} c
 * @returns {{name: string, before: string[], after: string[]}[]}
 */
export function changeRows(c) {
  const pair = (/** @type {string} */ name, /** @type {number[] | undefined} */ of) => (of ? [{ name, before: [number(of[0])], after: [number(of[1])] }] : []);
  const time = (/** @type {number} */ i) => {
    const t = withInterval(c.median_us?.[i] ?? 0, c.ci_us?.[i]);
    return [t.text, t.interval];
  };
  return [...pair("Breaks", c.breaks), ...pair("Graphs", c.graphs), ...pair("Launches a call", c.launches), ...(c.median_us ? [{ name: "A call, µs", before: time(0), after: time(1) }] : [])];
}

/** Whether the values are the same, in a sentence. @param {Change} c */
export function valuesText(c) {
  if (!c.agrees) return `The values differ: ${c.disagreement ?? "by more than their accuracy"}.`;
  const prints = c.prints_less ? ` ${plural(c.prints_less, "printed line is", "printed lines are")} left out.` : "";
  const values = c.max_abs_error === 0 ? "The values are the same, bit for bit where they are numbers." : `The values agree: the largest difference is ${Number(c.max_abs_error).toExponential(1)}.`;
  return values + prints;
}
