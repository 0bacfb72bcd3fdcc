// js/model/suite_compare.js -- what is said of two suites.

import { count, plural, ratio } from "./format.js";
import { columnName } from "./suite.js";

/**
 * @typedef {object} SuiteChange how speedups changed: after over before
 * @property {number | null} ratio
 * @property {import("../api/types.js").Interval | null} ratio_ci
 * @property {string | null} verdict
 *
 * @typedef {SuiteChange & {engine: string, policy: string, mode: string, before: string, after: string,
 *   turn: "passes" | "broken" | "fixed" | "still-bad" | "unknown", reason?: string | null, run?: number | null, run_before?: number | null,
 *   speedup?: number | null, speedup_before?: number | null}} ComparedResult
 *
 * @typedef {object} ComparedColumn
 * @property {string} engine
 * @property {string} policy
 * @property {string} mode
 * @property {number | null} pass_rate_before
 * @property {number | null} pass_rate_after
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

/** The claim, and the rest of the sentence. @param {ComparedSuites} c @returns {[string, string]} */
export function comparison(c) {
  const all = rowsOf(c);
  const of = (/** @type {string} */ turn) => new Set(all.filter(({ r }) => r.turn === turn).map((x) => x.name)).size;
  const [broken, fixed] = [of("broken"), of("fixed")];
  const worst = c.columns
    .filter((x) => x.geomean.ratio !== null)
    .sort((a, b) => Math.abs(Math.log(b.geomean.ratio ?? 1)) - Math.abs(Math.log(a.geomean.ratio ?? 1)))[0];
  const bold = broken
    ? `${plural(broken, "workload")} passed before and ${broken === 1 ? "does" : "do"} not now.`
    : `Nothing that passed is broken${fixed ? `, and ${plural(fixed, "workload")} ${fixed === 1 ? "is" : "are"} fixed` : ""}.`;
  if (!worst || worst.geomean.ratio === null) return [bold, " There is no speedup in both to compare."];
  const text = ratio(worst.geomean.ratio, worst.geomean.ratio_ci);
  const verdicts = all.filter(({ r }) => r.ratio !== null);
  const slower = verdicts.filter(({ r }) => r.verdict === "SLOWER").length;
  const faster = verdicts.filter(({ r }) => r.verdict === "FASTER").length;
  return [
    bold,
    ` The speedup of ${columnName(worst)} is ${text.text} ${text.interval} of what it was, the geometric mean of ${plural(worst.geomean.n, "workload")}. Of ${count(verdicts.length)} speedups ${count(faster)} rose and ${count(slower)} fell by more than their intervals and 2 %.`,
  ];
}
