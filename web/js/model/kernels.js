// js/model/kernels.js -- the kernels of a mode, and how near each comes to the speed of memory.

import { placesOf } from "./places.js";

/** @typedef {import("../api/types.js").Kernel} Kernel */
/** @typedef {import("../api/report.js").ReportFindingsKernel} KernelSaid */
/**
 * @typedef
 *   {{name: string, graph: number | string, index: number, places: import("./places.js").Place[], form: string, why: string, ops: number, median: number | null,
 *   intensity: number | null, rate: number | null, share: number | null, registers: number | null, said: KernelSaid | undefined}}
 *   KernelFacts index: among those of its graph; numbers that order rows and draw bars and dots; what is written is the findings'
 */

/** @param {Kernel} k @param {number | string} graph @param {number} index @param {KernelSaid} [said] @returns {KernelFacts} */
const factsOf = (k, graph, index, said) => ({
  name: k.name,
  graph,
  index,
  places: placesOf(k.lines, k.files),
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
  const rows = (m.graphs ?? []).flatMap((g, i) => (g.kernel_details ?? []).map((k, j) => factsOf(k, g.id ?? i, j, said?.graphs?.[i]?.kernels[j])));
  if (!rows.some((r) => r.median !== null)) return [];
  return rows.sort((a, b) => (b.median ?? 0) - (a.median ?? 0));
}

/** @typedef {{kernel: number, from: number, to: number}} CodePart lines of the generated code, from 1; kernel: among those of the graph */

/** The begin of a kernel's function, of C or CUDA C: of kernel 3 k3p0, k3 or l3_sum. */
const FUNCTION = /^(?:extern "C" __global__ )?void [^(]*(?:\([^)]*\) )?[kl](\d+)(?:p\d+|_\w+)?\(/;

/**
 * Which lines of a graph's generated code are which kernel.  A graph that runs in pieces has their codes one after
 * another, each with its name above and kernels that it counts from 0.  Kernels of one text have one function, whose
 * comment names the others: "// fused_add; also k3 fused_add_1, k7 fused_add_2".
 * @param {import("../api/types.js").Graph} g @returns {CodePart[]} in the order of the code
 */
export function codeParts(g) {
  const number = (/** @type {string} */ name) => /\d+$/.exec(name)?.[0] ?? "";
  const first = new Map((g.passes ?? []).filter((p) => !p.part.startsWith("backward")).map((p) => [number(p.part), p.first_kernel ?? 0]));
  /** @type {CodePart[]} */
  const parts = [];
  /** @type {CodePart[]} */
  let open = [];
  let base = 0;
  const rows = (g.lowered ?? "").split("\n");
  rows.forEach((row, i) => {
    if (open.length && row !== "}") return;
    for (const part of open) part.to = i + 1;
    open = [];
    base = first.get(/^\/\* piece (\d+) \*\/$/.exec(row)?.[1] ?? "none") ?? base;
    const k = FUNCTION.exec(row)?.[1];
    if (k === undefined) return;
    const above = rows[i - 1]?.startsWith("// ") ? rows[i - 1] : null;
    const also = [...(above?.split("; also ")[1] ?? "").matchAll(/(?:^|, )k(\d+) /g)].map((m) => m[1]);
    open = [k, ...also].map((n) => ({ kernel: base + Number(n), from: above === null ? i + 1 : i, to: rows.length }));
    parts.push(...open);
  });
  return parts;
}
