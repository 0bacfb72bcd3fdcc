// js/view/graphs.js -- the captured graphs of one mode at one point, as a list:
// ops in order, inputs, kernels, guards, generated code.

import { h, add, button, copyButton, select } from "./dom.js";
import { remember } from "./router.js";
import { codeWell } from "./code.js";
import { duration, plain, plural } from "../model/format.js";
import { modesOf, pointsOf } from "../model/curves.js";
import { graphRows, opCounts } from "../model/graphs.js";
import { kernelStart } from "../model/source.js";
import { headline } from "../model/verdict.js";

/** @param {import("./router.js").Context} ctx @param {HTMLElement} body @param {import("../api/types.js").Run} run @param {import("../api/types.js").Report} report */
export function graphsTab(ctx, body, run, report) {
  const points = pointsOf(report);
  const modes = modesOf(points).filter((m) => m !== "eager");
  if (!modes.length) {
    return add(body, h("div", { class: "well gap" }, h("div", { class: "state" }, h("h2", {}, "Eager captures no graph"), h("p", {}, "Only eager was run: each op went to its kernel at once."),
      h("div", { class: "acts" }, h("a", { class: "btn primary", href: `/new?from=${encodeURIComponent(run.id)}&add=static` }, "Run static too")))));
  }
  let mode = modes.includes(ctx.query.get("mode") ?? "") ? String(ctx.query.get("mode")) : String(headline(modes));
  let at = points.findIndex((p) => p.n === Number(ctx.query.get("n") ?? NaN));
  if (at < 0) at = points.length - 1;
  const place = h("div");
  const fill = () => {
    const n = points[at].n;
    remember({ mode, n: typeof n === "number" ? String(n) : null });
    place.replaceChildren(...graphList(points[at], mode));
  };
  add(body, h("div", { class: "bar gap" }, h("h2", {}, "Captured graphs"), h("div", { class: "acts" },
    h("label", { class: "small sub", for: "graph-mode" }, "Mode"), select(modes.map((m) => ({ value: m, label: m })), mode, { id: "graph-mode" }, (v) => { mode = v; fill(); }),
    points.length > 1 ? [h("label", { class: "small sub", for: "graph-point" }, "Point"), select(points.map((p, i) => ({ value: String(i), label: `n = ${plain(p.n ?? 0)}` })).reverse(), String(at), { id: "graph-point" }, (v) => { at = Number(v); fill(); })] : null)), place);
  fill();
  return undefined;
}

/** @param {import("../api/types.js").Point} point @param {string} mode @returns {HTMLElement[]} */
function graphList(point, mode) {
  const m = point.modes[mode];
  if (!m) return [h("p", { class: "sub" }, `${mode} was not run at this point.`)];
  const graphs = graphRows(m);
  if (!graphs.length) return [h("p", { class: "sub" }, `${mode} captured no graph at this point.`)];
  const sections = graphs.map((g) => {
    const { compileMs, uses, cached } = g.facts;
    const facts = [plural(g.ops.length, "op"), plural(g.kernels.length, "kernel"), compileMs === null ? "" : `compiled in ${duration(compileMs * 1e3)}${cached ? " from the cache" : ""}`, uses === null ? "" : `used by ${plural(uses, "call")}`];
    return h("section", { class: "sec", "aria-label": g.title }, h("header", {}, h("h3", {}, g.title), h("p", {}, facts.filter(Boolean).join(" · "))),
      h("div", { class: "two graphcols" }, h("div", {}, opsPart(g), inputsPart(g), guardsPart(g)), h("div", {}, kernelsPart(g), codePart(g))));
  });
  const again = m.recompiles ?? [];
  if (again.length) {
    sections.push(h("section", { class: "sec", "aria-label": "Recompiles" }, h("header", {}, h("h3", {}, plural(again.length, "recompile"))),
      h("ul", { class: "lines" }, again.map((r) => h("li", {}, `call ${r.call}, ${r.frame}: `, h("code", {}, r.reason ?? ""))))));
  }
  return sections;
}

/** @param {import("../model/graphs.js").GraphRow} g */
function opsPart(g) {
  const counts = opCounts(g.ops.map((o) => o.name));
  return h("div", { class: "part" }, h("h4", {}, "Ops in order"),
    counts.length > 1 && counts[0].n > 1 ? h("p", { class: "small sub" }, counts.map((c) => (c.n > 1 ? `${c.n} ${c.op}` : c.op)).join(", ")) : null,
    h("ol", { class: "ops" }, g.ops.map((op, i) => h("li", { title: op.line ? `line ${op.line}` : null }, h("span", { class: "dim" }, i), h("code", {}, op.name), h("span", { class: "dim" }, op.about)))));
}

/** @param {string} title @param {readonly string[]} lines @param {string} none */
function linesPart(title, lines, none) {
  return h("div", { class: "part" }, h("h4", {}, title), lines.length ? h("ul", { class: "lines" }, lines.map((x) => h("li", {}, h("code", {}, x)))) : h("p", { class: "small sub" }, none));
}

/** @param {import("../model/graphs.js").GraphRow} g */
const inputsPart = (g) => linesPart("Inputs", g.inputs, "None: every value is a constant.");

/** @param {import("../model/graphs.js").GraphRow} g */
const guardsPart = (g) => linesPart("Guards", g.guards, "None: the graph serves every call.");

/** @param {import("../model/graphs.js").GraphRow} g */
const kernelsPart = (g) => linesPart("Kernels", g.kernels, "None: nothing had to be computed.");

/** The kernel itself; the vector words that every kernel shares are folded away. @param {import("../model/graphs.js").GraphRow} g */
function codePart(g) {
  if (!g.code) return h("p", { class: "small sub" }, "No generated code: the interpreter runs ready-made loops.");
  const start = kernelStart(g.code);
  const well = (/** @type {number} */ from) => codeWell(g.code, `Generated C of ${g.title}`, { language: "c", from });
  const place = h("div", {}, well(start));
  const all = start > 1 ? button(`Show lines 1 to ${start - 1}`, () => { place.replaceChildren(well(1)); all?.remove(); }, { title: "The vector words that every kernel shares" }) : null;
  return h("div", { class: "part" }, h("div", { class: "bar" }, h("h4", {}, "Generated C"), h("div", { class: "acts" }, all, copyButton(() => g.code))), place);
}
