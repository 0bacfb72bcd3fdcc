// js/model/axis.js -- an axis of ratios that the rows of a column share.

import { plain } from "./format.js";

/** @typedef {{width: number, ticks: number[], at: (r: number) => number}} RatioAxis */
/** @typedef {readonly [value: number, interval?: readonly number[] | null]} Measured */

/** An end of an interval that is so many times its value widens no axis: the line goes to the axis' end. */
const FAR = 4;
/** Of a digit of the labels, and between two of them, in pixels. */
const [DIGIT, GAP] = [6, 2];

/** What an axis is to hold of ratios with their intervals. @param {Iterable<Measured>} rows @returns {number[]} */
export const extent = (rows) =>
  [...rows].flatMap(([value, interval]) => [value, ...(interval ?? []).map((end) => Math.min(value * FAR, Math.max(value / FAR, end)))]);

/** A logarithmic axis that holds every value given, and at least 0.5x to 8x or what `least` says
 * in powers of two.
 * @param {Iterable<number>} values @param {number} width @param {readonly [number, number]} [least] @returns {RatioAxis} */
export function ratioAxis(values, width, least = [-1, 3]) {
  const all = [...values].filter((v) => v > 0 && Number.isFinite(v));
  const lo = Math.min(least[0], Math.floor(Math.log2(Math.min(1, ...all)) + 1e-9));
  const hi = Math.max(least[1], Math.ceil(Math.log2(Math.max(1, ...all)) - 1e-9));
  const pad = width * 0.07;
  const at = (/** @type {number} */ r) => Math.round(10 * (pad + ((Math.log2(r) - lo) / (hi - lo)) * (width - 2 * pad))) / 10;
  for (let every = Math.ceil((hi - lo) / 4); ; every++) {
    const ticks = Array.from({ length: hi - lo + 1 }, (_, i) => lo + i).filter((e) => e % every === 0).map((e) => 2 ** e);
    const half = (/** @type {number} */ t) => (DIGIT * (plain(t).length + 1)) / 2;
    if (ticks.every((t, i) => !i || at(t) - half(t) >= at(ticks[i - 1]) + half(ticks[i - 1]) + GAP)) return { width, ticks, at };
  }
}
