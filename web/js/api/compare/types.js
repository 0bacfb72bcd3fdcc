// js/api/compare/types.js -- the shapes of comparisons and histories, as JSDoc types; no page loads it.

/** @typedef {import("../types.js").Interval} Interval */
/** @typedef {import("../report.js").ReportFigure} Shown */
/** @typedef {import("../report.js").ReportSentencePart[]} Sentence */
/**
 * @typedef {object} Side of a figure
 * @property {number | null} value
 * @property {Interval | null} ci
 * @property {Shown} shown with its unit
 * @property {number} samples rounds that the interval is of
 * @property {number} repeats runs whose spread the ratio holds; 0: none
 *
 * @typedef {object} Figure of two runs
 * @property {string} metric
 * @property {string} title
 * @property {string} unit
 * @property {"timed" | "once" | "counted"} kind
 * @property {string} mode
 * @property {number | null} n
 * @property {number} points of a sweep that it speaks for; 0: its own
 * @property {Side} a
 * @property {Side} b
 * @property {number | null} ratio b over a
 * @property {Interval | null} ci
 * @property {Shown | null} times the ratio
 * @property {string} verdict
 * @property {boolean} decides whether the verdict of both runs counts it
 * @property {string | null} why there is none, or it does not decide
 *
 * @typedef {{file?: string, line: number, count: number, cost_us: number | null, ci_us: Interval | null}} BreakSide
 * @typedef {{mode: string, n: number | null, change: "added" | "gone" | "kept", stage: string, kind: string,
 *   gb: string | null, text: string, a: BreakSide | null, b: BreakSide | null}} BreakChange
 * @typedef {{us: number | null, ci_us: Interval | null}} KernelSide
 * @typedef {{mode: string, n: number | null, change: "added" | "gone" | "slower" | "faster", name: string,
 *   form?: string, ops?: number, why?: string, a: KernelSide | null, b: KernelSide | null, ratio?: number,
 *   ci?: Interval}} KernelChange
 * @typedef {{mode: string, n: number | null, a: number, b: number,
 *   ops: {op: string, a: number, b: number}[]}} GraphChange
 * @typedef {{key: string, title: string, a: string, b: string, matters: boolean}} Difference
 * @typedef {{sign: " " | "+" | "-", a: number | null, b: number | null, text: string, file?: string}} Line
 *
 * @typedef {object} Pair one run beside A; what follows `differences` is there unless it was refused
 * @property {string} a
 * @property {string} b
 * @property {boolean} [of_results] figures of another tool, without a program
 * @property {boolean} comparable
 * @property {boolean} forced
 * @property {string | null} refused
 * @property {string} verdict
 * @property {Difference[]} differences
 * @property {Sentence} sentence
 * @property {string[]} how
 * @property {"latency" | "speedup"} [judged_by] what decides
 * @property {Figure | null} [headline]
 * @property {Figure | null} [control]
 * @property {Record<string, number>} [counts]
 * @property {number} [family]
 * @property {{a: string[], b: string[]}} [only]
 * @property {Figure[]} [figures]
 * @property {BreakChange[]} [breaks]
 * @property {KernelChange[]} [kernels]
 * @property {number} [kernels_same]
 * @property {GraphChange[]} [graphs]
 * @property {{added: number | null, gone: number | null, lines: Line[] | null, n?: number | null}} [source] of a sweep what ran at point n
 *
 * @typedef {{label: string, id: number, name: string, project: string, device: string, commit: string,
 *   branch: string, created_ns: number}} ComparedRun
 * @typedef {{margin: number, confidence: number, verdict: string, comparable: boolean, refused: string | null,
 *   sweep?: {statements?: {}, input?: {arg: number, dim: number}} | null, runs: ComparedRun[],
 *   comparisons: Pair[]}} Comparison
 *
 * @typedef {{run: import("../types.js").RunRow, source: string | null, settings: string | null, n: number | null,
 *   value: number | null, ci: Interval | null, samples: number, shown: Shown | null, of_baseline: string | null, parting?: string, level?: number, change?: number}} HistoryPoint
 * @typedef {{name: string, runs: number}} WorkloadName
 * @typedef {object} History
 * @property {string | null} workload
 * @property {WorkloadName[]} workloads
 * @property {string} [metric]
 * @property {string} [title]
 * @property {string} [unit]
 * @property {string} [mode]
 * @property {boolean} [more_is_better]
 * @property {number | null} [n]
 * @property {{metrics: {name: string, title: string, unit: string}[], modes: string[], points: number[]}} [known]
 * @property {Sentence} [sentence]
 * @property {string[]} [how]
 * @property {HistoryPoint[]} [points]
 * @property {import("../report.js").ReportHistoryChange[]} [changes]
 * @property {number} [total]
 * @property {boolean} [pending]
 */

export {};
