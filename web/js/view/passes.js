// js/view/passes.js -- what each pass did to the graphs of one mode: which rules
// fired where, and the graph before and after it side by side.

import { h, add, scroller, spoken, stateWell } from "./dom.js";
import { chosen } from "./choose.js";
import { lineLinks } from "./joined.js";
import { duration, plural } from "../model/format.js";
import { modesOf, pointsOf } from "../model/curves.js";
import { saidOf } from "../model/sentence.js";
import { diffLines, folded, passRows, sideBySide } from "../model/passes.js";

/** @typedef {import("../model/passes.js").PassRow} PassRow */
/** @typedef {import("../model/passes.js").DiffRow} DiffRow */
/** @typedef {import("../api/types.js").Graph} Graph */
/** @typedef {import("../api/types.js").PassPart} PassPart */

const WORDS = { changed: "changed", unchanged: "unchanged", off: "switched off" };

/**
 * @param {import("./router.js").Context} ctx
 * @param {HTMLElement} body
 * @param {import("../api/types.js").Run} run
 * @param {import("../api/types.js").Report} report
 */
export function passesTab(ctx, body, run, report) {
  const points = pointsOf(report);
  const modes = modesOf(points).filter((m) => m !== "eager");
  if (!modes.length) return add(body, noGraphs(run));
  const draw = (/** @type {import("../api/types.js").Point} */ point, /** @type {string} */ mode) =>
    parts(point.modes[mode]?.graphs ?? [], mode, { run, said: saidOf(run, point, mode)?.passes, linksOf: (places) => lineLinks(run, places) });
  add(body, chosen(ctx, "Passes", points, modes, draw));
  return undefined;
}

/** @typedef {(places: readonly import("../model/places.js").Place[]) => import("./dom.js").Child[]} LineLinks */

/** @param {import("../api/types.js").Run} run */
function noGraphs(run) {
  const href = `/new?from=${encodeURIComponent(run.id)}&add=static`;
  const more = h("a", { class: "btn primary", href }, "Run static too");
  const why = h("p", {}, "Only eager was run: there is no graph that passes could change.");
  return stateWell("Eager captures no graph", why, h("div", { class: "acts" }, more));
}

/**
 * @param {readonly Graph[]} graphs
 * @param {string} mode
 * @param {{run: import("../api/types.js").Run, said: import("../api/report.js").ReportFindingsVerdict | undefined, linksOf: LineLinks}} shown
 * @returns {HTMLElement[]}
 */
function parts(graphs, mode, { run, said, linksOf }) {
  if (!graphs.length) return [h("p", { class: "sub" }, `${mode} captured no graph at this point.`)];
  const told = graphs.filter((g) => Array.isArray(g.passes));
  if (!told.length) return [notTold(run)];
  return [...verdict(said), ...told.map((g, i) => graphSection(g, i, linksOf))];
}

/** A report of an earlier version. @param {import("../api/types.js").Run} run */
function notTold(run) {
  const href = `/new?from=${encodeURIComponent(run.id)}`;
  const more = h("a", { class: "btn primary", href }, "Edit and run again");
  const why = h("p", {}, "An older version made it, without a record of the passes. Run it again to see them.");
  return stateWell("This report has no record of passes", why, h("div", { class: "acts" }, more));
}

/** @param {import("../api/report.js").ReportFindingsVerdict | undefined} said */
const verdict = (said) => (said ? [h("section", { class: "verdict", "aria-label": "Verdict" }, h("p", {}, spoken(said.sentence)), h("p", { class: "how" }, said.how))] : []);

/** @param {Graph} g @param {number} i @param {LineLinks} linksOf */
function graphSection(g, i, linksOf) {
  const title = `Graph ${g.id ?? i}, ${g.frame ?? "model"} ${g.compile ?? ""}`.trim();
  const head = h("header", {}, h("h3", {}, title), h("p", {}, plural(g.kernels?.length ?? 0, "kernel")));
  const lists = (g.passes ?? []).map((p) => partList(p, title, i === 0, linksOf));
  return h("section", { class: "sec", "aria-label": `Passes over ${title}` }, head, lists);
}

/**
 * @param {PassPart} part
 * @param {string} title
 * @param {boolean} first
 * @param {LineLinks} linksOf
 */
function partList(part, title, first, linksOf) {
  if (part.error) return h("div", { class: "notice" }, h("p", {}, h("b", {}, "The passes failed: "), part.error));
  const rows = passRows(part);
  const opened = first ? rows.findIndex((r) => r.state === "changed") : -1;
  const name = `${title}${part.part ? `, ${part.part}` : ""}`;
  const head = part.part ? h("h4", { class: "small sub" }, part.part) : null;
  const items = rows.map((r, i) => h("li", {}, passItem(r, i === opened, name, linksOf)));
  return h("div", { class: "part" }, head, h("ol", { class: "passes" }, items));
}

