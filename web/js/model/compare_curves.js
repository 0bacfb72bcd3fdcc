// js/model/compare_curves.js -- the sweeps of two runs or more as curves: laid over, and as ratios.
//
// Of two runs every mode is shown, A dotted below; of more one mode, each run with a dash and a
// marker of its own.

import { inOrder } from "./modes.js";

/** @typedef {import("../api/compare/types.js").Pair} Pair */
/** @typedef {import("../api/compare/types.js").Figure} Figure */
/** @typedef {import("./curves.js").Series} Series */

/** @param {Pair} pair @param {string} metric */
const swept = (pair, metric) => (pair.figures ?? []).filter((f) => f.metric === metric && f.n !== null);

/** Modes with two points or more in any of them. @param {readonly Pair[]} pairs */
export function sweptModes(pairs) {
  const count = (/** @type {Pair} */ p, /** @type {string} */ mode) => swept(p, "latency").filter((f) => f.mode === mode).length;
  const all = new Set(pairs.flatMap((p) => swept(p, "latency").map((f) => f.mode)));
  return inOrder(all).filter((m) => pairs.some((p) => count(p, m) > 1));
}

/** @param {number | null} x @param {number | null} y @param {readonly number[] | null} ci @returns {import("./curves.js").Dot[]} */
function dot(x, y, ci) {
  if (x === null || y === null) return [];
  return [ci ? { x, y, lo: ci[0], hi: ci[1] } : { x, y }];
}

/** Latencies over the sweep: A's, and that of each of the others.
 * @param {readonly Pair[]} pairs @param {string} mode "": every mode @returns {Series[]} */
export function latencies(pairs, mode) {
  const side = (/** @type {Pair} */ pair, /** @type {string} */ m, /** @type {"a" | "b"} */ of, /** @type {number} */ variant) => {
    const label = `${of === "a" ? "A" : pair.b} ${m}`;
    const dots = swept(pair, "latency").filter((f) => f.mode === m).flatMap((f) => dot(f.n, f[of].value, f[of].ci));
    return { key: label, mode: m, label, imported: of === "a", dots, variant };
  };
  const long = (/** @type {Series} */ s) => s.dots.length > 1;
  return sweptModes(pairs)
    .filter((m) => !mode || m === mode)
    .flatMap((m) => {
      // Each pair has the points of A that both have: the longest are the most of A.
      const ofA = pairs.map((p) => side(p, m, "a", 0)).sort((p, q) => q.dots.length - p.dots.length)[0];
      return [ofA, ...pairs.map((p, i) => side(p, m, "b", i))].filter(long);
    });
}

/** A figure over A's, over the sweep, with the interval of the ratio.
 * @param {readonly Pair[]} pairs @param {string} mode "": every mode @param {string} metric @returns {Series[]} */
export function ratios(pairs, mode, metric) {
  return sweptModes(pairs)
    .filter((m) => !mode || m === mode)
    .flatMap((m) =>
      pairs.map((p, variant) => {
        const label = pairs.length > 1 ? `${p.b} / A` : m;
        const dots = swept(p, metric).filter((f) => f.mode === m).flatMap((f) => dot(f.n, f.ratio, f.ci));
        return { key: `${p.b} over A ${m}`, mode: m, label, imported: false, dots, variant };
      }),
    )
    .filter((s) => s.dots.length > 1);
}
