// js/view/suite_over.js -- the suites of one name over time: how many pass, and each geometric mean with its whisker.

import { ci, h, headRow, scroller, section } from "./dom.js";
import { axisHead, whisker } from "./marks.js";
import { extent, ratioAxis } from "../model/axis.js";
import { date, plural, stamp } from "../model/format.js";
import { intervalOf } from "../model/sentence.js";
import { columnKey, columnName, compared, headline } from "../model/suite.js";

/** @typedef {import("../api/types.js").SuiteHead} SuiteHead */
/** @typedef {import("../api/types.js").SuiteColumn} SuiteColumn */

/** @param {SuiteColumn} c @returns {[number, import("../api/types.js").Interval | null][]} */
const meanOf = (c) => (c.geomean.common.speedup === null ? [] : [[c.geomean.common.speedup, c.geomean.common.speedup_ci]]);

/** Null where there is one of the name alone. @param {readonly SuiteHead[]} suites newest first @param {{id: string | number, name: string}} suite */
export function suiteOver(suites, suite) {
  const same = suites.filter((s) => s.name === suite.name);
  if (same.length < 2) return null;
  const columns = [...new Map(same.flatMap((s) => compared(s.columns)).map((c) => [columnKey(c), c])).values()];
  const axis = ratioAxis(extent(same.flatMap((s) => compared(s.columns).flatMap(meanOf))), 96);
  const cell = (/** @type {SuiteColumn | undefined} */ c) => {
    const f = c?.shown.geomean;
    const [mean] = c ? meanOf(c) : [];
    if (!c || !f || !mean) return [h("td", { class: "r dim" }, "none"), h("td", {})];
    return [h("td", { class: "r" }, h("span", { class: "num-strong" }, f.text), ci(intervalOf(f))), h("td", {}, whisker(axis, mean[0], mean[1], c.shown.verdict ?? "SAME"))];
  };
  const row = (/** @type {SuiteHead} */ s) => {
    const ms = s.created_ns / 1e6;
    const here = String(s.id) === String(suite.id);
    return h(
      "tr",
      { "aria-current": here ? "true" : null },
      h("th", { scope: "row" }, h("a", { href: `/suites/${encodeURIComponent(s.id)}` }, `#${s.id}`), here ? h("span", { class: "dim" }, " this one") : null),
      h("td", { class: "sub" }, h("time", { datetime: new Date(ms).toISOString(), title: stamp(ms) }, date(ms))),
      h("td", { class: "r" }, headline(s.columns)?.shown.passed ?? ""),
      columns.flatMap((c) => cell(s.columns.find((x) => columnKey(x) === columnKey(c)))),
    );
  };
  const heads = columns.flatMap((c) => /** @type {(string | [any, string] | [any, string, string])[]} */ ([[columnName(c), "r"], [axisHead(axis), "", `Interval, ${columnName(c)}`]]));
  const table = h("table", { id: "suite-over" }, h("caption", { class: "vh" }, "Suites of this name, newest first"), headRow(["Suite", "Date", ["Passed", "r"], ...heads]), h("tbody", {}, same.map(row)));
  return section("Over time", `${plural(same.length, "suite")} of this name, newest first; geometric means over the common set of each`, null, scroller("Suites of this name, table", table));
}
