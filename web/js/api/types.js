// js/api/types.js -- the shapes that the server answers with, as JSDoc types.
//
// Design section 5 is the contract; a field may be missing from a report of an
// older version, so what the page can do without is optional here.

/**
 * @typedef {{code?: string, message: string, line?: number | null, column?: number | null}} Problem
 * @typedef {"queued" | "running" | "done" | "failed" | "cancelled"} Status
 *
 * @typedef {{median_us: number, ci_us: [number, number], n?: number, noise?: string | null}} Latency
 * @typedef {{guards?: number, dispatch?: number, alloc?: number, launch?: number, kernel?: number, rest?: number, observed?: number}} Split
 * @typedef {{id: number, name: string, op: string, dtype?: string, shape?: string, line?: number}} GraphNode
 * @typedef {{call?: number, frame?: string, reason?: string}} Recompile
 * @typedef {{id?: number | string, frame?: string, compile?: string, ops?: string[], placeholders?: number,
 *   nodes?: GraphNode[], kernels?: string[], lowered?: string | null, compile_ms?: number, cached?: boolean, uses?: number}} Graph
 * @typedef {{output?: unknown, new_graphs?: number, compiles?: number, stdout?: string}} Call
 * @typedef {{calls?: Call[], graphs?: Graph[], breaks?: unknown[], recompiles?: Recompile[], guards?: {graph?: number, text: string}[], latency?: Latency | null,
 *   split_us?: Split | null, launches?: number, compile_ms?: number, peak_bytes?: number, max_abs_error?: number | string, cached?: boolean, reproduce?: string}} ModeReport
 * @typedef {{speedup: number, speedup_ci?: [number, number] | null, calls_to_repay?: number | null,
 *   verdict?: string, repay?: string, side?: string, crossover_n?: number | null, crossover_ci?: [number, number] | null}} BreakEven
 * @typedef {{n?: number | null, source?: string, modes: Record<string, ModeReport>, break_even?: Record<string, BreakEven>}} Point
 * @typedef {{breakeven: number, workload: Workload, device?: unknown, environment?: unknown, modes?: Record<string, ModeReport>,
 *   points?: Point[], break_even?: Record<string, BreakEven>, warnings?: (string | {title?: string, message?: string})[], reproduce?: string}} Report
 *
 * @typedef {{shape: number[], dtype: string, kind?: string, seed?: number, low?: number, high?: number}} RandomSpec
 * @typedef {{random?: RandomSpec, tensor?: {shape: number[], dtype: string, data?: unknown[]}, value?: unknown, [k: string]: unknown}} Value
 * @typedef {{statements?: {pool: string[], counts: number[]}, input?: {arg: number, dim: number, sizes: number[]}}} Sweep
 * @typedef {{name?: string, source: string, entry?: string, calls?: Value[][], modes?: string[], device?: string, backend?: string,
 *   threads?: number, sweep?: Sweep | null, project?: string, tags?: string[], [k: string]: unknown}} Workload
 *
 * @typedef {{mode: string, verdict: string, speedup: number, speedup_ci: [number, number] | null, median_us: number,
 *   calls_to_repay?: number | null, crossover_n?: number | null, at_n?: number | null}} Summary
 * @typedef {{id: number | string, name: string, status: Status, progress: number, what?: string | null, left_s?: number | null,
 *   created_ns: number, project?: string | null, tags?: string[], device?: string, modes?: string[],
 *   summary?: Summary | null, error?: Problem | null}} RunRow
 * @typedef {{runs: RunRow[], next?: string | null, total?: number}} RunList
 * @typedef {RunRow & {report?: Report | null, started_ns?: number | null, finished_ns?: number | null,
 *   workload?: Workload, environment?: Record<string, unknown> | null}} Run
 * @typedef {{name: string, title: string, workload: Workload}} Example
 */

export {};
