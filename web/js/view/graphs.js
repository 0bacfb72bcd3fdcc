// js/view/graphs.js -- the captured graphs of one mode at one point, as a list:
// ops in order, inputs, kernels, guards, generated code.

import { h, add, button, copyButton, stateWell } from "./dom.js";
import { chosen } from "./choose.js";
import { codeWell } from "./code.js";
import { duration, plural } from "../model/format.js";
import { modesOf, pointsOf } from "../model/curves.js";
import { graphRows, opCounts } from "../model/graphs.js";
import { kernelsSection } from "./kernels.js";
import { kernelStart } from "../model/source.js";
import { fileUrl } from "../api/client.js";
import { lineLinks, markLines, viewUrl } from "./joined.js";
import { picked } from "./pick.js";
import { GraphPicture } from "./picture.js";

/** @typedef {import("../model/graphs.js").GraphRow} GraphRow */

// A training step has a hundred guards: a list of more lines than MANY shows FEW.
const MANY_LINES = 24;
const FEW_LINES = 16;

/**
 * @param {import("./router.js").Context} ctx
 * @param {HTMLElement} body
 * @param {import("../api/types.js").Run} run
 * @param {import("../api/types.js").Report} report
 */
export function graphsTab(ctx, body, run, report) {
  const points = pointsOf(report);
  const modes = modesOf(points).filter((m) => m !== "eager");
  if (!modes.length) return add(body, noGraphs(run));
  const device = report.device ?? {};
  let shown = new AbortController();
  const draw = (/** @type {import("../api/types.js").Point} */ point, /** @type {string} */ mode) => {
    shown.abort();
    shown = new AbortController();
    return graphList({ ctx, run, signal: AbortSignal.any([ctx.signal, shown.signal]) }, point, mode, device);
  };
  add(body, chosen(ctx, "Captured graphs", points, modes, draw));
  return undefined;
}

/** @param {import("../api/types.js").Run} run */
function noGraphs(run) {
  const more = h(
    "a",
    { class: "btn primary", href: `/new?from=${encodeURIComponent(run.id)}&add=static` },
    "Run static too",
  );
  const why = h("p", {}, "Only eager was run: each op went to its kernel at once.");
  return stateWell("Eager captures no graph", why, h("div", { class: "acts" }, more));
}

/** @typedef {{ctx: import("./router.js").Context, run: import("../api/types.js").Run, signal: AbortSignal}} Page */

/**
 * @param {Page} page
 * @param {import("../api/types.js").Point} point
 * @param {string} mode
 * @param {object} device
 * @returns {HTMLElement[]}
 */
function graphList(page, point, mode, device) {
  const m = point.modes[mode];
  if (!m) return [h("p", { class: "sub" }, `${mode} was not run at this point.`)];
  const graphs = graphRows(m);
  if (!graphs.length) return [h("p", { class: "sub" }, `${mode} captured no graph at this point.`)];
  const again = m.recompiles ?? [];
  const first = firstShown(m.graphs ?? []);
  const sections = graphs.map((g, i) => graphSection(page, g, pictureFor(page, point, mode, m.graphs?.[i] ?? {}, g.title, i, i === first)));
  const all = [...sections, ...kernelsSection(page.run, m, device), ...(again.length ? [recompileSection(again)] : [])];
  for (const section of all) markLines(page.signal, section);
  return all;
}

/** The graph that is picked, else the first with something of the picked line. @param {readonly import("../api/types.js").Graph[]} graphs */
function firstShown(graphs) {
  const { graph, line } = picked();
  const named = graphs.findIndex((g, i) => String(g.id ?? i) === graph);
  const of = graphs.findIndex((g) => line > 0 && g.nodes?.some((n) => n.line === line));
  return Math.max(0, named >= 0 ? named : of);
}

/** The first at once, the others when they are asked for: each is as dear as a page.
 * @param {Page} page @param {import("../api/types.js").Point} point @param {string} mode
 * @param {import("../api/types.js").Graph} graph @param {string} title @param {number} i @param {boolean} now */
function pictureFor({ ctx, run, signal }, point, mode, graph, title, i, now) {
  const n = typeof point.n === "number" ? `&n=${point.n}` : "";
  const of = `mode=${encodeURIComponent(mode)}${n}&graph=${graph.id ?? i}`;
  const asked = {
    graph,
    title,
    signal,
    query: now ? ctx.query : new URLSearchParams(),
    sourceUrl: (/** @type {number} */ line) => viewUrl(run, "source", { line }),
    exportUrl: (/** @type {string} */ format) => `${fileUrl(String(run.id), "export")}?format=${format}&${of}`,
  };
  if (now) return new GraphPicture(asked).el;
  const place = h("div", { class: "acts" });
  add(place, button("Show the picture", () => place.replaceWith(new GraphPicture(asked).el)));
  return place;
}

