// js/model/graph_diff.js -- the ops of the graphs of two runs beside each other, what changed marked.

/** @typedef {import("../api/types.js").Report} Report */
/** @typedef {{a: string | null, b: string | null}} Beside one line; null: it has none there */

/** So many of a side are set beside each other; of longer ones the first. */
export const MOST_OPS = 1500;

/** What each graph of a mode does, in order: a head and its ops. @param {Report} report @param {string} mode @param {number | null} n a point of the sweep
 * @returns {string[]} */
export function opsOf(report, mode, n) {
  const modes = n === null || !report.points?.length ? report.modes : report.points.find((p) => p.n === n)?.modes;
  const graphs = modes?.[mode]?.graphs ?? [];
  return graphs.flatMap((g, i) => [`graph ${i + 1}`, ...(g.ops ?? []).map((op) => `  ${op}`)]);
}

/**
 * As few lines apart as there can be.
 * @param {readonly string[]} a @param {readonly string[]} b @returns {Beside[]}
 */
export function beside(a, b) {
  const [x, y] = [a.slice(0, MOST_OPS), b.slice(0, MOST_OPS)];
  // Row by row from the end: how many lines of what is left are in both.
  const same = Array.from({ length: x.length + 1 }, () => new Uint16Array(y.length + 1));
  for (let i = x.length - 1; i >= 0; i--)
    for (let j = y.length - 1; j >= 0; j--)
      same[i][j] = x[i] === y[j] ? same[i + 1][j + 1] + 1 : Math.max(same[i + 1][j], same[i][j + 1]);
  /** @type {Beside[]} */
  const out = [];
  /** @type {[string[], string[]]} */
  let [gone, added] = [[], []];
  const flush = () => {
    for (let k = 0; k < Math.max(gone.length, added.length); k++) out.push({ a: gone[k] ?? null, b: added[k] ?? null });
    [gone, added] = [[], []];
  };
  for (let [i, j] = [0, 0]; i < x.length || j < y.length; ) {
    if (i < x.length && j < y.length && x[i] === y[j]) {
      flush();
      out.push({ a: x[i++], b: y[j++] });
    } else if (j >= y.length || (i < x.length && same[i + 1][j] >= same[i][j + 1])) gone.push(x[i++]);
    else added.push(y[j++]);
  }
  flush();
  return out;
}
