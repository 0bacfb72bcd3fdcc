// js/model/policies.js -- one program under both policies of capture: how often it is cut, in both stages.

import { kindAt } from "./breaks.js";

/** @typedef {import("../api/types.js").ModeReport} ModeReport */
/** @typedef {import("../api/types.js").Workload} Workload */
/** @typedef {{policy: string, captured: number, lowered: number, breaks: number, fallbacks: number}} Cuts */

const POLICIES = ["dynamo", "native"];

/** @param {Workload | undefined} w */
export const policyOf = (w) => (w?.policy === "native" ? "native" : "dynamo");

/** @param {string} policy */
export const otherPolicy = (policy) => POLICIES[1 - POLICIES.indexOf(policy)];

/**
 * @param {string} policy @param {ModeReport} m
 * @param {import("../api/report.js").ReportFindingsMode | undefined} [said] of a run: reports of before count no distinct breaks
 * @returns {Cuts}
 */
export function cutsOf(policy, m, said) {
  const places = (/** @type {boolean} */ lowering) => (said?.distinct ?? []).filter((d) => (m.breaks?.[d.first]?.stage === "lowering") === lowering).length;
  const captured = m.counts?.captured ?? m.graphs?.length ?? 0;
  return { policy, captured, lowered: m.counts?.lowered ?? captured, breaks: m.counts?.breaks ?? places(false), fallbacks: m.counts?.fallbacks ?? places(true) };
}

/**
 * What is to be checked for the other policy: the program of the point, in one mode.
 * @param {Workload} w @param {{source: string, mode: string, n: number | null}} at @returns {Workload}
 */
export function underOther(w, { source, mode, n }) {
  const { sweep, before: _before, ...kept } = w;
  const of = sweep?.input && n !== null ? { sweep: { input: { ...sweep.input, sizes: [n] } } } : {};
  return { ...kept, ...of, ...(w.files ? {} : { source }), modes: [mode], policy: otherPolicy(policyOf(w)) };
}

/**
 * Which of the breaks the other policy has too: of the same kind at the same line.
 * @param {readonly import("../api/types.js").Break[]} here distinct ones @param {ModeReport} there @returns {boolean[]}
 */
export function inBoth(here, there) {
  const known = new Set((there.breaks ?? []).map(kindAt));
  return here.map((b) => known.has(kindAt(b)));
}
