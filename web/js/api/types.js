// js/api/types.js -- the shapes that the server answers with, as JSDoc types.
//
// Those of a report come from report.d.ts, which is made from the table of its fields.

/** @typedef {{name: string, extension: string, type: string, title: string}} Format of an export */
/** @typedef {{id: number, format: string, author: string, started_ns: number, bytes: number, share: number, cancelled: boolean}} ExportUnderWay
 *   bytes written so far; the share of the run's timeline that was read */
/**
 * @typedef {"queued" | "running" | "done" | "failed" | "cancelled"} Status
 * @typedef {[number, number]} Interval low and high end, 95 %
 *
 * @typedef {object} Problem
 * @property {string} [code]
 * @property {string} message
 * @property {number | null} [line]
 * @property {number | null} [column]
 * @property {number | null} [end_column] one past its end; the word at the column without
 * @property {boolean} [allowed] no error: a break
 * @property {string} [file] of a program of several
 * @property {"error" | "warning"} [severity] warning: it fails only if a call comes there
 *
 * @typedef {import("./report.js").ReportLatency} Latency
 * @typedef {import("./report.js").ReportSplit} Split
 * @typedef {import("./graph/types.js").GraphNode} GraphNode
 * @typedef {import("./graph/types.js").Subgraph} Subgraph
 * @typedef {import("./graph/types.js").Kernel} Kernel
 * @typedef {import("./graph/types.js").Graph} Graph
 * @typedef {import("./graph/types.js").Recording} Recording
 * @typedef {import("./graph/types.js").PassRule} PassRule
 * @typedef {import("./graph/types.js").PassStep} PassStep
 * @typedef {import("./graph/types.js").PassPart} PassPart
 *
 * @typedef {object} Op
 * @property {string} name
 * @property {string} kind
 * @property {string[]} spellings
 * @property {string[]} operators
 * @property {string} signature
 * @property {string} dtypes of the result
 * @property {string} doc
 * @property {string} gradient yes, none
 * @property {{cpu: string, cuda: string}} [autocast]
 * @property {Record<string, string[]>} backends dtypes that each lowers
 * @property {Record<string, string[]>} [on_host] dtypes that are computed by the host, between copies
 * @property {string | null} [plugin]
 *
 * @typedef {object} BackendInfo
 * @property {string} name
 * @property {string} purpose
 * @property {boolean} available
 * @property {string | null} why_not
 * @property {string[]} lacks a line for each part of it that is not installed
 * @property {boolean} default
 * @property {string | null} vector_unit
 * @property {string | null} compiler
 * @property {string | null} plugin
 *
 * @typedef {object} PassInfo
 * @property {string} name
 * @property {string} purpose
 * @property {boolean} required
 * @property {string | null} [plugin]
 *
 * @typedef {import("./report.js").ReportRecompile} Recompile
 * @typedef {Partial<import("./report.js").ReportBreak> & {kind: string, message: string, line?: number, file?: string}} Break where a
 *   graph ends, or a lowered one is split; of a check with its place, as of an import
 *
 * @typedef {import("./report.js").ReportBreakCost} BreakCost
 * @typedef {import("./report.js").ReportBreakCosts} BreakCosts
 * @typedef {import("./report.js").ReportUnbroken} Unbroken
 * @typedef {import("./report.js").ReportRewriteGain} RewriteGain
 * @typedef {import("./report.js").ReportTraceRun} TraceRun
 * @typedef {import("./report.js").ReportEntry} Entry
 * @typedef {import("./report.js").ReportFrame} Frame
 * @typedef {object} Diagnostic
 * @property {string} message
 * @property {string} [code]
 * @property {string} [file] of a program of several
 * @property {number} [line]
 * @property {number} [column]
 * @property {number} [end_column]
 * @property {"error" | "warning"} [severity]
 *
 * @typedef {object} Proposal inputs that the program's own text tells
 * @property {string} entry @property {number} line of the call that it is; 0: it is not one
 * @property {boolean} needed a call without inputs fails
 * @property {boolean} [runs] it was called with them, and they are those that nobody had typed
 * @property {{name: string, text: string, because: string}[]} inputs @property {Call[]} calls
 *
 * @typedef {object} Check
 * @property {Diagnostic[]} diagnostics
 * @property {Proposal[]} [proposals]
 * @property {Break[]} breaks
 * @property {number} [graph_count]
 *
 * @typedef {import("./report.js").ReportMode} ModeReport
 * @typedef {import("./report.js").ReportOrder} Order
 * @typedef {import("./report.js").ReportAgreement} Agreement
 * @typedef {import("./report.js").ReportFindings} Findings what the figures say
 * @typedef {import("./report.js").ReportComparison} BreakEven
 * @typedef {import("./report.js").ReportAutocastSide} MixedSide
 * @typedef {import("./report.js").ReportAutocastMode} MixedMode
 * @typedef {import("./report.js").ReportAutocast} Mixed
 * @typedef {Omit<import("./report.js").ReportPoint, "n"> & {n: number | null}} Point n is null where there is no sweep
 * @typedef {import("./report.js").ReportRun} Report
 * @typedef {import("./report.js").ReportTorchMode} TorchMode
 * @typedef {import("./report.js").ReportTorchPoint} TorchPoint
 * @typedef {import("./report.js").ReportTorch} TorchEngine
 * @typedef {object} EngineInfo
 * @property {string} name
 * @property {boolean} available
 * @property {string | null} why_not
 * @property {string} [version]
 *
 * @typedef {import("./report.js").ReportTotal} ImportedTotals
 * @typedef {import("./report.js").ReportCompilation} ImportedCompile
 * @typedef {import("./report.js").ReportXlaModel} ImportedModel
 * @typedef {import("./report.js").ReportXla} ImportedXla
 * @typedef {import("./report.js").ReportImport} Imported
 * @typedef {import("./report.js").ReportImported} ImportedRun
 * @typedef {import("./report.js").ReportLedger} Ledger
 * @typedef {import("./report.js").ReportTrace} TraceFacts
 * @typedef {object} RandomSpec
 * @property {number[]} shape
 * @property {string} dtype
 * @property {string} [kind]
 * @property {number} [seed]
 * @property {number} [low] @property {number} [high] the numbers are below it
 *
 * @typedef {object} Value one argument: random, exact tensor, plain value, or a Python expression
 * @property {RandomSpec} [random]
 * @property {{shape: number[], dtype: string, data?: unknown[]}} [tensor]
 * @property {unknown} [value]
 * @property {string} [python] an expression
 *
 * @typedef {object} Sweep one of the two
 * @property {{pool?: string[] | null, counts: number[]}} [statements] without its pool where that was left out of a file
 * @property {{arg?: number, dim?: number, sizes: number[]}} [input] without arg and dim where expressions have n
 *
 * @typedef {Value[] | {args?: Value[], kwargs?: Record<string, Value>}} Call the arguments of a call
 *
 * @typedef {object} Workload
 * @property {string} [name]
 * @property {string} [source] the program
 * @property {Record<string, string>} [files] in place of a source: texts by path
 * @property {Record<string, string>} [weights] files that the program reads: ids by name
 * @property {string} [before] what `source` is a change of
 * @property {number} [seconds] of sampling at each point
 * @property {string} [entry]
 * @property {Call[]} [calls]
 * @property {string[]} [modes]
 * @property {string} [device]
 * @property {string} [backend]
 * @property {number} [threads]
 * @property {string} [host] the machine that runs it; left out: the server's own
 * @property {string | null} [autocast] a dtype
 * @property {string} [policy] dynamo, native
 * @property {string} [autotune] off, fast, max
 * @property {boolean} [grad]
 * @property {string[]} [engines] breakeven, and torch
 * @property {Record<string, boolean>} [passes] false: left out
 * @property {Sweep | null} [sweep]
 * @property {string} [project]
 * @property {string[]} [tags]
 * @property {boolean} [record_api] calls of the driver in timelines of a GPU
 * @property {boolean} [trace] recorded by `breakeven trace`
 * @property {string} [result] the tool that measured it: it is not run here
 * @property {string} [command] of a trace
 *
 * @typedef {object} Summary what the list shows of a report
 * @property {string} mode
 * @property {string} verdict
 * @property {number | null} speedup null where the mode's values are not eager's
 * @property {Interval | null} speedup_ci
 * @property {number} median_us
 * @property {Interval | null} [median_ci] null: not kept
 * @property {string} repay after, never, or unknown where the interval of the ratio holds 1
 * @property {number | null} [calls_to_repay]
 * @property {number | null} [crossover_n]
 * @property {number | null} [at_n]
 * @property {number | null} [breaks] of both stages, each once, in the mode and at the point that has most; null: not kept
 *
 * @typedef {object} Progress
 * @property {Status} status
 * @property {number} progress 0..1
 * @property {string | null} [what]
 * @property {number | null} [left_s]
 * @property {number} [measured] points of its sweep
 *
 * @typedef {object} RunFacts
 * @property {number | string} id
 * @property {string} name
 * @property {number} created_ns
 * @property {string | null} [project]
 * @property {string[]} [tags]
 * @property {string} [device]
 * @property {string} [commit] of the user's project
 * @property {string} [branch]
 * @property {string} [note] by people, plain text
 * @property {string} [note_by] who wrote it
 * @property {string} [author] who posted the run
 * @property {boolean} [baseline] later runs of its workload are held against it
 * @property {string[]} [modes]
 * @property {Summary | null} [summary]
 * @property {Point[]} [points] while it is measured: its sweep so far
 * @property {{measured: number, of: number} | null} [partial] it ended before its sweep was measured: points that are kept
 * @property {boolean} [pinned]
 * @property {number | string | null} [suite_id] that it is part of
 * @property {number | null} [change] of the history of its workload, that begins with it
 * @property {FoldedSuite} [suite] it stands for the runs of its suite, whose newest it is
 * @property {{kind: string, name: string, files: number, kernels: number, length_us: number, mode?: string, shown?: string} | null} [about] what a recording or an import is; of a result its first figure
 * @property {number[]} [recent] speedups of the runs of its name before it, and its own, oldest first
 * @property {Problem | null} [error]
 * @property {ImportedRun | null} [imported] it came back from an export; null: it ran here
 *
 * @typedef {Progress & RunFacts & {found?: {in: string, text: string[]}[]}} RunRow found: where a search found it, outside of its names: before, what was looked for, after
 * @typedef {Record<"project" | "tag" | "device" | "status" | "verdict", [string, number][]>} Facets values, and how many runs have each
 * @typedef {{runs: RunRow[], next?: string | null, total?: number, total_runs?: number, facets?: Facets}} RunList total: rows
 * @typedef {SuiteHead & {matching: number}} FoldedSuite
 * @typedef {{run: number, mode: string, verdict: string, speedup: number | null, speedup_ci: Interval | null, median_us: number, median_of_first: number}} HeatCell
 * @typedef {{columns: string[], rows: {name: string, cells: (HeatCell | null)[]}[]}} Heat
 * @typedef {{since_ns: number, runs: Record<string, number>, changed: number, changes: {run: RunRow, before: number, was: string}[], suites: SuiteHead[], pinned: RunRow[], failed: RunRow[], stepped: number, steps: import("./report.js").ReportHistoryChange[]}} Since
 * @typedef {{report?: Report | null, workload?: Workload, environment?: Record<string, unknown> | null, findings?: Findings | null}} RunBody findings: null where nothing was measured
 * @typedef {RunRow & RunBody} Run
 * @typedef {{name: string, title: string, group?: string, workload: Workload}} Example
 */

