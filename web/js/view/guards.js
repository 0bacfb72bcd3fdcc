// js/view/guards.js -- the tree of cache entries: frames, their entries, which guard failed
// first, what that cost, how often each served, and what would fit.

import { add, h, loadStyle, prose, spoken, stateWell, svg } from "./dom.js";
import { chosen } from "./choose.js";
import { viewUrl } from "./joined.js";
import { plural } from "../model/format.js";
import { frameTrees } from "../model/guards.js";
import { modesOf, pointsOf } from "../model/curves.js";
import { placeOf, placeText } from "../model/places.js";
import { saidOf } from "../model/sentence.js";

/** @typedef {import("../model/guards.js").Version} Version */
/** @typedef {import("../model/guards.js").FrameTree} FrameTree */
/** @typedef {import("../api/report.js").ReportFindingsVersion["causes"][number]} Cause */

const BAR = 64;

/**
 * @param {import("./router.js").Context} ctx
 * @param {HTMLElement} body
 * @param {import("../api/types.js").Run} run
 * @param {import("../api/types.js").Report} report
 */
export async function guardsTab(ctx, body, run, report) {
  await loadStyle("guards");
  if (ctx.signal.aborted) return undefined;
  const points = pointsOf(report);
  const modes = modesOf(points).filter((m) => m !== "eager");
  if (!modes.length) return add(body, noModes(run));
  const draw = (/** @type {import("../api/types.js").Point} */ point, /** @type {string} */ mode) => parts(run, point, mode);
  add(body, chosen(ctx, "Recompiles", points, modes, draw));
  return undefined;
}

/** @param {import("../api/types.js").Run} run */
function noModes(run) {
  const more = h("a", { class: "btn primary", href: `/new?from=${encodeURIComponent(run.id)}&add=auto` }, "Run auto too");
  return stateWell("Eager compiles nothing", h("p", {}, "Only eager was run: there is no cache entry, and no guard that could fail."), h("div", { class: "acts" }, more));
}

/** @param {import("../api/types.js").Run} run @param {import("../api/types.js").Point} point @param {string} mode @returns {HTMLElement[]} */
function parts(run, point, mode) {
  const m = point.modes[mode];
  if (!m) return [h("p", { class: "sub" }, `${mode} was not run at this point.`)];
  if (mode === "lazy") return [lazy(run)];
  const said = saidOf(run, point, mode);
  const tree = frameTrees(m, said);
  if (!tree.length) return [h("p", { class: "sub" }, `${mode} compiled nothing at this point.`)];
  return [...verdict(said?.guards), ...tree.map((f, i) => frameSection(run, f, tree, i === 0))];
}

/** @param {import("../api/types.js").Run} run */
function lazy(run) {
  const traces = h("a", { class: "btn", href: `/runs/${encodeURIComponent(run.id)}/breaks?mode=lazy` }, "Traces that were run");
  return stateWell("Mode lazy has no guards", h("p", {}, "Every call records its ops again, and the trace is looked up by its hash: another size has another hash, and is compiled."), h("div", { class: "acts" }, traces));
}

/** @param {import("../api/report.js").ReportFindingsVerdict | undefined} said */
const verdict = (said) => (said ? [h("section", { class: "verdict", "aria-label": "Verdict" }, h("p", {}, spoken(said.sentence)), h("p", { class: "how" }, said.how))] : []);

/** @param {import("../api/types.js").Run} run @param {FrameTree} f @param {readonly FrameTree[]} tree @param {boolean} first */
function frameSection(run, f, tree, first) {
  const line = f.line ? h("a", { href: viewUrl(run, "source", placeOf(f)) }, placeText(f)) : null;
  const head = h("header", {}, h("h3", {}, h("code", {}, f.name)), h("p", {}, line, line && f.facts ? " · " : "", f.facts));
  const section = h("section", { class: "sec frame", "aria-label": `Frame ${f.name}, ${placeText(f)}` }, head);
  if (f.notice) add(section, h("p", { class: "notice" }, prose(f.notice)));
  if (!f.versions.length) return section;
  const titles = h("div", { class: "vrow small dim", "aria-hidden": "true" }, ["Entry", "Why it was compiled", "Compile", "Guards", "Used"].map((t, i) => h("span", { class: i > 1 ? "r" : null }, t)));
  const longest = Math.max(...tree.flatMap((x) => x.versions.map((v) => v.compileMs)));
  if (first) add(section, titles);
  add(section, h("ol", { class: "versions" }, f.versions.map((v) => h("li", {}, versionRow(v, longest, f.versions.length > 1), guardList(v)))));
  return section;
}

/** @param {Version} v @param {number} longest @param {boolean} several versions of the frame: a use or none is worth a look */
function versionRow(v, longest, several) {
  const why = h("div", { class: "why" });
  const { causes, symbols, bailed } = v.said;
  if (!causes.length) add(why, h("p", {}, `first seen in call ${v.call}`));
  const cause = (/** @type {Cause} */ c) => h("p", {}, h("code", {}, c.text), h("span", { class: "dim" }, ` failed first in ${c.version}, call ${v.call}`));
  add(why, causes.slice(0, 1).map(cause));
  if (causes.length > 1) add(why, h("details", { class: "older" }, h("summary", { class: "small" }, `and in ${plural(causes.length - 1, "older entry", "older entries")}`), causes.slice(1).map(cause)));
  for (const fit of v.fits) add(why, h("p", { class: "fit" }, h("b", {}, "Advice: "), fit));
  if (symbols) add(why, h("p", { class: "sub" }, "symbols ", h("code", {}, symbols)));
  if (bailed) add(why, h("p", { class: "sub" }, bailed));
  const width = longest > 0 ? Math.max(1, (v.compileMs / longest) * BAR) : 0;
  const bar = svg("svg", { class: "cellbar", width: BAR, height: 6, "aria-hidden": "true" }, svg("rect", { class: "bg", width: BAR, height: 6 }), svg("rect", { class: "p-frame", width, height: 6 }));
  const used = h("span", { class: several && v.few ? "r few" : "r" }, h("span", { class: "vh" }, "used by "), v.said.used);
  return h("div", { class: "vrow" }, h("span", { class: "mono" }, v.id), why, h("span", { class: "r" }, bar, " ", h("span", { class: "took" }, v.said.compile)), h("span", { class: "r x" }, String(v.guards.length), h("span", { class: "vh" }, " guards")), used);
}

/** @param {Version} v */
function guardList(v) {
  if (!v.guards.length) return h("p", { class: "guards small sub" }, "No guards: it serves every call.");
  const failed = v.guards.filter((g) => g.failed.length).length;
  const line = (/** @type {import("../model/guards.js").Guard} */ g) =>
    h("li", { class: g.failed.length ? "failed" : null }, h("code", {}, g.text), g.failed.map((f) => h("span", { class: "small" }, ` failed in call ${f.call}: ${f.by} was compiled`)));
  const summary = h("summary", { class: "small" }, plural(v.guards.length, "guard"), failed ? `, ${failed} of them failed later` : "");
  return h("details", { class: "guards" }, summary, h("ol", { class: "lines" }, v.guards.map(line)));
}
