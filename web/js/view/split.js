// js/view/split.js -- one call's time as a stacked bar for each mode.
//
// All bars share one axis, so their lengths compare; what no phase claims has a
// column of its own, so every row adds up as printed.

import { h, svg, scroller } from "./dom.js";
import { modeMark } from "./marks.js";
import { duration, number, plain, shares, stepOf, timeUnit, toStep } from "../model/format.js";
import { PARTS, addUp, splitRows, summary } from "../model/split.js";
import { headline } from "../model/verdict.js";

const WIDTH = 260;

/** @param {import("../model/split.js").SplitRow} row @param {number} most */
function bar(row, most) {
  const w = (/** @type {number} */ us) => Math.max(0, (us / most) * WIDTH);
  const el = svg("svg", { class: "splitbar", width: WIDTH, height: 12, viewBox: `0 0 ${WIDTH} 12`, preserveAspectRatio: "none", "aria-hidden": "true" });
  let x = 0;
  row.parts.forEach((us, i) => {
    const kind = PARTS[i].key === "kernel" && row.mode === "eager" ? "eager" : PARTS[i].key;
    if (kind === "rest") {
      if (w(us) > 2) el.append(svg("rect", { class: "p-rest", x: x + 0.5, y: 0.5, width: w(us) - 1, height: 11 }));
    } else if (w(us) > 0) el.append(svg("rect", { class: `p-${kind}`, x, y: 0, width: Math.max(0.5, w(us) - 0.75), height: 12 }));
    x += w(us);
  });
  return el;
}

/** @param {import("../model/split.js").SplitRow[]} rows */
function finding(rows) {
  const name = headline(rows.map((r) => r.mode));
  const row = rows.find((r) => r.mode === name) ?? rows[0];
  const { floor, kernel, rest } = summary(row);
  const [share, , unclaimed] = shares([kernel, floor, rest], row.watched);
  const claimed = unclaimed >= 10 ? ` ${unclaimed} % are not attributed to any phase.` : "";
  return `${row.mode} spends ${share} % of a call in kernels. Its floor, ${duration(floor)} of guards, dispatch, allocation and launch, stays however short the kernels are.${claimed}`;
}

/** @param {import("../api/types.js").Point} point @param {readonly string[]} modes @returns {HTMLElement[]} */
export function splitSection(point, modes) {
  const rows = splitRows(point, modes);
  if (!rows.length) return [];
  const most = Math.max(...rows.map((r) => r.watched));
  const unit = timeUnit(rows.map((r) => r.watched));
  const where = typeof point.n === "number" ? ` at n = ${plain(point.n)}` : "";
  const table = h("table", { id: "split-table" }, h("caption", { class: "vh" }, `Where one call's time goes${where}, ${unit.name}`),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Mode"), h("th", { scope: "col" }, h("span", { class: "vh" }, "As a bar")),
      PARTS.map((p) => h("th", { scope: "col", class: "r" }, p.label)), h("th", { scope: "col", class: "r" }, `Watched call, ${unit.name}`), h("th", { scope: "col", class: "r" }, "Median unwatched"))),
    h("tbody", {}, rows.map((r) => {
      const step = stepOf(r.watched / unit.scale);
      const exact = addUp(r.parts.map((us) => us / unit.scale), r.watched / unit.scale, step);
      return h("tr", {}, h("th", { scope: "row" }, modeMark(r.mode)), h("td", {}, bar(r, most)),
        exact.parts.map((v, i) => h("td", { class: PARTS[i].key === "rest" ? "r dim" : "r" }, toStep(v, step))),
        h("td", { class: "r num-strong" }, toStep(exact.sum, step)), h("td", { class: "r dim" }, number(r.median / unit.scale)));
    })));
  return [h("section", { class: "sec", "aria-label": "Where the floor comes from" },
    h("header", {}, h("h2", {}, "Where the floor comes from"), h("p", {}, `one call${where}, ${unit.name}`),
      h("div", { class: "acts legend" }, PARTS.map((p) => h("span", { class: "key" }, h("i", { class: `k-${p.key}` }), p.label.toLowerCase())))),
    h("p", { class: "sub finding", id: "split-finding" }, finding(rows)),
    scroller("Where one call's time goes, table", table),
    h("p", { class: "small sub foot-note" }, "Watched calls are taken after the latencies, in a run of their own; what the clock costs is taken off."))];
}