/** @param {Page} page @param {GraphRow} g @param {HTMLElement} picture */
function graphSection(page, g, picture) {
  const { compileMs, uses, cached, later, copies } = g.facts;
  const facts = [plural(g.ops.length, "op"), plural(g.kernels.length, "kernel")];
  if (copies) facts.push(`${copies} of them only ${copies === 1 ? "copies" : "copy"}`);
  if (compileMs !== null) facts.push(`compiled in ${duration(compileMs * 1e3)}${cached ? " from the cache" : ""}`);
  if (later) facts.push("compiled for a later call, as timing began");
  else if (uses !== null) facts.push(`used by ${plural(uses, "call")}`);
  const inputs = linesPart("Inputs", g.inputs, "None: every value is a constant.");
  const guards = linesPart("Guards", g.guards, "None: the graph serves every call.");
  const kernels = kernelsPart(page, g);
  const recording = g.recording.length ? sentencesPart("Recording", g.recording) : null;
  const columns = [h("div", {}, opsPart(page, g), inputs, guards), h("div", {}, kernels, recording, codePart(g))];
  const head = h("header", {}, h("h3", {}, g.title), h("p", {}, facts.join(" · ")));
  return h("section", { class: "sec", "aria-label": g.title }, head, picture, h("div", { class: "two" }, columns));
}

/** @param {readonly import("../api/types.js").Recompile[]} again */
function recompileSection(again) {
  const lines = again.map((r) => h("li", {}, `call ${r.call}, ${r.frame}: `, h("code", {}, r.reason ?? "")));
  const head = h("header", {}, h("h3", {}, plural(again.length, "recompile")));
  return h("section", { class: "sec", "aria-label": "Recompiles" }, head, h("ul", { class: "lines" }, lines));
}

/** @param {Page} page @param {GraphRow} g */
function opsPart(page, g) {
  const counts = opCounts(g.ops.map((o) => o.name));
  const repeated = counts.length > 1 && counts[0].n > 1;
  const total = counts.map((c) => (c.n > 1 ? `${c.n} ${c.op}` : c.op)).join(", ");
  const items = g.ops.map((op, i) => {
    const [at, name, about] = [
      h("span", { class: "dim" }, i),
      op.line ? h("a", { class: "plain", href: viewUrl(page.run, "source", { line: op.line }) }, h("code", {}, op.name)) : h("code", {}, op.name),
      h("span", { class: "dim" }, op.about),
    ];
    return h("li", { title: op.line ? `line ${op.line}` : null, data: { lines: op.line ?? undefined } }, at, name, about);
  });
  const sum = repeated ? h("p", { class: "small sub" }, total) : null;
  return h("div", { class: "part" }, h("h4", {}, "Ops in order"), sum, h("ol", { class: "ops" }, items));
}

/**
 * @param {string} title
 * @param {readonly string[]} lines
 * @param {string} none what it means that there are none
 */
function linesPart(title, lines, none) {
  const item = (/** @type {string} */ x) => h("li", {}, h("code", {}, x));
  const few = lines.length > MANY_LINES ? lines.slice(0, FEW_LINES) : lines;
  const list = lines.length ? h("ul", { class: "lines" }, few.map(item)) : h("p", { class: "small sub" }, none);
  const part = h("div", { class: "part" }, h("h4", {}, title), list);
  if (few.length < lines.length) {
    const all = button(`Show all ${lines.length}`, () => {
      list.replaceChildren(...lines.map(item));
      all.remove();
    });
    add(part, h("div", { class: "acts" }, all));
  }
  return part;
}

/** @param {string} title @param {readonly string[]} lines */
function sentencesPart(title, lines) {
  const list = h("ul", { class: "lines" }, lines.map((x) => h("li", {}, x)));
  return h("div", { class: "part" }, h("h4", {}, title), list);
}

/**
 * Each kernel, what it moves, and why it is its own.
 * @param {Page} page
 * @param {GraphRow} g
 */
function kernelsPart(page, g) {
  if (!g.kernels.length) return linesPart("Kernels", [], "None: nothing had to be computed.");
  const items = g.kernels.map((k) => {
    const about = k.about ? h("span", { class: "dim" }, ` ${k.about}`) : null;
    const why = k.why ? h("span", { class: "why" }, k.why) : null;
    const lines = k.lines.length ? [" ", lineLinks(page.run, k.lines)].flat() : [];
    return h("li", { data: { lines: k.lines.join(" ") } }, h("code", {}, k.name), lines, about, why);
  });
  const list = h("ol", { class: "lines", start: "0" }, items);
  const sub = h("p", { class: "small sub" }, "Under each: why is this its own kernel?");
  return h("div", { class: "part" }, h("h4", {}, "Kernels"), sub, list);
}

/**
 * The kernel itself; the vector words that every kernel shares are folded away.
 * @param {GraphRow} g
 */
function codePart(g) {
  if (!g.code) return h("p", { class: "small sub" }, "No generated code: the interpreter runs ready-made loops.");
  const start = kernelStart(g.code);
  const well = (/** @type {number} */ from) => codeWell(g.code, `Generated C of ${g.title}`, { language: "c", from });
  const place = h("div", {}, well(start));
  const acts = h("div", { class: "acts" });
  if (start > 1) {
    const all = button(
      `Show lines 1 to ${start - 1}`,
      () => {
        place.replaceChildren(well(1));
        all.remove();
      },
      { title: "The vector words that every kernel shares" },
    );
    add(acts, all);
  }
  add(
    acts,
    copyButton(() => g.code),
  );
  return h("div", { class: "part" }, h("div", { class: "bar" }, h("h4", {}, "Generated C"), acts), place);
}
