// js/view/split.js -- one call's time as a stacked bar for each mode.
//
// All bars share one axis, so their lengths, the medians, compare; what no phase claims has a
// column of its own, so every row adds up as printed.

import { h, headRow, scroller, section, svg } from "./dom.js";
import { modeMark } from "./marks.js";
import { plain } from "../model/format.js";
import { PARTS, splitRows } from "../model/split.js";

const WIDTH = 260;

/** @param {import("../model/split.js").SplitRow} row @param {number} most */
function bar(row, most) {
  const w = (/** @type {number} */ share) => Math.max(0, ((share * row.median) / most) * WIDTH);
  const el = svg("svg", {
    class: "splitbar",
    width: WIDTH,
    height: 12,
    viewBox: `0 0 ${WIDTH} 12`,
    preserveAspectRatio: "none",
    "aria-hidden": "true",
  });
  let x = 0;
  row.shares.forEach((share, i) => {
    const kind = PARTS[i].key === "kernel" && row.mode === "eager" ? "eager" : PARTS[i].key;
    if (kind === "rest") {
      if (w(share) > 2) el.append(svg("rect", { class: "p-rest", x: x + 0.5, y: 0.5, width: w(share) - 1, height: 11 }));
    } else if (w(share) > 0)
      el.append(svg("rect", { class: `p-${kind}`, x, y: 0, width: Math.max(0.5, w(share) - 0.75), height: 12 }));
    x += w(share);
  });
  return el;
}

/** @param {import("../model/split.js").SplitRow} r @param {number} most @param {import("../api/report.js").ReportFindingsSplit} said */
function splitRow(r, most, said) {
  const cells = PARTS.map((p) => h("td", { class: p.key === "rest" ? "r dim" : "r" }, said[p.key]));
  return h("tr", {}, h("th", { scope: "row" }, modeMark(r.mode)), h("td", {}, bar(r, most)), cells, h("td", { class: "r num-strong" }, said.watched), h("td", { class: "r dim" }, said.median));
}

/**
 * @param {import("../api/types.js").Point} point
 * @param {readonly string[]} modes
 * @param {import("../api/report.js").ReportFindingsPoint | undefined} said of the point
 * @returns {HTMLElement[]} nothing where the run was not timed
 */
export function splitSection(point, modes, said) {
  const rows = said ? splitRows(point, modes, said) : [];
  if (!rows.length || !said) return [];
  const most = Math.max(...rows.map((r) => r.median));
  const where = typeof point.n === "number" ? ` at n = ${plain(point.n)}` : "";
  const parts = PARTS.map((p) => /** @type {[string, string]} */ ([p.label, "r"]));
  const head = headRow([
    "Mode",
    [null, "", "As a bar"],
    ...parts,
    [`Watched call, ${said.split_unit}`, "r"],
    ["Median unwatched", "r"],
  ]);
  const caption = h("caption", { class: "vh" }, `Where one call's time goes${where}, ${said.split_unit}`);
  const body = h(
    "tbody",
    {},
    rows.flatMap((r) => {
      const of = said.modes[r.mode]?.split;
      return of ? [splitRow(r, most, of)] : [];
    }),
  );
  const table = h("table", { id: "split-table" }, caption, head, body);
  const legend = PARTS.map((p) => h("span", { class: "key" }, h("i", { class: `k-${p.key}` }), p.label.toLowerCase()));
  const method =
    "Watched calls are measured separately, after the latencies; the cost of reading the clock is subtracted. A bar is as long as the median, with the parts of the watched call.";
  return [
    section(
      "Where a call's time goes",
      `one call${where}, ${said.split_unit}`,
      h("div", { class: "legend" }, legend),
      h("p", { class: "sub finding", id: "split-finding" }, said.split ?? ""),
      scroller("Where one call's time goes, table", table),
      h("p", { class: "small sub foot-note" }, method),
    ),
  ];
}
