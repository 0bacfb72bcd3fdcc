// js/view/policies.js -- captured and lowered graphs under both policies, side by side.
//
// The run is of one of them; the other is looked at by a check, which times nothing.

import { add, h, headRow, scroller } from "./dom.js";
import { postCheck } from "../api/client.js";
import { firstError } from "../model/breaks.js";
import { cutsOf, inBoth, otherPolicy, policyOf, underOther } from "../model/policies.js";

/** @typedef {import("../model/policies.js").Cuts} Cuts */

const HEADS = ["Captured graphs", "Lowered graphs", "Breaks", "Not lowered"];

/**
 * @param {import("../api/types.js").Run} run
 * @param {{m: import("../api/types.js").ModeReport, said: import("../api/report.js").ReportFindingsMode | undefined,
 *   distinct: readonly import("../api/types.js").Break[]}} shown the mode, and its breaks as they are listed
 * @param {{source: string, mode: string, n: number | null, signal: AbortSignal}} at
 * @param {(both: boolean[], other: string) => void} told which breaks the other policy has too
 */
export function policiesSection(run, { m, said, distinct }, at, told) {
  const here = policyOf(run.workload);
  const other = otherPolicy(here);
  const second = h("tr", {}, h("th", { scope: "row" }, other), h("td", { colspan: HEADS.length, class: "dim" }, "looked at now"));
  const body = h("tbody", {}, row(cutsOf(here, m, said), "this run"), second);
  const head = headRow(["Policy", ...HEADS.map((t) => /** @type {[string, string]} */ ([t, "r"]))]);
  const table = h("table", { class: "policies" }, h("caption", { class: "vh" }, "Both policies"), head, body);
  const failed = (/** @type {string} */ why) => second.lastElementChild?.replaceChildren(why);
  if (!run.workload) failed("not known: the program is not kept");
  else look(run.workload, distinct, at, second, told).catch((e) => !at.signal.aborted && failed(`not known: ${e instanceof Error ? e.message : e}`));
  const note = `dynamo breaks as TorchDynamo does, native as little as this engine can; ${other} by a check, with the interpreter`;
  const header = h("header", {}, h("h3", {}, "Both policies"), h("p", {}, note));
  return h("section", { class: "sec", "aria-label": "Both policies" }, header, scroller("Both policies, table", table));
}

/** @param {Cuts} c @param {string} about */
function row(c, about) {
  const cells = [c.captured, c.lowered, c.breaks, c.fallbacks].map((n) => h("td", { class: "r num-strong" }, n));
  return h("tr", {}, h("th", { scope: "row" }, c.policy, " ", h("span", { class: "dim" }, about)), cells);
}

/**
 * @param {import("../api/types.js").Workload} w @param {readonly import("../api/types.js").Break[]} distinct
 * @param {{source: string, mode: string, n: number | null, signal: AbortSignal}} at @param {HTMLTableRowElement} place
 * @param {(both: boolean[], other: string) => void} told
 */
async function look(w, distinct, at, place, told) {
  const check = await postCheck(underOther(w, at), at.signal);
  const wrong = firstError(check);
  if (wrong) throw new Error(wrong.message);
  const there = /** @type {import("../api/types.js").ModeReport} */ (/** @type {unknown} */ (check));
  const filled = row(cutsOf(otherPolicy(policyOf(w)), there), "checked");
  place.replaceChildren();
  add(place, [...filled.children]);
  told(inBoth(distinct, there), otherPolicy(policyOf(w)));
}
