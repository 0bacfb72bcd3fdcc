// js/model/graphs.js -- a mode's captured graphs, with the guards that belong to
// each and its inputs picked from its nodes.

import { modesOf } from "./curves.js";
import { headline } from "./modes.js";
import { placesOf } from "./places.js";

/** @typedef {import("./places.js").Place} Place */
/** @typedef {{name: string, about: string, place: Place | null}} OpRow */
/** @typedef {{name: string, about: string, why: string, places: Place[]}} KernelRow */
/**
 * @typedef
 *   {{title: string, ops: OpRow[], inputs: string[], kernels: KernelRow[], guards: string[], code: string,
 *   recording: readonly string[], facts: readonly string[], counts: string}}
 *   GraphRow the title, facts, sentences and counts of ops are the findings'
 */

/** Those that have graphs. @param {readonly import("../api/types.js").Point[]} points */
export const capturing = (points) => modesOf(points).filter((m) => m !== "eager");

/**
 * How many graphs the list opens with: of the mode that the headline speaks of, at the last point.  Each mode
 * captures for itself; sums over modes and points would count the same graph several times.
 * @param {readonly import("../api/types.js").Point[]} points
 */
export const graphCount = (points) => points.at(-1)?.modes[String(headline(capturing(points)))]?.graphs?.length ?? 0;

/** @param {import("../api/types.js").GraphNode} n */
const about = (n) => [n.dtype, n.shape].filter(Boolean).join(" ");

/** @param {import("../api/types.js").ModeReport} m @param {import("../api/report.js").ReportFindingsMode} [said] of the mode
 * @returns {GraphRow[]} */
export function graphRows(m, said) {
  return (m.graphs ?? []).map((g, i) => {
    const of = said?.graphs?.[i];
    const nodes = Array.isArray(g.nodes) ? g.nodes : [];
    const inputs = nodes.filter((n) => n.op === "placeholder");
    // `ops` is what PyTorch's graph would list; nodes say more about the same calls.
    const named = nodes.filter((n) => n.op !== "placeholder" && n.op !== "constant");
    const ops = g.ops ?? [];
    return {
      title: of?.title ?? "",
      ops: ops.map((name, k) =>
        named.length === ops.length
          ? { name, about: about(named[k]), place: named[k].line ? { line: Number(named[k].line), file: named[k].file ?? "" } : null }
          : { name, about: "", place: null },
      ),
      inputs: inputs.map((n) => `${n.name} ${about(n)}`.trim()),
      kernels: kernelRows(g, of),
      guards: (m.guards ?? []).filter((x) => x.graph === undefined || x.graph === (g.id ?? i)).map((x) => x.text),
      code: g.lowered ?? "",
      recording: of?.recording ?? [],
      facts: of?.facts ?? [],
      counts: of?.op_counts ?? "",
    };
  });
}

/** @param {import("../api/types.js").Graph} g @param {import("../api/report.js").ReportFindingsGraph} [said] @returns {KernelRow[]} */
function kernelRows(g, said) {
  return (g.kernels ?? []).map((name, i) => {
    const k = g.kernel_details?.[i];
    return k ? { name, about: said?.kernels[i]?.about ?? "", why: k.why, places: placesOf(k.lines, k.files) } : { name, about: "", why: "", places: [] };
  });
}
