// js/view/suite_compare.js -- a suite against an earlier one: what broke, how speedups changed.

import { h, chip, ci, headRow, scroller, section, spoken } from "./dom.js";
import { cards, clamped, whoNarrow } from "./cards.js";
import { axisHead, modeMark, whisker } from "./marks.js";
import { ratioAxis } from "../model/axis.js";
import { compareSuites } from "../api/suites.js";
import { count, plural, stamp } from "../model/format.js";
import { columnName } from "../model/suite.js";
import { changed, turned } from "../model/suite_compare.js";
import { chipClass, intervalOf } from "../model/sentence.js";

/** @typedef {import("../model/suite_compare.js").ComparedSuites} ComparedSuites */
/** @typedef {import("../model/suite_compare.js").ComparedResult} ComparedResult */

const MOST_ROWS = 200;

/**
 * @param {string | number} id @param {string | number} base @param {AbortSignal} signal
 * @returns {Promise<(Node | null)[]>}
 */
export async function comparisonSections(id, base, signal) {
  const c = await compareSuites(id, base, signal);
  const when = stamp(c.before.created_ns / 1e6);
  const how = `Against ${c.before.name} #${c.before.id} of ${when}. Each speedup is over eager in the same suite, so the speed of the machine cancels out. One in twenty 95 % intervals misses by chance.`;
  const missing = [
    c.only_before.length ? `Only before: ${c.only_before.join(", ")}.` : "",
    c.only_after.length ? `New: ${c.only_after.join(", ")}.` : "",
  ].filter(Boolean);
  return [
    h("section", { class: "verdict", "aria-label": "Comparison", id: "suite-compared" }, h("p", {}, spoken(c.sentence)), h("p", { class: "how" }, how, missing.map((t) => ` ${t}`))),
    columns(c),
    turns(c),
    changes(c),
  ];
}

const num = (/** @type {import("./dom.js").Child | import("./dom.js").Child[]} */ x) => h("td", { class: "r" }, x);
const dim = (/** @type {string} */ x) => h("span", { class: "dim" }, x);

/** @param {import("../api/report.js").ReportFigure | null | undefined} f */
const change = (f) => (f ? [h("span", { class: "num-strong" }, f.text), ...ci(intervalOf(f))] : [dim("none")]);

/** @param {ComparedSuites} c */
function columns(c) {
  const axis = ratioAxis(c.columns.flatMap((x) => [x.geomean.ratio ?? 1, ...(x.geomean.ratio_ci ?? [])]), 120);
  const rows = c.columns.map((x) => {
    const g = x.geomean;
    return h(
      "tr",
      {},
      h("th", { scope: "row" }, modeMark(x.mode), whoNarrow(x)),
      h("td", { class: "who" }, x.policy),
      h("td", { class: "who" }, x.engine),
      num(x.pass_rates),
      num(x.broken ? chip("failed", count(x.broken)) : "0"),
      num(count(x.fixed)),
      num(change(g.figure)),
      h("td", {}, g.ratio === null ? null : whisker(axis, g.ratio, g.ratio_ci, g.verdict ?? "SAME")),
      h("td", {}, g.verdict ? chip(chipClass(g.verdict), g.verdict) : dim(x.mode === "eager" ? "baseline" : "none")),
      num(count(x.FASTER)),
      num(count(x.SLOWER)),
    );
  });
  const head = headRow(["Mode", "Policy", "Engine", ["Pass rate", "r"], ["Broken", "r"], ["Fixed", "r"], ["Geomean of ratios", "r"], [axisHead(axis), "", "Interval"], "Verdict", ["Rose", "r"], ["Fell", "r"]]);
  const table = h("table", { id: "suite-changes" }, h("caption", { class: "vh" }, "Changes by mode"), head, h("tbody", {}, rows));
  return section("Changes by mode", "speedup now over speedup before", null, scroller("Changes by mode, table", cards(table)));
}

/** @param {string} name @param {ComparedResult} r */
const linked = (name, r) => (r.run ? h("a", { href: `/runs/${encodeURIComponent(r.run)}` }, name) : name);

/** @param {ComparedSuites} c */
function turns(c) {
  const list = turned(c);
  if (!list.length) return null;
  const rows = list.slice(0, MOST_ROWS).map(({ name, r }) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, linked(name, r)),
      h("td", {}, columnName(r)),
      h("td", {}, chip(r.turn === "broken" ? "failed" : "FASTER", r.turn)),
      h("td", {}, r.run_before ? h("a", { href: `/runs/${encodeURIComponent(r.run_before)}` }, r.before) : r.before),
      h("td", {}, r.after),
      h("td", { class: "wrap why", data: { label: "" } }, r.turn === "broken" ? clamped(r.reason ?? "no reason was kept") : null),
    ),
  );
  const table = h("table", { id: "suite-turned" }, h("caption", { class: "vh" }, "Passes and failures that changed"), headRow(["Workload", "Mode", "Change", "Before", "Now", "Reason"]), h("tbody", {}, rows));
  const note = list.length > MOST_ROWS ? `the first ${MOST_ROWS} of ${count(list.length)}` : "broken: passed before, does not now; fixed: the other way round";
  return section("Passes and failures that changed", note, null, scroller("Passes and failures that changed, table", cards(table)));
}

/** @param {ComparedSuites} c */
function changes(c) {
  const list = changed(c);
  if (!list.length) return null;
  const axis = ratioAxis(list.flatMap(({ r }) => [r.ratio ?? 1, ...(r.ratio_ci ?? [])]), 120);
  const rows = list.slice(0, MOST_ROWS).map(({ name, r }) =>
    h(
      "tr",
      {},
      h("th", { scope: "row" }, linked(name, r)),
      h("td", {}, columnName(r)),
      num(r.shown_before ?? dim("none")),
      num(r.shown ?? dim("none")),
      num(change(r.figure)),
      h("td", {}, whisker(axis, r.ratio ?? 1, r.ratio_ci, r.verdict ?? "SAME")),
      h("td", {}, chip(chipClass(r.verdict ?? "SAME"), r.verdict ?? "SAME")),
    ),
  );
  const head = headRow(["Workload", "Mode", ["Before", "r"], ["Now", "r"], ["Change", "r"], [axisHead(axis), "", "Interval"], "Verdict"]);
  const table = h("table", { id: "suite-ratios" }, h("caption", { class: "vh" }, "Speedup changes"), head, h("tbody", {}, rows));
  const note = `${plural(list.length, "speedup")}, largest fall first${list.length > MOST_ROWS ? `; the first ${MOST_ROWS}` : ""}`;
  return section("Speedup changes", note, null, scroller("Speedup changes, table", cards(table)));
}
