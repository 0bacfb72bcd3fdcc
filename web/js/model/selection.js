// js/model/selection.js -- what is picked in a run: one thing, the same on every view.
//
// It is in the address.  A source line is what all views have in common: whatever is picked
// names its line, and marks what else comes from there.

import { breakRows } from "./breaks.js";
import { placeKey, placesOf } from "./places.js";

/** @typedef {import("../api/types.js").ModeReport} ModeReport */
/** @typedef {import("../api/types.js").Point} Point */
/** @typedef {{line: number, file: string, graph: string, node: string, kernel: string, brk: string}} Selection 0 and "": none; file: of a program of
 *   several, whose line it is */
/**
 * @typedef {object} Joined what comes from one line of the source, in one mode
 * @property {{graph: string, name: string, op: string}[]} nodes
 * @property {{graph: string, index: number, name: string, us: number | null}[]} kernels
 * @property {{index: number, kind: string, cost: string, lineCost: string}[]} breaks "": not known
 */

const SHARED = ["mode", "n", "line", "file", "graph", "node", "kernel", "break"];

/** @param {URLSearchParams} query @returns {Selection} */
export function readSelection(query) {
  const line = Number(query.get("line") ?? 0);
  const text = (/** @type {string} */ key) => query.get(key) ?? "";
  return { line: Number.isInteger(line) && line > 0 ? line : 0, file: text("file"), graph: text("graph"), node: text("node"), kernel: text("kernel"), brk: text("break") };
}

/** As parameters of the address: what is not picked is taken out. @param {Partial<Selection>} s @returns {Record<string, string | null>} */
export const selectionParams = (s) => ({
  line: s.line ? String(s.line) : null,
  file: s.file || null,
  graph: s.graph || null,
  node: s.node || null,
  kernel: s.kernel || null,
  break: s.brk || null,
});

/** What another view of the same run takes from the address: "?mode=static&line=6", or nothing.
 * @param {URLSearchParams} query @param {Partial<Selection>} [picked] in place of what is */
export function sharedQuery(query, picked) {
  const kept = new URLSearchParams();
  const now = picked ? selectionParams(picked) : {};
  for (const key of SHARED) {
    const value = key in now ? now[key] : query.get(key);
    if (value) kept.set(key, value);
  }
  return kept.size ? `?${kept}` : "";
}

/** @param {Selection} a @param {Selection} b */
export const sameSelection = (a, b) => JSON.stringify(a) === JSON.stringify(b);

/**
 * What comes from each line.  An op that was called in a helper belongs to the helper's line.
 * @param {ModeReport} m
 * @param {import("./breaks.js").Said | undefined} said
 * @returns {Map<string, Joined>} by placeKey()
 */
export function joinLines(m, said) {
  /** @type {Map<string, Joined>} */
  const lines = new Map();
  const at = (/** @type {number} */ line, /** @type {string | null | undefined} */ file) => {
    const key = placeKey(line, file);
    const known = lines.get(key) ?? { nodes: [], kernels: [], breaks: [] };
    lines.set(key, known);
    return known;
  };
  (m.graphs ?? []).forEach((g, i) => {
    const graph = String(g.id ?? i);
    for (const n of g.nodes ?? []) if (n.line && n.op !== "placeholder" && n.op !== "constant") at(n.line, n.file).nodes.push({ graph, name: n.name, op: n.op });
    (g.kernel_details ?? []).forEach((k, index) => {
      for (const p of placesOf(k.lines, k.files)) at(p.line, p.file).kernels.push({ graph, index, name: k.name, us: k.median_us ?? null });
    });
  });
  breakRows(m, said).forEach((b, index) => {
    if (b.line) at(b.line, b.file).breaks.push({ index, kind: b.kind, cost: b.said.cost_open ? "" : (b.said.cost?.text ?? ""), lineCost: b.said.line_cost ?? "" });
  });
  return lines;
}

/**
 * The mode and point of the address, else those that a view without a choice is about.
 * @param {URLSearchParams} query
 * @param {readonly Point[]} points
 * @param {string | null} first the mode where none is named
 * @returns {{point: Point, mode: string, m: ModeReport | null}}
 */
export function shownOf(query, points, first) {
  const n = query.get("n");
  const point = points.find((p) => n !== null && p.n === Number(n)) ?? points[points.length - 1];
  const asked = query.get("mode") ?? "";
  const mode = asked in point.modes ? asked : (first ?? "");
  return { point, mode, m: point.modes[mode] ?? null };
}
