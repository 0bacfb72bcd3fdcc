// js/model/intervals.js -- lengths of time in which something ran, overlaps counted once.

/**
 * The length of what any of the spans covers.
 * @param {readonly (readonly [number, number])[]} spans from and to, in any order
 */
export function unionOf(spans) {
  const sorted = [...spans].sort((a, b) => a[0] - b[0]);
  let total = 0;
  let end = -Infinity;
  for (const [from, to] of sorted) {
    if (to <= end) continue;
    total += to - Math.max(from, end);
    end = to;
  }
  return total;
}

/** What of a span lies in a window; null where it does not even touch it.
 * @param {number} from @param {number} to @param {number} t0 @param {number} t1 @returns {[number, number] | null} */
export function insideOf(from, to, t0, t1) {
  return from > t1 || to < t0 ? null : [Math.max(from, t0), Math.min(to, t1)];
}

/** The ends in order, within [0, span]. @param {number} a @param {number} b @param {number} span */
export function ordered(a, b, span) {
  const within = (/** @type {number} */ t) => Math.min(span, Math.max(0, t));
  return { t0: within(Math.min(a, b)), t1: within(Math.max(a, b)) };
}
