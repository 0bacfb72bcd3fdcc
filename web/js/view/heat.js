// js/view/heat.js -- all workloads over commits, as a map of colours with their numbers in it.
//
// The arrow keys go from cell to cell, Enter opens its run; what a cell says stands below the map.

import { chartFiles, ofElement } from "./chart_files.js";
import { h, press, scroller, section, segmented } from "./dom.js";
import { heatKeys } from "./heat_keys.js";
import { duration, ratio } from "../model/format.js";
import { heatLevel } from "../model/heat.js";

/** @typedef {import("../api/types.js").Heat} Heat */
/** @typedef {import("../api/types.js").HeatCell} HeatCell */

const SHORT = 7;
/** A commit as it is known, or a day. @param {string} column */
const short = (column) => (/^\d{4}-\d\d-\d\d$/.test(column) ? column.slice(5) : column.slice(0, SHORT));

/** @param {HeatCell} c @param {string} metric */
function textOf(c, metric) {
  if (metric === "median") return duration(c.median_us);
  return c.speedup === null ? "≠" : ratio(c.speedup).text;
}

/** @param {string} name @param {string} column @param {HeatCell} c */
function said(name, column, c) {
  const r = c.speedup === null ? null : ratio(c.speedup, c.speedup_ci);
  const speed = r ? `${r.text} ${r.interval} over eager, ${c.verdict}` : "values differ from eager's";
  const than = ratio(c.median_of_first);
  return `${name} at ${short(column)}: ${c.mode} ${speed}; ${duration(c.median_us)} a call, ${than.text} of the oldest here. Run #${c.run}.`;
}

/** @param {Heat} heat @param {string} workload the one of the page */
export function heatSection(heat, workload) {
  const tip = h("p", { class: "small sub", id: "heat-tip", role: "status" }, "Point at a cell, or use the arrow keys.");
  const body = h("tbody");
  const table = h("table", { id: "heat", class: "heat" }, h("caption", { class: "vh" }, "Workloads over commits"), h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Workload"), heat.columns.map((c) => h("th", { scope: "col", class: "mono", title: c }, short(c))))), body);
  const fill = (/** @type {string} */ metric) =>
    body.replaceChildren(...heat.rows.map((r) => h("tr", { "aria-current": r.name === workload ? "true" : null }, h("th", { scope: "row" }, h("a", { href: `/history?workload=${encodeURIComponent(r.name)}` }, r.name)), r.cells.map((c, i) => cell(r.name, heat.columns[i], c, metric)))));
  const metrics = segmented("Figure of the map", { speedup: "Speedup", median: "Median" }, "speedup", (m) => {
    press(metrics, m);
    fill(m);
  });
  const views = heatKeys(table, tip, "a");
  fill("speedup");
  const note = "green: faster than eager; red: slower; medians are compared with the oldest shown; a cell is the newest run of a commit, or of a day";
  return section("All workloads over commits", note, h("div", { class: "acts" }, metrics, views, chartFiles("all_workloads_over_commits", "All workloads over commits", ofElement(() => table))), scroller("Workloads over commits, table", table), tip);
}

/** @param {string} name @param {string} column @param {HeatCell | null} c @param {string} metric */
function cell(name, column, c, metric) {
  if (!c) return h("td", { class: "none" }, h("span", { class: "vh" }, "not run"));
  const level = c.speedup === null && metric === "speedup" ? "wrong" : String(heatLevel(metric === "speedup" ? (c.speedup ?? 1) : 1 / c.median_of_first));
  return h("td", { class: "hot", data: { heat: level } }, h("a", { href: `/runs/${encodeURIComponent(c.run)}`, "aria-label": `${textOf(c, metric)}, ${said(name, column, c)}` }, textOf(c, metric)));
}
