// js/api/graph/types.js -- what a report says of a captured graph: nodes, loops, kernels, passes.

/**
 * @typedef {import("../types.js").Interval} Interval
 *
 * @typedef {import("../report.js").ReportNode} GraphNode
 * @typedef {import("../report.js").ReportSubgraph} Subgraph
 * @typedef {import("../report.js").ReportKernel} Kernel
 * @typedef {import("../report.js").ReportGraph} Graph
 * @typedef {import("../report.js").ReportRecording} Recording
 * @typedef {import("../report.js").ReportRule} PassRule
 * @typedef {import("../report.js").ReportPassStep} PassStep
 * @typedef {import("../report.js").ReportPassPart} PassPart
 */

export {};