/** @param {PassRow} r @param {boolean} open @param {string} title @param {LineLinks} linksOf */
function passItem(r, open, title, linksOf) {
  const nodes = r.state === "changed" ? `${r.nodes[0]} \u2192 ${r.nodes[1]} nodes` : "";
  const rules = r.fired ? `${plural(r.fired, "rule")} fired` : "";
  const cells = [
    h("span", { class: "kind mono" }, r.name),
    h("span", { class: r.state === "changed" ? "state-word" : "dim" }, WORDS[r.state]),
    h("span", { class: "x" }, nodes),
    h("span", { class: "sub x" }, rules),
    h("span", { class: "dim r" }, r.state === "off" ? "" : duration(r.us)),
  ];
  if (r.plugin) add(cells[0], h("span", { class: "dim" }, ` ${r.plugin}`));
  if (r.state !== "changed") return h("div", { class: "row" }, cells);
  const body = h("div", { class: "body" });
  const details = h("details", {}, h("summary", { class: "row" }, cells), body);
  const fill = () => {
    if (!body.childElementCount) add(body, ruleList(r, linksOf), difference(r, title));
  };
  details.addEventListener("toggle", fill);
  if (open) {
    details.open = true;
    fill();
  }
  return details;
}

/** @param {PassRow} r @param {LineLinks} linksOf */
function ruleList(r, linksOf) {
  if (!r.rules.length) return h("p", { class: "small sub" }, "This pass reports no rules.");
  const items = r.rules.map((x) =>
    h(
      "li",
      {},
      h("code", {}, x.rule),
      h("span", { class: "dim" }, ` ${plural(x.count, "time")}`),
      x.places.length ? h("span", { class: "small" }, " ", linksOf(x.places)) : null,
    ),
  );
  return h("ul", { class: "lines", "aria-label": `Rules of ${r.name}` }, items);
}

/** @param {PassRow} r @param {string} title */
function difference(r, title) {
  if (r.before === null || r.after === null)
    return h("p", { class: "small sub" }, "The graph is left out here: it is over the limits of a report.");
  const lines = diffLines(r.before, r.after);
  if (lines.every((x) => x.kind === "same"))
    return h("p", { class: "small sub" }, "The text of the graph is the same.");
  // Two columns of code have no room on a narrow screen: there the lines that came are below those that went.
  const narrow = matchMedia("(max-width: 640px)").matches;
  const heads = narrow ? ["", `Before and after ${r.name}`] : ["", "Before", "", `After ${r.name}`];
  const tbody = h("tbody");
  if (narrow) {
    const rows = lines.map((x) => ({ ...x, same: x.kind === "same" }));
    for (const row of folded(rows)) add(tbody, typeof row === "number" ? skipped(row, 2) : lineRow(row));
  } else {
    for (const row of folded(sideBySide(lines))) add(tbody, typeof row === "number" ? skipped(row, 4) : diffRow(row));
  }
  const head = heads.map((t) => h("th", t ? { scope: "col" } : { "aria-hidden": "true" }, t));
  const caption = h("caption", { class: "vh" }, `${title} before and after ${r.name}`);
  const table = h("table", { class: narrow ? "diff one" : "diff" }, caption, h("thead", {}, h("tr", {}, head)), tbody);
  return h("div", { class: "well" }, scroller(`Before and after ${r.name}, ${title}`, table));
}

/** @param {number} n @param {number} columns */
const skipped = (n, columns) =>
  h("tr", { class: "skip-rows" }, h("td", { colspan: columns }, `${plural(n, "line")} unchanged`));

/**
 * A line with its sign: that says what the colour says.
 * @param {string | null} text
 * @param {"same" | "del" | "add"} kind
 */
function lineCells(text, kind) {
  if (text === null) return [h("td", { class: "sign" }), h("td", { class: "none" })];
  if (kind === "same") return [h("td", { class: "sign" }), h("td", { class: "same" }, text)];
  const mark = h("span", { "aria-hidden": "true" }, kind === "del" ? "\u2212" : "+");
  const word = h("span", { class: "vh" }, kind === "del" ? "removed" : "added");
  return [h("td", { class: `sign ${kind}` }, mark, word), h("td", { class: kind }, text)];
}

/** @param {DiffRow} row */
const diffRow = (row) =>
  h("tr", {}, lineCells(row.left, row.same ? "same" : "del"), lineCells(row.right, row.same ? "same" : "add"));

/** @param {import("../model/passes.js").DiffLine} line */
const lineRow = (line) => h("tr", {}, lineCells(line.text, line.kind));
