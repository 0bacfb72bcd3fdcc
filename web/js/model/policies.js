// js/model/policies.js -- one program under both policies of capture: how often it is cut, in both stages.

import { breakRows } from "./breaks.js";

/** @typedef {import("../api/types.js").ModeReport} ModeReport */
/** @typedef {import("../api/types.js").Workload} Workload */
/** @typedef {{policy: string, captured: number, lowered: number, breaks: number, fallbacks: number}} Cuts */

const POLICIES = ["dynamo", "native"];

/** @param {Workload | undefined} w */
export const policyOf = (w) => (w?.policy === "native" ? "native" : "dynamo");

/** @param {string} policy */
export const otherPolicy = (policy) => POLICIES[1 - POLICIES.indexOf(policy)];

/** @param {string} policy @param {ModeReport} m @returns {Cuts} */
export function cutsOf(policy, m) {
  const rows = breakRows(m);
  const fallbacks = rows.filter((r) => r.lowering).length;
  const captured = m.counts?.captured ?? m.graphs?.length ?? 0;
  return { policy, captured, lowered: m.counts?.lowered ?? captured, breaks: rows.length - fallbacks, fallbacks };
}

/**
 * What is to be checked for the other policy: the program of the point, in one mode.
 * @param {Workload} w @param {{source: string, mode: string, n: number | null}} at @returns {Workload}
 */
export function underOther(w, { source, mode, n }) {
  const { sweep, before: _before, ...kept } = w;
  const of = sweep?.input && n !== null ? { sweep: { input: { ...sweep.input, sizes: [n] } } } : {};
  return { ...kept, ...of, source, modes: [mode], policy: otherPolicy(policyOf(w)) };
}

/**
 * Which of the breaks the other policy has too: of the same kind at the same line.
 * @param {ModeReport} here @param {ModeReport} there @returns {boolean[]} by row of breakRows()
 */
export function inBoth(here, there) {
  const key = (/** @type {import("./breaks.js").BreakRow} */ r) => `${r.stage.split(",")[0]} ${r.kind} ${r.line}`;
  const known = new Set(breakRows(there).map(key));
  return breakRows(here).map((r) => known.has(key(r)));
}
