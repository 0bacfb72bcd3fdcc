// js/model/history.js -- a workload over its runs: where its line breaks, its axis, and what a point says.
//
// Levels and steps come with the answer; the runs are as they were measured.  A line joins two
// runs only where both are of the same source and comparable; between others lies a break in the
// line, with its reason.

import { bytes, date, plain, timeUnit } from "./format.js";
import { intervalOf } from "./sentence.js";

/** @typedef {import("../api/compare/types.js").History} History */
/** @typedef {import("../api/compare/types.js").HistoryPoint} HistoryPoint */

/** The largest end over the least from which on the axis goes by ratios. */
const FLAT = 5;

/** What a run is called on the axis: its commit, else its number. @param {HistoryPoint} p */
export const label = (p) => (p.run.commit ? p.run.commit.slice(0, 7) : `#${p.run.id}`);

/** @param {History} h @returns {HistoryPoint[]} those with a figure */
export const measured = (h) => (h.points ?? []).filter((p) => p.value !== null);

/** The run that later ones are held against. @param {History} h @returns {HistoryPoint | null} */
export const baselineOf = (h) => measured(h).find((p) => p.run.baseline) ?? null;

/** "static speedup over eager at n = 30" @param {History} h @param {HistoryPoint} p */
export function what(h, p) {
  return `${h.mode} ${h.title}${p.n === null ? "" : ` at n = ${plain(p.n)}`}`;
}

/** How the axis of values is written: its title, and each tick in one unit.
 * @param {History} h @returns {{title: string, write: (v: number) => string}} */
export function valueAxis(h) {
  const title = h.title ?? "";
  if (h.unit === "us") {
    const unit = timeUnit(measured(h).map((p) => p.value ?? 0));
    return { title: `${title}, ${unit.name}`, write: (v) => plain(Number((v / unit.scale).toPrecision(4))) };
  }
  if (h.unit === "x") return { title: `${title}, x`, write: (v) => `${plain(Number(v.toPrecision(4)))}x` };
  if (h.unit === "B") return { title, write: bytes };
  return { title: h.unit ? `${title}, ${h.unit}` : title, write: (v) => plain(Number(v.toPrecision(4))) };
}

/** From where to where the axis of values goes; by ratios where the largest would press the others flat.
 * @param {readonly number[]} ends values and the ends of their intervals @returns {{log: boolean, min: number, max: number}} */
export function valueRange(ends) {
  const [lo, hi] = [Math.min(...ends), Math.max(...ends)];
  if (lo > 0 && hi / lo >= FLAT) {
    const room = (hi / lo) ** 0.08;
    return { log: true, min: lo / room, max: hi * room };
  }
  const room = (hi - lo) * 0.12 || hi * 0.1 || 1;
  return { log: false, min: lo - room < 0 && lo >= 0 ? 0 : lo - room, max: hi + room };
}

/** What is said of one point: which run it is of, its figure, and what people noted.
 * @param {History} h @param {number} i among those measured @returns {{title: string, lines: string[]}} */
export function tip(h, i) {
  const all = measured(h);
  const p = all[i];
  const title = [`#${p.run.id}`, p.run.commit ? `commit ${p.run.commit.slice(0, 7)}` : "", p.run.branch, date(p.run.created_ns / 1e6), p.run.imported ? "imported" : ""].filter(Boolean).join(", ");
  const changed = [p.change ? "a step begins here" : "", p.parting ?? ""].filter(Boolean).join("; ");
  const figure = p.shown ? `${p.shown.text} ${intervalOf(p.shown)}`.trim() : "";
  const beside = p.run.baseline ? "the baseline" : p.of_baseline ? `${p.of_baseline} of the baseline` : "";
  return { title, lines: [`${what(h, p)}: ${figure}`, beside, changed, p.run.note ? `Note: ${p.run.note.replace(/\s+/g, " ").slice(0, 120)}` : ""].filter(Boolean) };
}
