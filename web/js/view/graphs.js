// js/view/graphs.js -- the captured graphs of one mode at one point, as a list:
// ops in order, inputs, kernels, guards, generated code.

import { h, add, copyButton, scroller, select } from "./dom.js";
import { remember } from "./router.js";
import { codeWell } from "./code.js";
import { duration, number, plural } from "../model/format.js";
import { modesOf, pointsOf } from "../model/curves.js";
import { graphRows, opCounts } from "../model/graphs.js";
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
    points.length > 1 ? [h("label", { class: "small sub", for: "graph-point" }, "Point"), select(points.map((p, i) => ({ value: String(i), label: `n = ${number(p.n ?? 0)}` })).reverse(), String(at), { id: "graph-point" }, (v) => { at = Number(v); fill(); })] : null)), place);
  fill();
  return undefined;
}

/** @param {import("../api/types.js").Point} point @param {string} mode @returns {HTMLElement[]} */
function graphList(point, mode) {
  const m = point.modes[mode];
  if (!m) return [h("p", { class: "sub" }, `${mode} was not run at this point.`)];
  const graphs = graphRows(m);
  if (!graphs.length) return [h("p", { class: "sub" }, `${mode} captured no graph at this point.`)];
  return graphs.map((g) => {
    const facts = [plural(g.ops.length, "op"), g.kernels.length ? plural(g.kernels.length, "kernel") : "", g.compileMs === null ? "" : `compiled in ${duration(g.compileMs * 1e3)}`, g.lowered].filter(Boolean);
    return h("section", { class: "sec", "aria-label": g.title }, h("header", {}, h("h3", {}, g.title), h("p", {}, facts.join(" · "))),
      h("div", { class: "two graphcols" }, h("div", {}, opsPart(g), inputsPart(g), guardsPart(g)), h("div", {}, kernelsPart(g), codePart(g))));
  });
}

/** @param {import("../model/graphs.js").GraphRow} g */
function opsPart(g) {
  const counts = opCounts(g.ops);
  return h("div", { class: "part" }, h("h4", {}, "Ops in order"),
    counts.length > 1 && counts[0].n > 1 ? h("p", { class: "small sub" }, counts.map((c) => (c.n > 1 ? `${c.n} ${c.op}` : c.op)).join(", ")) : null,
    h("ol", { class: "ops" }, g.ops.map((op, i) => h("li", {}, h("span", { class: "dim" }, i), h("code", {}, op)))));
}

/** @param {import("../model/graphs.js").GraphRow} g */
function inputsPart(g) {
  return h("div", { class: "part" }, h("h4", {}, "Inputs"),
    g.placeholders.length ? h("ul", { class: "lines" }, g.placeholders.map((p) => h("li", {}, h("code", {}, p)))) : h("p", { class: "small sub" }, "None: every input was folded."));
}

/** @param {import("../model/graphs.js").GraphRow} g */
function guardsPart(g) {
  return h("div", { class: "part" }, h("h4", {}, "Guards"),
    g.guards.length ? h("ul", { class: "lines" }, g.guards.map((x) => h("li", {}, h("code", {}, x)))) : h("p", { class: "small sub" }, "The report lists none for this graph."));
}

/** @param {import("../model/graphs.js").GraphRow} g */
function kernelsPart(g) {
  if (!g.kernels.length) return h("div", { class: "part" }, h("h4", {}, "Kernels"), h("p", { class: "small sub" }, "The report lists none for this graph."));
  const hasOps = g.kernels.some((k) => k.ops.length);
  const table = h("table", {}, h("caption", { class: "vh" }, `Kernels of ${g.title}`), h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Kernel"), hasOps ? h("th", { scope: "col", class: "r" }, "Ops") : null)),
    h("tbody", {}, g.kernels.map((k) => h("tr", {}, h("th", { scope: "row" }, h("code", {}, k.name)), hasOps ? h("td", { class: "r" }, k.ops.length) : null))));
  return h("div", { class: "part" }, h("h4", {}, "Kernels"), scroller(`Kernels of ${g.title}, table`, table));
}

/** @param {import("../model/graphs.js").GraphRow} g */
function codePart(g) {
  const texts = g.code ? [{ name: "Generated C", code: g.code }] : g.kernels.filter((k) => k.code).map((k) => ({ name: `${k.name}, generated C`, code: k.code }));
  if (!texts.length) return h("p", { class: "small sub" }, "No generated code: the interpreter backend runs ready-made loops.");
  return h("div", {}, texts.map((t) => h("div", { class: "part" }, h("div", { class: "bar" }, h("h4", {}, t.name), h("div", { class: "acts" }, copyButton(() => t.code))), codeWell(t.code, `${t.name} of ${g.title}`, { language: "c" }))));
}
