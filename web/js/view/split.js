// js/view/split.js -- one call's time as a stacked bar for each mode.
//
// All bars share one axis, so their lengths compare; the rest has its own
// column, so every row adds up to its median.

import { h, svg, scroller } from "./dom.js";
import { modeMark } from "./marks.js";
import { duration, number, shares, timeUnit, toStep, stepOf } from "../model/format.js";
import { PARTS, floorOf, splitRows } from "../model/split.js";
import { headline } from "../model/verdict.js";

const WIDTH = 260;

/** @param {import("../model/split.js").SplitRow} row @param {number} most */
function bar(row, most) {
  const w = (/** @type {number} */ us) => Math.max(0, (us / most) * WIDTH);
  const el = svg("svg", { class: "splitbar", width: WIDTH, height: 12, "aria-hidden": "true" });
  let x = 0;
  row.parts.forEach((us, i) => {
    const kind = PARTS[i].key === "kernel" && row.mode === "eager" ? "eager" : PARTS[i].key;
    if (w(us) > 0) el.append(svg("rect", { class: `p-${kind}`, x, y: 0, width: Math.max(0.5, w(us) - 0.75), height: 12 }));
    x += w(us);
  });
  if (row.rest > 0 && w(row.rest) > 1) el.append(svg("rect", { class: "p-rest", x: x + 0.5, y: 0.5, width: Math.max(0.5, w(row.rest) - 1), height: 11 }));
  return el;
}

/** @param {import("../model/split.js").SplitRow[]} rows */
function finding(rows) {
  const name = headline(rows.map((r) => r.mode));
  const row = rows.find((r) => r.mode === name) ?? rows[0];
  const kernel = row.parts[PARTS.findIndex((p) => p.key === "kernel")];
  const [share] = shares([Math.min(kernel, row.total)], row.total);
  return `${row.mode} spends ${share} % of its ${duration(row.total)} in kernels. Its floor, ${duration(floorOf(row))} of guards, dispatch, allocation and launch, stays however short the kernel is.`;
}

/** @param {import("../api/types.js").Point} point @param {readonly string[]} modes @returns {HTMLElement[]} */
export function splitSection(point, modes) {
  const rows = splitRows(point, modes);
  if (!rows.length) return [];
  const most = Math.max(...rows.map((r) => Math.max(r.total, r.total - r.rest)));
  const unit = timeUnit(rows.map((r) => r.total));
  const excess = rows.some((r) => r.rest < 0);
  const legend = [...PARTS.map((p) => ({ k: p.key, t: p.label.toLowerCase() })), { k: "rest", t: "not attributed" }];
  const where = typeof point.n === "number" ? ` at n = ${number(point.n)}` : "";
  const table = h("table", { id: "split-table" }, h("caption", { class: "vh" }, `Where one call's time goes${where}, ${unit.name}`),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Mode"), h("th", { scope: "col" }, h("span", { class: "vh" }, "As a bar")),
      PARTS.map((p) => h("th", { scope: "col", class: "r" }, p.label)), h("th", { scope: "col", class: "r" }, "Not attributed"), h("th", { scope: "col", class: "r" }, `Median, ${unit.name}`))),
    h("tbody", {}, rows.map((r) => {
      const step = stepOf(r.total / unit.scale);
      // Every part on the median's step: the row adds up as printed.
      const parts = r.parts.map((us) => Math.round(us / unit.scale / step) * step);
      const total = Math.round(r.total / unit.scale / step) * step;
      const rest = total - parts.reduce((a, b) => a + b, 0);
      return h("tr", {}, h("th", { scope: "row" }, modeMark(r.mode)), h("td", {}, bar(r, most)), parts.map((v) => h("td", { class: "r" }, toStep(v, step))),
        h("td", { class: "r dim" }, toStep(Math.abs(rest) < step / 2 ? 0 : rest, step).replace("-", "−")), h("td", { class: "r num-strong" }, toStep(total, step)));
    })));
  return [h("section", { class: "sec", "aria-label": "Where the floor comes from" },
    h("header", {}, h("h2", {}, "Where the floor comes from"), h("p", {}, `one call${where}, ${unit.name}`),
      h("div", { class: "acts legend" }, legend.map((l) => h("span", { class: "key" }, h("i", { class: `k-${l.k}` }), l.t)))),
    h("p", { class: "sub finding", id: "split-finding" }, finding(rows)),
    scroller("Where one call's time goes, table", table),
    excess ? h("p", { class: "small sub" }, "A negative rest: the parts are timed in calls of their own, and their clock readings add to a call.") : h("p", { class: "small sub" }, "Parts are timed in calls of their own; what they leave of the median is not attributed."))];
}
