// js/api/types.js -- the shapes that the server answers with, as JSDoc types.
//
// Design section 5 is the contract; a field may be missing from a report of an
// older version, so what the page can do without is optional here.

/** @typedef {{name: string, extension: string, type: string, title: string}} Format of an export */
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
 * @property {"error" | "warning"} [severity] warning: it fails only if a call comes there
 *
 * @typedef {object} Latency
 * @property {number} median_us
 * @property {Interval} ci_us
 * @property {number} [n] rounds
 * @property {string | null} [noise] what makes the samples doubtful, in a sentence
 *
 * @typedef {object} Split microseconds of one watched call
 * @property {number} [guards]
 * @property {number} [dispatch]
 * @property {number} [alloc]
 * @property {number} [launch]
 * @property {number} [kernel]
 * @property {number} [rest]
 * @property {number} [observed] the sum of the above
 *
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
 * @typedef {object} Recompile
 * @property {number} [call]
 * @property {string} [frame]
 * @property {string} [reason]
 *
 * @typedef {object} Break where a graph ends, or a lowered one is split
 * @property {string} kind
 * @property {string} [stage] capture, lowering
 * @property {string} [outcome]
 * @property {string | null} [gb] PyTorch's registry id
 * @property {number} [call]
 * @property {number | null} [graph]
 * @property {string} message
 * @property {string | null} [subject] the name that the message is about
 * @property {string | null} [hint]
 * @property {{message: string, hint?: string | null} | null} [because] why it could not be resumed
 * @property {{line: number, function: string}[]} [stack] outermost first
 * @property {{line: number, function: string, column: number, end_column: number} | null} [cause] where it is, if
 *   the stack leads to the block around it
 * @property {number} [line] of a check
 * @property {number} [column]
 * @property {number} [end_column]
 * @property {number} [count]
 * @property {number | null} [cost_us] a call
 * @property {BreakCost} [cost]
 * @property {string | null} [rewrite] the source with the change made
 * @property {RewriteGain} [rewrite_gain] what the change gained when it was run
 *
 * @typedef {object} BreakCost what it is made of: the parts of idle_us, and kernel_us, add up to cost_us
 * @property {Interval} ci_us
 * @property {number} idle_us no kernel runs, since the graph ended
 * @property {number} statement_us
 * @property {number} guards_us
 * @property {number} [dispatch_us] as those below: absent in a report of an earlier version, where launch_us holds them
 * @property {number} [alloc_us]
 * @property {number} launch_us
 * @property {number} [outputs_us] likewise in frame_us, as entry_us
 * @property {number} frame_us
 * @property {number} [entry_us]
 * @property {number} [replay_us] mode graphs
 * @property {number} kernel_us what kernels take more; less than nothing where one of all is slower
 * @property {"fused" | "estimate"} [kernel_from] timed beside the kernels of the function without the break, or by the bytes
 * @property {number} met times a call
 * @property {number} launches that one graph would not have
 * @property {number} eager_launches
 * @property {number} guards that are checked behind it
 * @property {number} moved_bytes
 * @property {number} kept_bytes
 *
 * @typedef {object} BreakCosts of all breaks of a mode
 * @property {number} sum_us
 * @property {Interval} ci_us
 * @property {number} calls
 * @property {number} groups
 * @property {{added_us: number, reading_ns: number, report_ns: number}} [watching] what it added to a call, and was taken off
 * @property {number} [turnaround_us] of a device, from one kernel to the next that is at hand
 * @property {Unbroken | null} without the function without its breaks, timed beside it
 *
 * @typedef {object} Unbroken
 * @property {string} source
 * @property {number[]} lines
 * @property {number} breaks_left
 * @property {number} explained_us
 * @property {Interval} explained_ci_us
 * @property {number} measured_us
 * @property {Interval} measured_ci_us
 * @property {number} median_us
 * @property {number | null} ratio
 * @property {Interval | null} ratio_ci
 * @property {boolean} [allowed] ops that the workload denies are lowered
 * @property {boolean} [agrees] within 20 %, or the intervals of the two overlap
 *
 * @typedef {object} RewriteGain before and after
 * @property {[number, number]} graphs
 * @property {[number, number]} breaks
 * @property {number} [together] changes that were run as one
 *
 * @typedef {object} TraceRun of mode lazy
 * @property {number} call
 * @property {number} line
 * @property {string} function
 * @property {string} cause as PyTorch/XLA names it
 * @property {string | null} [message]
 * @property {boolean} compiled else found by its hash
 * @property {string} hash
 * @property {number | null} [graph]
 * @property {number} inputs
 * @property {number} outputs
 *
 * @typedef {object} Entry a compiled version of a frame
 * @property {string} [compile] "0/1"
 * @property {number} [call]
 * @property {number} [compile_ms]
 * @property {number} [uses]
 * @property {number} [bail_outs] of the uses
 * @property {string | null} [reason]
 * @property {string[]} [guards]
 * @property {{name: string, source: string, range?: string | null}[]} [symbols]
 *
 * @typedef {object} Frame
 * @property {string} frame
 * @property {number} [line]
 * @property {boolean} [skipped]
 * @property {boolean} [run_only]
 * @property {Entry[]} [entries]
 *
 * @typedef {object} Diagnostic
 * @property {string} message
 * @property {string} [code]
 * @property {number} [line]
 * @property {number} [column]
 * @property {number} [end_column]
 * @property {"error" | "warning"} [severity]
 *
 * @typedef {object} Check
 * @property {Diagnostic[]} diagnostics
 * @property {Break[]} breaks
 * @property {number} [graph_count]
 *
 * @typedef {object} ModeReport
 * @property {import("../model/try.js").Change} [change]
 * @property {Break[]} [breaks]
 * @property {BreakCosts} [break_cost]
 * @property {Frame[]} [tree]
 * @property {{runs: TraceRun[], left_out: number}} [lazy]
 * @property {Graph[]} [graphs]
 * @property {Recompile[]} [recompiles]
 * @property {{graph?: number, text: string}[]} [guards]
 * @property {Latency | null} [latency]
 * @property {Split | null} [split_us]
 * @property {number} [launches]
 * @property {number} [compile_ms]
 * @property {number} [peak_bytes]
 * @property {import("../model/memory.js").Memory} [memory]
 * @property {number | string} [max_abs_error] "nan" as a string
 * @property {boolean} [agrees] with eager's values
 * @property {string} [disagreement] where it does not
 * @property {Agreement} [agreement] how its values lie to eager's
 * @property {string} [reproduce] the command for this figure
 * @property {Order} [order] of the work on a GPU
 *
 * @typedef {object} Order what a mode handed to a GPU in its whole run, and on how many streams
 * @property {number} streams
 * @property {number} events
 * @property {number} launches of kernels, one by one
 * @property {number} graph_launches
 * @property {number} library_calls
 * @property {number} copies
 * @property {number} sets of memory to a value
 * @property {number} waits of the host for all of it
 *
 * @typedef {object} Agreement
 * @property {"exact" | "within_dtype" | "disagrees"} verdict
 * @property {"bits" | "float64" | "bound"} judge
 * @property {number} elements
 * @property {number} differing elements that are not eager's to the bit
 * @property {number | string} largest_error "inf" as a string
 * @property {number | string | null} eager_error of eager, from float64
 * @property {number | string | null} over_allowed the largest distance over what is allowed
 * @property {string | null} text in one sentence
 * @property {{call: number | null, when: string, what: string, index: number[] | null, why: string | null,
 *   ours?: number | string, eager?: number | string, reference?: number | string | null, allowed?: number | string} | null} where
 *
 * @typedef {object} BreakEven
 * @property {number | null} speedup null where the mode's values are not eager's
 * @property {Interval | null} [speedup_ci]
 * @property {string} [verdict]
 * @property {number | null} [calls_to_repay]
 * @property {Interval | null} [calls_to_repay_ci]
 * @property {string} [repay] after, never, unknown
 * @property {number | null} [saved_us] a call
 * @property {Interval | null} [saved_ci_us]
 * @property {string} [side] always, never, above, below, disagrees
 * @property {number | null} [crossover_n]
 * @property {Interval | null} [crossover_ci]
 *
 * @typedef {object} MixedSide one mode with autocast, or without
 * @property {number} peak_bytes
 * @property {number} activation_bytes what the calls added to inputs and parameters
 * @property {number} [median_us]
 * @property {Interval} [ci_us]
 * @property {number | null} [samples_per_s]
 *
 * @typedef {object} MixedMode
 * @property {MixedSide} with
 * @property {MixedSide} without
 * @property {number | null} activation_ratio
 * @property {number | string} max_abs_error "nan" as a string
 * @property {number} [speedup] of with over without
 * @property {Interval} [speedup_ci]
 * @property {string} [verdict]
 *
 * @typedef {object} Mixed what autocast saved
 * @property {string} dtype
 * @property {number | null} batch samples of a call
 * @property {string | null} error why the program fails without it
 * @property {Record<string, MixedMode>} modes
 *
 * @typedef {object} Point
 * @property {number | null} [n]
 * @property {string} [source]
 * @property {Record<string, ModeReport>} modes
 * @property {Record<string, BreakEven>} [break_even]
 * @property {Mixed} [autocast]
 *
 * @typedef {object} Report
 * @property {Mixed} [autocast]
 * @property {number} breakeven
 * @property {Workload} workload
 * @property {unknown} [device]
 * @property {unknown} [environment]
 * @property {Record<string, number>} [wall_ms] where the time of the whole run went, by part
 * @property {Record<string, ModeReport>} [modes]
 * @property {Point[]} [points]
 * @property {Record<string, BreakEven>} [break_even]
 * @property {{torch?: TorchEngine}} [engines] the workload by others
 * @property {TraceFacts} [trace] of what another process recorded; then there are no modes
 * @property {Record<string, {message: string, line?: number | null}>} [failed] modes that a suite went on without
 * @property {Imported} [import] what logs of PyTorch held
 * @property {ImportedRun} [imported]
 * @property {boolean} [slimmed] it came from a file that its values, code and samples were too long for
 *
 * @typedef {object} TorchMode
 * @property {string} [error] why this mode alone failed
 * @property {Latency} [latency]
 * @property {number} [compile_ms]
 * @property {number | null} [peak_bytes] null where PyTorch does not count it
 * @property {number} [frames] that TorchDynamo compiled, or tried to
 * @property {boolean} [draws] random numbers
 * @property {{ratio: number, ci: Interval} | null} [over_ours] its time over ours
 * @property {{agree: boolean, elements: number, outside: number, left_out: number, max_abs_error: number,
 *   max_rel_error: number, stdout_same: boolean, first: string | null, verdict?: string, judge?: string}} [values] against our eager mode
 * @property {Imported["breaks"]} [breaks]
 *
 * @typedef {object} TorchPoint
 * @property {number | null} [n]
 * @property {Record<string, TorchMode>} modes
 * @property {Record<string, BreakEven>} [break_even]
 *
 * @typedef {object} TorchEngine
 * @property {{code: string, message: string, detail: string} | null} error
 * @property {string} [version]
 * @property {string} [python]
 * @property {string} [executable]
 * @property {string | null} [device_name]
 * @property {{note: string | null, official: boolean}} [build]
 * @property {number} [threads]
 * @property {number | null} [first_compile_ms]
 * @property {number} seconds
 * @property {Record<string, TorchMode>} modes
 * @property {TorchPoint[]} points
 * @property {Record<string, BreakEven>} break_even
 * @property {Imported | null} log
 * @property {{message: string, detail: string} | null} log_error
 *
 * @typedef {object} EngineInfo
 * @property {string} name
 * @property {boolean} available
 * @property {string | null} why_not
 * @property {string} [version]
 *
 * @typedef {object} ImportedTotals
 * @property {number} count
 * @property {number} total_us
 * @property {{name: string, count: number, total_us: number}[]} by_name
 *
 * @typedef {object} ImportedCompile
 * @property {string} compile "0/1": frame and compilation
 * @property {string} [frame]
 * @property {number} [resets] after so many of torch._dynamo.reset()
 * @property {string} outcome
 * @property {number} graphs
 * @property {number} [ops]
 * @property {number} [guards]
 * @property {number} [entire_s]
 * @property {unknown[]} [dynamic]
 * @property {string[]} [cudagraph_skips]
 * @property {string[]} [recompile_reasons]
 * @property {{calls: number, kernel_us: number}} [timeline]
 *
 * @typedef {object} ImportedModel where the graphs of one model split
 * @property {string} model
 * @property {number | null} captured_graphs null: nothing says it, as in the next
 * @property {number | null} capture_added
 * @property {number} capture_breaks
 * @property {number} lowered_graphs
 * @property {number | null} lowering_added
 * @property {number} lowering_breaks
 * @property {number} compile_us
 * @property {number} run_us
 * @property {number} executions
 * @property {"capture" | "lowering" | "both" | "none" | null} main_stage
 *
 * @typedef {object} ImportedXla
 * @property {ImportedModel[]} [models]
 * @property {number | null} captured_graphs
 * @property {number} lowered_graphs
 * @property {{hash: string, cause: string, file: string, line: number, function: string, compilations: number, executions: number}[]} graphs
 * @property {{op: string, count: number}[]} fallbacks
 *
 * @typedef {object} Imported
 * @property {string} kind
 * @property {{name: string, kind: string, bytes: number}[]} files
 * @property {number} graphs
 * @property {{file: string, line: number, kind: string, gb: string | null, message: string, count: number, outcome?: string | null,
 *   cost?: {calls: number, host_us_per_call: number, lookup_us_per_call: number}}[]} breaks
 * @property {{frame: string, reason: string, compile: string}[]} recompiles
 * @property {ImportedCompile[]} compiles
 * @property {ImportedTotals} kernels
 * @property {ImportedTotals} [copies]
 * @property {ImportedTotals} [ops]
 * @property {ImportedTotals} [annotations]
 * @property {{device: number | null, events: number, peak_bytes: number, peak_reserved_bytes: number}[]} [memory]
 * @property {ImportedXla} [pt_xla]
 * @property {Ledger} ledger
 *
 * @typedef {object} ImportedRun a run that came back from its own export
 * @property {{id: number, name: string, created_ns: number, redacted?: boolean}} [run] as it was
 * @property {string} [file]
 * @property {Ledger} [ledger] not in lists
 *
 * @typedef {{dropped?: Record<string, number>, repaired?: Record<string, number>, kept?: Record<string, number>,
 *   what?: Record<string, string>}} Ledger of an import, by fate
 *
 * @typedef {object} TraceFacts
 * @property {{pid: number, command: string, kernels: number, dropped: number, lost: number, doubtful: number,
 *   finished: boolean, fault: string | null, memory: {device: number, held_bytes: number, peak_bytes: number}[]}[]} processes
 * @property {number} [torch_trace_bytes]
 *
 * @typedef {object} RandomSpec
 * @property {number[]} shape
 * @property {string} dtype
 * @property {string} [kind]
 * @property {number} [seed]
 *
 * @typedef {object} Value one argument: random, exact tensor, or plain value
 * @property {RandomSpec} [random]
 * @property {{shape: number[], dtype: string, data?: unknown[]}} [tensor]
 * @property {unknown} [value]
 *
 * @typedef {object} Sweep one of the two
 * @property {{pool?: string[] | null, counts: number[]}} [statements] without its pool where that was left out of a file
 * @property {{arg: number, dim: number, sizes: number[]}} [input]
 *
 * @typedef {object} Workload
 * @property {string} [name]
 * @property {string} source
 * @property {string} [before] what `source` is a change of
 * @property {number} [seconds] of sampling at each point
 * @property {string} [entry]
 * @property {Value[][]} [calls]
 * @property {string[]} [modes]
 * @property {string} [device]
 * @property {string} [backend]
 * @property {number} [threads]
 * @property {string | null} [autocast] a dtype
 * @property {string} [policy] dynamo, native
 * @property {boolean} [grad]
 * @property {string[]} [engines] breakeven, and torch
 * @property {Record<string, boolean>} [passes] false: left out
 * @property {Sweep | null} [sweep]
 * @property {string} [project]
 * @property {string[]} [tags]
 * @property {boolean} [record_api] calls of the driver in timelines of a GPU
 * @property {boolean} [trace] recorded by `breakeven trace`
 * @property {string} [command] of a trace
 *
 * @typedef {object} Summary what the list shows of a report
 * @property {string} mode
 * @property {string} verdict
 * @property {number | null} speedup null where the mode's values are not eager's
 * @property {Interval | null} speedup_ci
 * @property {number} median_us
 * @property {number | null} [calls_to_repay]
 * @property {number | null} [crossover_n]
 * @property {number | null} [at_n]
 * @property {number | null} [breaks] places of that mode; null: not kept
 *
 * @typedef {object} Progress
 * @property {Status} status
 * @property {number} progress 0..1
 * @property {string | null} [what]
 * @property {number | null} [left_s]
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
 * @property {boolean} [baseline] later runs of its workload are held against it
 * @property {string[]} [modes]
 * @property {Summary | null} [summary]
 * @property {number[]} [recent] speedups of the runs of its name before it, and its own, oldest first
 * @property {Problem | null} [error]
 * @property {ImportedRun | null} [imported] it came back from an export; null: it ran here
 *
 * @typedef {Progress & RunFacts} RunRow
 * @typedef {Record<"project" | "tag" | "device" | "status" | "verdict", [string, number][]>} Facets values, and how many runs have each
 * @typedef {{runs: RunRow[], next?: string | null, total?: number, facets?: Facets}} RunList
 * @typedef {{report?: Report | null, workload?: Workload, environment?: Record<string, unknown> | null}} RunBody
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
 *
 * @typedef {object} SuiteResult one workload in one column
 * @property {string} engine
 * @property {string} policy
 * @property {string} mode
 * @property {"pass" | "disagrees" | "failed" | "cancelled" | "waiting"} status
 * @property {string | null} reason
 * @property {number | null} run
 * @property {number | null} speedup
 * @property {Interval | null} speedup_ci
 * @property {number | null} median_us
 * @property {number | null} compile_ms
 * @property {number | null} launches
 * @property {number | null} peak_bytes
 * @property {number | null} max_abs_error
 * @property {{capture: number | null, lowering: number | null}} breaks
 *
 * @typedef {object} SuiteWorkload
 * @property {string} name
 * @property {boolean} common
 * @property {SuiteResult[]} results
 *
 * @typedef {object} SuiteReport
 * @property {SuiteColumn[]} columns
 * @property {{n: number, of: number}} common
 * @property {number[]} histogram_edges
 * @property {SuiteWorkload[]} workloads
 *
 * @typedef {object} SuiteHead
 * @property {number} id
 * @property {string} name
 * @property {number} created_ns
 * @property {string} status
 * @property {number} progress
 * @property {Record<Status, number>} runs
 * @property {Record<string, unknown> | null} request
 * @property {SuiteColumn[]} columns
 * @property {{n: number, of: number}} common
 *
 * @typedef {Omit<SuiteHead, "columns" | "common"> & {report: SuiteReport}} Suite
 */

export {};
