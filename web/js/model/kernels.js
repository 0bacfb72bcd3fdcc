// js/model/kernels.js -- the kernels of a mode, and how near each comes to the speed of memory.

/** @typedef {import("../api/types.js").Kernel} Kernel */
/** @typedef {import("../api/report.js").ReportFindingsKernel} KernelSaid */
/**
 * @typedef
 *   {{name: string, graph: number | string, lines: number[], form: string, why: string, ops: number, median: number | null,
 *   intensity: number | null, rate: number | null, share: number | null, registers: number | null, said: KernelSaid | undefined}}
 *   KernelFacts numbers that order rows and draw bars and dots; what is written is the findings'
 */

/** @param {Kernel} k @param {number | string} graph @param {KernelSaid} [said] @returns {KernelFacts} */
const factsOf = (k, graph, said) => ({
  name: k.name,
  graph,
  lines: k.lines ?? [],
  form: k.form,
  why: k.why,
  ops: k.ops,
  median: k.median_us ?? null,
  intensity: k.intensity ?? null,
  rate: k.rate_gflops ?? null,
  share: k.copy_share ?? null,
  registers: k.registers ?? null,
  said,
});

/**
 * The longest first; nothing where none was seen (a run that was not timed, an older report).
 * @param {import("../api/types.js").ModeReport} m @param {import("../api/report.js").ReportFindingsMode} [said] of the mode
 * @returns {KernelFacts[]}
 */
export function kernelFacts(m, said) {
  const rows = (m.graphs ?? []).flatMap((g, i) => (g.kernel_details ?? []).map((k, j) => factsOf(k, g.id ?? i, said?.graphs?.[i]?.kernels[j])));
  if (!rows.some((r) => r.median !== null)) return [];
  return rows.sort((a, b) => (b.median ?? 0) - (a.median ?? 0));
}
