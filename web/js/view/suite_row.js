// js/view/suite_row.js -- the runs of a suite as one row of the list of runs, which opens to them.

import { button, chip, ci, h } from "./dom.js";
import { progressBar, whisker } from "./marks.js";
import { count, plural, ratio } from "../model/format.js";
import { columnName, headline } from "../model/suite.js";

/** @typedef {import("../api/types.js").FoldedSuite} FoldedSuite */

/**
 * Its name with what opens it; verdict, ratio and interval.
 * @param {FoldedSuite} s @param {import("./run_rows.js").Columns} columns @param {boolean} open
 */
export function suiteCells(s, columns, open) {
  const name = `${open ? "Close" : "Open"} suite ${s.name} #${s.id}`;
  const toggle = button(open ? "▾" : "▸", () => {}, { class: "fold", "aria-expanded": open, "aria-label": name, data: { suite: String(s.id) } });
  const link = h("a", { href: `/suites/${encodeURIComponent(s.id)}` }, s.name);
  const head = h("th", { scope: "row", class: "a-n" }, toggle, link, " ", h("span", { class: "mono dim" }, `suite #${s.id}`));
  const main = headline(s.columns);
  const all = Object.values(s.runs).reduce((a, b) => a + b, 0);
  const g = main?.geomean.common;
  const r = g && g.speedup !== null ? ratio(g.speedup, g.speedup_ci) : null;
  return [
    head,
    h("td", { class: "a-v" }, main && s.status === "done" ? chip("plain", `${count(main.pass)} of ${count(main.workloads)} pass`) : chip(s.status, s.status)),
    h("td", { class: "r a-r" }, r ? [h("span", { class: "num-strong" }, r.text), ...ci(r.interval)] : h("span", { class: "dim" }, s.columns.length || s.status !== "done" ? "none yet" : "none"), h("span", { class: "two-line" }, "geomean")),
    h("td", { class: "a-t" }, g && g.speedup !== null ? whisker(columns.axis, g.speedup, g.speedup_ci, "") : null),
    h("td", { class: "x sub", colspan: 5 }, s.status === "running" ? [progressBar(s.progress, 72), " "] : null, main ? `Geometric mean, ${columnName(main)}: ` : null, countsOf(s, all)),
  ];
}

/** @param {FoldedSuite} s @param {number} all */
function countsOf(s, all) {
  const of = Object.entries(s.runs).flatMap(([status, n]) => (n && n < all ? [`${count(n)} ${status}`] : []));
  const matching = s.matching < all ? `${count(s.matching)} of ${plural(all, "run")} match` : plural(all, "run");
  return [matching, ...of].join(", ");
}
