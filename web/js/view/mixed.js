// js/view/mixed.js -- what autocast saved: each mode with it and without.
//
// Both sides were timed in the same rounds.  Bytes are what the calls added to the
// inputs and parameters: the activations, and the copies of weights that are cast.

import { h, chip, ci, headRow, scroller, section } from "./dom.js";
import { axisHead, modeMark, ratioAxis, whisker } from "./marks.js";
import { bytesUnit, number, plural, ratio, smallError, timeUnit, withInterval } from "../model/format.js";
import { chipClass } from "../model/sentence.js";
import { pointName } from "./modes_table.js";

/** @typedef {import("../api/types.js").Mixed} Mixed */
/** @typedef {import("../api/types.js").MixedMode} MixedMode */
/** @typedef {import("../api/types.js").MixedSide} MixedSide */

/** @param {import("./dom.js").Child | readonly import("./dom.js").Child[]} content */
const right = (content) => h("td", { class: "r" }, content);

/** @param {string} text */
const dim = (text) => h("span", { class: "dim" }, text);

/**
 * @param {import("../api/types.js").Point} point
 * @param {readonly string[]} modes
 * @param {boolean} swept
 * @param {string} said what it saved
 * @returns {HTMLElement[]} none where the workload has no autocast
 */
export function mixedSection(point, modes, swept, said) {
  const mixed = point.autocast;
  if (!mixed) return [];
  const title = `Autocast to ${mixed.dtype}${swept ? ` at ${pointName(point)}` : ""}`;
  if (mixed.error !== null) {
    const why = `Without autocast the program fails, so there is nothing to compare with: ${mixed.error}`;
    return [section(title, null, null, h("p", { class: "sub" }, why))];
  }
  const shown = modes.filter((m) => mixed.modes[m]);
  const note = mixed.batch ? `a call has ${plural(mixed.batch, "sample")}` : "a call has no batch to count";
  const table = mixedTable(title, mixed, shown);
  return [section(title, note, null, h("p", { id: "mixed-verdict", class: "sub" }, said), scroller(`${title}, table`, table))];
}

/** @param {string} title @param {Mixed} mixed @param {readonly string[]} modes */
function mixedTable(title, mixed, modes) {
  const all = modes.map((m) => mixed.modes[m]);
  const sides = all.flatMap((m) => [m.with, m.without]);
  const time = timeUnit(sides.map((s) => s.median_us ?? 0));
  const bytes = bytesUnit(sides.map((s) => s.activation_bytes));
  const axis = ratioAxis(
    all.flatMap((m) => (m.speedup ? [m.speedup, ...(m.speedup_ci ?? [])] : [])),
    160,
  );
  const head = headRow([
    "Mode",
    [`Median, ${time.name}`, "r"],
    ["Without", "r"],
    ["Speedup", "r"],
    [axisHead(axis), "", "Speedup interval"],
    ["Samples/s", "r"],
    ["Without", "r"],
    [`Activations, ${bytes.name}`, "r"],
    ["Without", "r"],
    ["Max difference", "r"],
    "Verdict",
  ]);
  const rows = modes.map((m) =>
    h("tr", {}, h("th", { scope: "row" }, modeMark(m)), cells(mixed.modes[m], { time, bytes, axis })),
  );
  return h("table", { id: "mixed-table" }, h("caption", { class: "vh" }, title), head, h("tbody", {}, rows));
}

/**
 * @param {MixedMode} m
 * @param {{time: import("../model/format.js").Unit, bytes: import("../model/format.js").Unit,
 *   axis: import("./marks.js").RatioAxis}} columns
 */
function cells(m, columns) {
  const median = (/** @type {MixedSide} */ s) => {
    if (s.median_us === undefined) return dim("not timed");
    const v = withInterval(s.median_us, s.ci_us, { scale: columns.time.scale });
    return [h("span", { class: "num-strong" }, v.text), ...ci(v.interval)];
  };
  const rate = (/** @type {MixedSide} */ s) => {
    if (typeof s.samples_per_s !== "number") return dim(s.median_us === undefined ? "not timed" : "no batch");
    return number(s.samples_per_s);
  };
  const held = (/** @type {MixedSide} */ s) => number(s.activation_bytes / columns.bytes.scale);
  const faster = m.speedup === undefined ? null : ratio(m.speedup, m.speedup_ci);
  return [
    right(median(m.with)),
    right(median(m.without)),
    right(faster ? [h("span", { class: "num-strong" }, faster.text), ...ci(faster.interval)] : dim("not timed")),
    h("td", {}, m.speedup === undefined ? null : whisker(columns.axis, m.speedup, m.speedup_ci, m.verdict ?? "")),
    right(rate(m.with)),
    right(rate(m.without)),
    right(held(m.with)),
    right(held(m.without)),
    right(smallError(m.max_abs_error)),
    h("td", {}, m.verdict ? chip(chipClass(m.verdict), m.verdict) : dim("not timed")),
  ];
}
