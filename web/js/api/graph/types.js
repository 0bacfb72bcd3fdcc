// js/api/graph/types.js -- what a report says of a captured graph: nodes, loops, kernels, passes.

/**
 * @typedef {import("../types.js").Interval} Interval
 *
 * @typedef {object} GraphNode
 * @property {number} id
 * @property {string} name
 * @property {string} op
 * @property {string} [dtype]
 * @property {string} [shape]
 * @property {number} [line]
 * @property {string | null} [module] whose call it is part of
 *
 * @typedef {object} Subgraph a loop on a tensor; all are ids of nodes
 * @property {string} kind while_loop
 * @property {number} node the loop itself
 * @property {number | null} parent place in the list of the loop that it stands in
 * @property {number} line
 * @property {number} first whether there is a first round
 * @property {number} again whether there is another one, computed in each
 * @property {{node: number | null, start: number, next: number, result: number | null}[]} carried what goes round
 * @property {number[]} reads from outside, besides
 * @property {number[]} nodes its body
 * @property {number[]} condition those of the body that only the test needs
 *
 * @typedef {object} Kernel bytes under the sizes of the capture
 * @property {string} name
 * @property {string} form map, rows, cols, library
 * @property {string} why it is a kernel of its own
 * @property {number} ops
 * @property {number[]} [lines] of the source
 * @property {number} read_bytes
 * @property {number} written_bytes
 * @property {number} saved_bytes what its ops would have moved besides, one kernel each
 * @property {boolean} copies makes row-major what views have put in another order
 * @property {number | null} [operations]
 * @property {number | null} [intensity] operations over bytes
 * @property {number} [median_us] of a launch; this and what follows only where it was seen
 * @property {Interval} [ci_us]
 * @property {number} [seen] launches
 * @property {number} [bandwidth_gbps]
 * @property {number} [rate_gflops]
 * @property {number} [copy_share] time of a copy of as many bytes over its own
 * @property {number} [registers] this and what follows: on a GPU
 * @property {number} [shared_bytes]
 * @property {number} [local_bytes]
 * @property {number} [block_threads]
 * @property {number} [occupancy]
 *
 * @typedef {object} Graph
 * @property {number | string} [id]
 * @property {string} [frame]
 * @property {string} [compile] "0/0"
 * @property {string[]} [ops] FX target names
 * @property {number} [placeholders]
 * @property {GraphNode[]} [nodes]
 * @property {number[]} [outputs] ids of nodes
 * @property {Subgraph[]} [subgraphs]
 * @property {string[]} [kernels]
 * @property {Kernel[]} [kernel_details]
 * @property {string | null} [lowered] generated C
 * @property {number} [compile_ms]
 * @property {boolean} [cached]
 * @property {boolean} [later] compiled behind the first calls
 * @property {number} [uses]
 * @property {PassPart[]} [passes]
 * @property {Recording | null} [recording] mode graphs
 * @property {Recording | null} [backward_recording]
 *
 * @typedef {object} Recording what became of a graph's launches
 * @property {number} made recordings: of a graph that runs in pieces one each
 * @property {number} refused
 * @property {string | null} why_not
 * @property {string | null} because why there had to be a new one
 * @property {number} direct of the recordings, replayed kernel by kernel
 * @property {string | null} why_direct
 * @property {number} replays
 * @property {number} pointed pointers that were set since tensors lay elsewhere
 * @property {number} guards_left_out calls
 * @property {string | null} why_guards why they never are
 * @property {number} held_bytes
 *
 * @typedef {object} PassRule a rule that fired in a pass
 * @property {string} rule
 * @property {number} count
 * @property {{node: string, with?: string | null, line: number, column: number}[]} at the first of them
 *
 * @typedef {object} PassStep
 * @property {string} pass
 * @property {string | null} [plugin]
 * @property {boolean} off
 * @property {boolean} changed
 * @property {number} nodes behind it
 * @property {number} us
 * @property {PassRule[]} [rules]
 * @property {number} [rules_left_out]
 * @property {string | null} [after] the graph behind it; null where it is as before, or left out
 *
 * @typedef {object} PassPart a graph, or a piece of one, and what its passes did
 * @property {string} part
 * @property {string} [error]
 * @property {string | null} [loop] name of the while_loop in whose body it stands
 * @property {string[]} [takes] nodes of the captured graph that its inputs are
 * @property {string[]} [gives] ... and its outputs
 * @property {number} [first_kernel] of the graph's kernels
 * @property {number} [n_kernels]
 * @property {number} [nodes]
 * @property {string | null} [before]
 * @property {PassStep[]} [steps]
 * @property {number} [left_out_bytes]
 */

export {};
