// js/model/kernels.js -- the kernels of a mode, and how near each comes to the speed of memory.

/** @typedef {import("../api/types.js").Kernel} Kernel */
/**
 * @typedef
 *   {{name: string, graph: number | string, lines: number[], form: string, why: string, ops: number, bytes: number, median: number | null,
 *   ci: number[] | null, operations: number | null, intensity: number | null, bandwidth: number | null,
 *   rate: number | null, share: number | null, occupancy: number | null, registers: number | null,
 *   shared: number | null}}
 *   KernelFacts times in microseconds
 */

/** @param {Kernel} k @param {number | string} graph @returns {KernelFacts} */
const factsOf = (k, graph) => ({
  name: k.name,
  graph,
  lines: k.lines ?? [],
  form: k.form,
  why: k.why,
  ops: k.ops,
  bytes: k.read_bytes + k.written_bytes,
  median: k.median_us ?? null,
  ci: k.ci_us ?? null,
  operations: k.operations ?? null,
  intensity: k.intensity ?? null,
  bandwidth: k.bandwidth_gbps ?? null,
  rate: k.rate_gflops ?? null,
  share: k.copy_share ?? null,
  occupancy: k.occupancy ?? null,
  registers: k.registers ?? null,
  shared: k.shared_bytes ?? null,
});

/**
 * The longest first; nothing where none was seen (a run that was not timed, an older report).
 * @param {import("../api/types.js").ModeReport} m
 * @returns {KernelFacts[]}
 */
export function kernelFacts(m) {
  const rows = (m.graphs ?? []).flatMap((g, i) => (g.kernel_details ?? []).map((k) => factsOf(k, g.id ?? i)));
  if (!rows.some((r) => r.median !== null)) return [];
  return rows.sort((a, b) => (b.median ?? 0) - (a.median ?? 0));
}

/**
 * Microseconds that kernels take beyond a copy of as many bytes, and how many take twice as long as one: those
 * that memory does not hold up.
 * @param {readonly KernelFacts[]} rows
 * @returns {{far: number, over: number, whole: number}}
 */
export function beyondCopy(rows) {
  const seen = rows.filter((r) => r.median !== null && r.share !== null);
  const sum = (/** @type {(r: KernelFacts) => number} */ of) => seen.reduce((n, r) => n + of(r), 0);
  return {
    far: seen.filter((r) => Number(r.share) < 0.5).length,
    over: sum((r) => Number(r.median) * Math.max(0, 1 - Number(r.share))),
    whole: sum((r) => Number(r.median)),
  };
}
