// js/view/mixed.js -- what autocast saved: each mode with it and without.
//
// Both sides were timed in the same rounds.  Bytes are what the calls added to the
// inputs and parameters: the activations, and the copies of weights that are cast.

import { h, chip, figure, headRow, scroller, section } from "./dom.js";
import { axisHead, modeMark, whisker } from "./marks.js";
import { ratioAxis } from "../model/axis.js";
import { plural } from "../model/format.js";
import { chipClass } from "../model/sentence.js";
import { pointName } from "./modes_table.js";

/** @typedef {import("../api/types.js").Mixed} Mixed */
/** @typedef {import("../api/report.js").ReportFindingsCast} Cast */
/** @typedef {import("../api/report.js").ReportFindingsSide} Side */
/** @typedef {import("../api/types.js").Findings} Findings */

/** @param {import("./dom.js").Child | readonly import("./dom.js").Child[]} content */
const right = (content) => h("td", { class: "r" }, content);

/** @param {string} text */
const dim = (text) => h("span", { class: "dim" }, text);

/**
 * @param {import("../api/types.js").Point} point
 * @param {readonly string[]} modes
 * @param {Findings} all
 * @param {number} at the point's place
 * @returns {HTMLElement[]} none where the workload has no autocast
 */
export function mixedSection(point, modes, all, at) {
  const mixed = point.autocast;
  const said = all.points[at].autocast;
  if (!mixed) return [];
  const title = `Autocast to ${mixed.dtype}${all.points.length > 1 ? ` at ${pointName(point)}` : ""}`;
  if (!said || mixed.error !== null) {
    const why = `Without autocast the program fails, so there is nothing to compare with: ${mixed.error}`;
    return [section(title, null, null, h("p", { class: "sub" }, why))];
  }
  const shown = modes.filter((m) => mixed.modes[m]);
  const note = mixed.batch ? `a call has ${plural(mixed.batch, "sample")}` : "a call has no batch to count";
  const table = mixedTable(title, mixed, shown, all, said.modes);
  return [section(title, note, null, h("p", { id: "mixed-verdict", class: "sub" }, said.sentence), scroller(`${title}, table`, table))];
}

/** @param {string} title @param {Mixed} mixed @param {readonly string[]} modes @param {Findings} units @param {Record<string, Cast>} said */
function mixedTable(title, mixed, modes, units, said) {
  const axis = ratioAxis(
    modes.map((m) => mixed.modes[m]).flatMap((m) => (m.speedup ? [m.speedup, ...(m.speedup_ci ?? [])] : [])),
    160,
  );
  const head = headRow([
    "Mode",
    [`Median, ${units.time_unit}`, "r"],
    ["Without", "r"],
    ["Speedup", "r"],
    [axisHead(axis), "", "Speedup interval"],
    ["Samples/s", "r"],
    ["Without", "r"],
    [`Activations, ${units.activations_unit}`, "r"],
    ["Without", "r"],
    ["Max difference", "r"],
    "Verdict",
  ]);
  const rows = modes.map((m) => h("tr", {}, h("th", { scope: "row" }, modeMark(m)), cells(mixed.modes[m], said[m], axis)));
  return h("table", { id: "mixed-table" }, h("caption", { class: "vh" }, title), head, h("tbody", {}, rows));
}

/** @param {import("../api/types.js").MixedMode} m @param {Cast} said @param {import("./marks.js").RatioAxis} axis */
function cells(m, said, axis) {
  const median = (/** @type {Side} */ s) => right(s.median ? figure(s.median) : dim("not timed"));
  const rate = (/** @type {Side} */ s) => right(s.rate ?? dim(s.median ? "no batch" : "not timed"));
  return [
    median(said.with),
    median(said.without),
    right(said.speedup ? figure(said.speedup) : dim("not timed")),
    h("td", {}, m.speedup === undefined ? null : whisker(axis, m.speedup, m.speedup_ci, said.verdict ?? "")),
    rate(said.with),
    rate(said.without),
    right(said.with.activations),
    right(said.without.activations),
    right(said.error),
    h("td", {}, said.verdict ? chip(chipClass(said.verdict), said.verdict) : dim("not timed")),
  ];
}
