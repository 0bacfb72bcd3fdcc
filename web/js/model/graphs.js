// js/model/graphs.js -- a mode's captured graphs, with the guards that belong to
// each and its inputs picked from its nodes.

/** @typedef {{name: string, about: string, line: number | null}} OpRow */
/** @typedef {{name: string, about: string, why: string, lines: number[]}} KernelRow */
/**
 * @typedef
 *   {{title: string, ops: OpRow[], inputs: string[], kernels: KernelRow[], guards: string[], code: string,
 *   recording: readonly string[], facts: readonly string[]}}
 *   GraphRow the title, facts and sentences are the findings'
 */

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
          ? { name, about: about(named[k]), line: named[k].line || null }
          : { name, about: "", line: null },
      ),
      inputs: inputs.map((n) => `${n.name} ${about(n)}`.trim()),
      kernels: kernelRows(g, of),
      guards: (m.guards ?? []).filter((x) => x.graph === undefined || x.graph === (g.id ?? i)).map((x) => x.text),
      code: g.lowered ?? "",
      recording: of?.recording ?? [],
      facts: of?.facts ?? [],
    };
  });
}

/** @param {import("../api/types.js").Graph} g @param {import("../api/report.js").ReportFindingsGraph} [said] @returns {KernelRow[]} */
function kernelRows(g, said) {
  return (g.kernels ?? []).map((name, i) => {
    const k = g.kernel_details?.[i];
    return k ? { name, about: said?.kernels[i]?.about ?? "", why: k.why, lines: k.lines ?? [] } : { name, about: "", why: "", lines: [] };
  });
}

/**
 * How often each op occurs, most first.
 * @param {readonly string[]} ops
 * @returns {{op: string, n: number}[]}
 */
export function opCounts(ops) {
  /** @type {Map<string, number>} */
  const m = new Map();
  for (const o of ops) m.set(o, (m.get(o) ?? 0) + 1);
  return [...m].map(([op, n]) => ({ op, n })).sort((a, b) => b.n - a.n);
}
