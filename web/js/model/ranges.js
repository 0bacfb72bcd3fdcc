// js/model/ranges.js -- the visible part of an axis, scaled and moved.
//
// Both keep within the bounds of the data, so a chart cannot be lost by zooming.

/** @typedef {{min: number, max: number}} Range */

/** A range scaled about a place and kept within bounds; on a log axis in its logs.
 * @param {Range} r
 * @param {number} about
 * @param {number} factor
 * @param {Range} bounds
 * @param {boolean} log
 * @returns {Range} */
export function scaled(r, about, factor, bounds, log) {
  const [f, g] = log ? [Math.log, Math.exp] : [(/** @type {number} */ v) => v, (/** @type {number} */ v) => v];
  const lo = f(about) - (f(about) - f(r.min)) * factor;
  const hi = f(about) + (f(r.max) - f(about)) * factor;
  const least = (f(bounds.max) - f(bounds.min)) / 200;
  if (hi - lo < least) return r;
  return { min: Math.max(bounds.min, g(lo)), max: Math.min(bounds.max, g(hi)) };
}

/**
 * A range moved by a share of itself, as far as the bounds allow.
 * @param {Range} r
 * @param {number} share
 * @param {Range} bounds
 * @returns {Range}
 */
export function moved(r, share, bounds) {
  const by = (r.max - r.min) * share;
  const d = Math.min(bounds.max - r.max, Math.max(bounds.min - r.min, by));
  return { min: r.min + d, max: r.max + d };
}
