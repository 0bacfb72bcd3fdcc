// js/view/since.js -- what changed since yesterday: verdicts beside the run before, suites of which something
// did not pass, and the runs that are pinned.

import { button, chip, ci, h, spoken } from "./dom.js";
import { compareUrl } from "../model/compare.js";
import { count, plural, ratio } from "../model/format.js";
import { chipClass } from "../model/sentence.js";

/** @typedef {import("../api/types.js").Since} Since */
/** @typedef {import("../api/types.js").RunRow} RunRow */

/** So many of a kind are shown at first. */
const FEW = 3;

/** Drawn again only where something is other than it was. @param {HTMLElement} place @param {Since} since */
export function sinceSection(place, since) {
  const all = ran(since);
  if (!all && !since.pinned.length) return place.replaceChildren();
  const said = JSON.stringify([since.runs, since.changes.map((c) => c.run.id), since.steps.map((c) => c.id), since.suites.map((s) => [s.id, s.runs]), since.pinned.map((r) => [r.id, r.name, r.tags, r.status])]);
  if (place.dataset.said === said) return undefined;
  place.dataset.said = said;
  const what = h("p", { class: "small dim" }, sinceSaid(since), " ", h("a", { href: "/digest" }, "this week"));
  const rows = [...group(since.steps, stepRow), ...group(since.changes, changeRow), ...group(since.suites, suiteRow), ...group(since.pinned, pinnedRow)];
  return place.replaceChildren(h("section", { id: "since", class: "since", "aria-labelledby": "since-title" }, h("header", { class: "bar" }, h("h2", { id: "since-title" }, "Since yesterday"), what), rows.length ? h("ul", {}, rows) : null));
}

/** @param {Since} since */
const ran = (since) => Object.values(since.runs).reduce((a, b) => a + b, 0);

/** "12 runs (11 done, 1 failed); no verdict changed". @param {Since} since */
export function sinceSaid(since) {
  const all = ran(since);
  if (!all) return "no runs";
  const parts = Object.entries(since.runs).flatMap(([status, n]) => (n && n < all ? [`${count(n)} ${status}`] : []));
  const changed = since.changed ? plural(since.changed, "verdict changed", "verdicts changed") : "no verdict changed";
  return `${plural(all, "run")}${parts.length ? ` (${parts.join(", ")})` : ""}; ${changed}${since.stepped ? `; ${plural(since.stepped, "step", "steps")} in histories` : ""}`;
}

/** What a digest has, each with its title, how many there are in all, and its rows. @param {Since} since @returns {[string, number, HTMLElement[]][]} */
export const sinceParts = (since) => [
  ["Steps in histories", since.stepped, since.steps.map(stepRow)],
  ["Verdicts that changed", since.changed, since.changes.map(changeRow)],
  ["Runs that failed", since.runs.failed ?? 0, since.failed.map(failedRow)],
  ["Suites of which something did not pass", since.suites.length, since.suites.map(suiteRow)],
  ["Pinned", since.pinned.length, since.pinned.map(pinnedRow)],
];

/** The first few, and a button for the rest. @template T @param {readonly T[]} all @param {(one: T) => HTMLElement} row */
function group(all, row) {
  const rest = all.slice(FEW);
  if (!rest.length) return all.map(row);
  const more = h("li", {}, button(`${plural(rest.length, "more", "more")}`, () => more.replaceWith(...rest.map(row)), { class: "btn link" }));
  return [...all.slice(0, FEW).map(row), more];
}

/** @param {RunRow} r */
const link = (r) => [h("a", { href: `/runs/${encodeURIComponent(r.id)}` }, r.name), " ", h("span", { class: "mono dim" }, `#${r.id}`)];

/** @param {RunRow} r */
function figureOf(r) {
  const s = r.summary;
  if (!s || s.speedup === null) return null;
  const x = ratio(s.speedup, s.speedup_ci);
  return h("span", {}, " ", h("span", { class: "num-strong" }, x.text), ...ci(x.interval), h("span", { class: "dim" }, ` ${s.mode}`));
}

/** @param {Since["changes"][number]} c */
const changeRow = ({ run, before, was }) =>
  h("li", {}, chip(chipClass(was), was), h("span", { "aria-hidden": "true" }, " → "), h("span", { class: "vh" }, " became "), chip(chipClass(run.summary?.verdict ?? ""), run.summary?.verdict ?? ""), " ", ...link(run), figureOf(run), " ", h("a", { href: compareUrl([String(before), String(run.id)]) }, `compared with #${before}`));

/** @param {Since["steps"][number]} c */
function stepRow(c) {
  const [first] = c.steps;
  const q = new URLSearchParams({ workload: c.workload, ...(first ? { metric: first.metric, mode: first.mode } : {}), ...(typeof first?.n === "number" ? { n: String(first.n) } : {}) });
  return h("li", {}, chip(chipClass(c.verdict), c.verdict), " ", h("a", { href: `/history?${q}` }, c.workload), " ", spoken(c.sentence));
}

/** @param {import("../api/types.js").SuiteHead} s */
const suiteRow = (s) => {
  const bad = Math.max(0, ...s.columns.map((c) => c.failed + c.disagrees));
  return h("li", {}, chip("failed", `${count(bad || s.runs.failed)} of ${count(s.common.of)}`), " did not pass in suite ", h("a", { href: `/suites/${encodeURIComponent(s.id)}` }, s.name), " ", h("span", { class: "mono dim" }, `#${s.id}`));
};

/** @param {RunRow} r */
const pinnedRow = (r) => h("li", {}, chip("plain", "pinned"), " ", ...link(r), " ", r.summary ? chip(chipClass(r.summary.verdict), r.summary.verdict) : chip(r.status, r.status === "failed" ? "FAILED" : r.status), figureOf(r));

/** @param {RunRow} r */
const failedRow = (r) => h("li", {}, chip("failed", "FAILED"), " ", ...link(r), " ", h("span", { class: "dim" }, r.error?.message ?? ""));