/**
 * @typedef {object} Geomean of n workloads; null where there is none
 * @property {number} n
 * @property {number | null} speedup
 * @property {Interval | null} speedup_ci
 *
 * @typedef {object} SuiteColumn one engine, policy and mode
 * @property {string} engine
 * @property {string} policy
 * @property {string} mode
 * @property {number} workloads
 * @property {number} pass
 * @property {number} disagrees
 * @property {number} failed
 * @property {number} cancelled
 * @property {number} waiting
 * @property {number | null} pass_rate
 * @property {{common: Geomean, own: Geomean}} geomean
 * @property {{min: number, q25: number, median: number, q75: number, max: number} | null} quantiles
 * @property {number[] | null} histogram
 * @property {number} compile_ms
 * @property {{capture: number, lowering: number}} breaks
 * @property {number} recompiles
 * @property {import("./report.js").ReportSuiteShown} shown its figures as they are shown
 *
 * @typedef {object} SuiteResult one workload in one column
 * @property {string} engine
 * @property {string} policy
 * @property {string} mode
 * @property {"pass" | "disagrees" | "failed" | "cancelled" | "waiting"} status
 * @property {string | null} reason
 * @property {number | null} run
 * @property {number} [kept_ns] when that was made, for an earlier suite
 * @property {number | null} speedup
 * @property {Interval | null} speedup_ci
 * @property {number | null} median_us
 * @property {number | null} compile_ms
 * @property {number | null} launches
 * @property {number | null} peak_bytes
 * @property {number | null} max_abs_error
 * @property {{capture: number | null, lowering: number | null}} breaks
 * @property {import("./report.js").ReportSuiteResultShown} shown its figures as they are shown
 *
 * @typedef {object} SuiteWorkload
 * @property {string} name
 * @property {boolean} common
 * @property {SuiteResult[]} results
 *
 * @typedef {object} SuiteReport
 * @property {import("./report.js").ReportSentencePart[]} sentence
 * @property {SuiteColumn[]} columns
 * @property {{n: number, of: number}} common
 * @property {number[]} histogram_edges
 * @property {SuiteWorkload[]} workloads
 * @property {import("./report.js").ReportSuiteBenchmark[]} [benchmarks] of a file of results
 * @property {{status: string, cause: string, example: string, workloads: string[]}[]} [causes] the most frequent first
 *
 * @typedef {object} SuiteHead
 * @property {number} id
 * @property {string} name
 * @property {number} created_ns
 * @property {string} status
 * @property {number} progress
 * @property {Record<Status, number>} runs of its own, by status
 * @property {number} kept runs of earlier suites that it has
 * @property {Record<string, unknown> | null} request
 * @property {SuiteColumn[]} columns
 * @property {{n: number, of: number}} common
 *
 * @typedef {Omit<SuiteHead, "columns" | "common"> & {report: SuiteReport}} Suite
 */

export {};
