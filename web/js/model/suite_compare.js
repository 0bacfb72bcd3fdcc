// js/model/suite_compare.js -- the rows of two suites, and their order.

/**
 * @typedef {object} SuiteChange how speedups changed: after over before
 * @property {number | null} ratio
 * @property {import("../api/types.js").Interval | null} ratio_ci
 * @property {string | null} verdict
 * @property {import("../api/report.js").ReportFigure | null} [figure] the ratio as it is shown
 *
 * @typedef {SuiteChange & {engine: string, policy: string, mode: string, before: string, after: string,
 *   turn: "passes" | "broken" | "fixed" | "still-bad" | "unknown", reason?: string | null, run?: number | null, run_before?: number | null,
 *   speedup?: number | null, speedup_before?: number | null,
 *   shown?: string | null, shown_before?: string | null}} ComparedResult
 *
 * @typedef {object} ComparedColumn
 * @property {string} engine
 * @property {string} policy
 * @property {string} mode
 * @property {number | null} pass_rate_before
 * @property {number | null} pass_rate_after
 * @property {string} pass_rates both as they are shown
 * @property {SuiteChange & {n: number}} geomean
 * @property {number} broken
 * @property {number} fixed
 * @property {number} FASTER
 * @property {number} SLOWER
 * @property {number} SAME
 * @property {number} AMBIGUOUS
 *
 * @typedef {object} ComparedSuites
 * @property {import("../api/types.js").SuiteHead} before
 * @property {import("../api/types.js").SuiteHead} after
 * @property {import("../api/report.js").ReportSentencePart[]} sentence
 * @property {ComparedColumn[]} columns
 * @property {{name: string, results: ComparedResult[]}[]} workloads
 * @property {string[]} only_before
 * @property {string[]} only_after
 */
/** @typedef {{name: string, r: ComparedResult}} Row */

/** All results of both, one after the other. @param {ComparedSuites} c @returns {Row[]} */
export const rowsOf = (c) => c.workloads.flatMap((w) => w.results.map((r) => ({ name: w.name, r })));

/** What passed and does not now, then what was fixed. @param {ComparedSuites} c @returns {Row[]} */
export const turned = (c) => ["broken", "fixed"].flatMap((turn) => rowsOf(c).filter(({ r }) => r.turn === turn));

/** Results with a change of their speedup, the worst first. @param {ComparedSuites} c @returns {Row[]} */
export const changed = (c) =>
  rowsOf(c)
    .filter(({ r }) => r.ratio !== null)
    .sort((a, b) => (a.r.ratio ?? 0) - (b.r.ratio ?? 0));
