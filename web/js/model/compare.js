// js/model/compare.js -- what the page shows of two runs: rows, their order, addresses.  A ratio is B over A.

import { plain } from "./format.js";
import { intervalOf } from "./sentence.js";

/** @typedef {import("../api/compare/types.js").Pair} Pair */
/** @typedef {import("../api/compare/types.js").Figure} Figure */

const NBSP = "\u00a0";

/** @param {number | null} n */
export const at = (n) => (n === null ? "" : ` at n${NBSP}=${NBSP}${plain(n)}`);

/** "latency", "compile time of 7 points". @param {Figure} f */
export const figureName = (f) => f.title + (f.points ? ` of ${f.points} points` : "");

/** The ratio with its interval; counts have an exact one. @param {Figure} f @returns {{text: string, interval: string}} */
export function ratioText(f) {
  if (!f.times) return { text: "", interval: "" };
  return { text: f.times.text, interval: f.kind === "counted" ? "exact" : intervalOf(f.times) };
}

/** How loud a verdict is drawn: MORE of what is counted is as SLOWER. @param {string} word */
export const tone = (word) => ({ MORE: "SLOWER", LESS: "FASTER" })[word] ?? word;

/** Whether a figure is a latency where speedups decide: its verdict has no colour. @param {Pair} pair @param {Figure} f */
export const aside = (pair, f) => pair.judged_by === "speedup" && f.metric === "latency";

/** The points of a sweep that both have, ascending. @param {readonly Figure[]} figures */
export const pointsIn = (figures) => [...new Set(figures.flatMap((f) => (f.n === null ? [] : [f.n])))].sort((a, b) => a - b);

/** The rows of one point: what is timed or measured once, and what is counted and differs.
 * @param {readonly Figure[]} figures @param {number | null} n
 * @returns {{rows: Figure[], same: number}} same: counted figures that are left out */
export function rowsAt(figures, n) {
  const here = figures.filter((f) => f.n === n || f.points > 0);
  const order = ["timed", "counted", "once"];
  const shown = here.filter((f) => f.kind !== "counted" || f.verdict !== "SAME");
  shown.sort((x, y) => order.indexOf(x.kind) - order.indexOf(y.kind) || x.metric.localeCompare(y.metric) * (x.kind === "timed" ? 1 : 0));
  return { rows: shown, same: here.length - shown.length };
}

/** What the axis of the rows has to hold: the ratios, and the intervals of what is timed.  That of a
 * figure that is measured once a run may reach from nothing to a hundred times. @param {readonly Figure[]} rows */
export const axisOf = (rows) => rows.flatMap((f) => [f.ratio ?? 1, ...(f.kind === "timed" ? (f.ci ?? []) : [])]).filter((x) => x > 0);

/** "2 added, 1 gone". @param {readonly {change: string}[]} list @param {readonly string[]} words */
export const tally = (list, words) => words.map((w) => `${list.filter((x) => x.change === w).length} ${w}`).join(", ");

/** Lines of a source about what changed, with at most `around` unchanged ones beside each; null
 * stands for lines that are left out.
 * @param {readonly import("../api/compare/types.js").Line[]} lines @param {number} around
 * @returns {(import("../api/compare/types.js").Line | null)[]} */
export function excerpt(lines, around) {
  const near = lines.map((_, i) => lines.slice(Math.max(0, i - around), i + around + 1).some((l) => l.sign !== " "));
  /** @type {(import("../api/compare/types.js").Line | null)[]} */
  const out = [];
  lines.forEach((l, i) => {
    if (near[i]) out.push(l);
    else if (out.length === 0 || out[out.length - 1] !== null) out.push(null);
  });
  return out;
}

/** The address of a comparison; what else `query` says of it stays.
 * @param {readonly (string | number)[]} ids @param {URLSearchParams} [query] */
export function compareUrl(ids, query = new URLSearchParams()) {
  const q = new URLSearchParams(ids.map((id, i) => [i ? "b" : "a", String(id)]));
  for (const [k, v] of query) if (k !== "a" && k !== "b") q.set(k, v);
  return `/compare?${q}`;
}
