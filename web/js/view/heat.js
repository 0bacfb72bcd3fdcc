// js/view/heat.js -- all workloads over commits, as a map of colours with their numbers in it.
//
// The arrow keys go from cell to cell, Enter opens its run; what a cell says stands below the map.

import { chartFiles, ofElement } from "./chart_files.js";
import { h, press, scroller, section, segmented } from "./dom.js";
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
  const views = segmented("Show the map as", { map: "Map", table: "Table" }, "map", (v) => {
    press(views, v);
    table.classList.toggle("plain", v === "table");
  });
  const tell = (/** @type {Event} */ e) => {
    const a = e.target instanceof HTMLElement ? e.target.closest("td a") : null;
    if (a) tip.textContent = a.getAttribute("aria-label");
  };
  for (const kind of ["focusin", "mouseover"]) table.addEventListener(kind, tell);
  table.addEventListener("keydown", (e) => step(e, body));
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

/** To the next cell that way that has a run. @param {KeyboardEvent} e @param {HTMLTableSectionElement} body */
function step(e, body) {
  const way = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] }[e.key];
  const td = e.target instanceof HTMLElement ? e.target.closest("td") : null;
  const tr = td?.closest("tr");
  if (!way || !td || !tr) return;
  e.preventDefault();
  let [row, col] = [tr.sectionRowIndex + way[0], td.cellIndex + way[1]];
  for (let to; (to = body.rows[row]?.cells[col]) && to.tagName === "TD"; row += way[0], col += way[1]) {
    const a = to.querySelector("a");
    if (a) return a.focus();
  }
}
