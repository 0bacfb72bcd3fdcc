// js/view/graphs.js -- the captured graphs of one mode at one point, as a list:
// ops in order, inputs, kernels, guards, generated code.
//
// The pictures are painted first; then each graph's lists, a graph at a time.

import { h, add, button, copyButton, painted, stateWell } from "./dom.js";
import { chosen } from "./choose.js";
import { codeWell } from "./code.js";
import { plural } from "../model/format.js";
import { saidOf } from "../model/sentence.js";
import { pointsOf } from "../model/curves.js";
import { capturing, graphRows } from "../model/graphs.js";
import { kernelStart } from "../model/source.js";
import { fileUrl } from "../api/client.js";
import { lineLinks, markLines, viewUrl } from "./joined.js";
import { longList } from "./long_list.js";
import { picked } from "./pick.js";
import { GraphPicture } from "./picture.js";

/** @typedef {import("../model/graphs.js").GraphRow} GraphRow */

// A training step has a hundred guards and thousands of ops: lists show so many at first.
const FEW_LINES = 16;
const FEW_OPS = 120;
const FEW_KERNELS = 30;
const MOST_LINKS = 8; // lines of a kernel

/**
 * @param {import("./router.js").Context} ctx
 * @param {HTMLElement} body
 * @param {import("../api/types.js").Run} run
 * @param {import("../api/types.js").Report} report
 */
export async function graphsTab(ctx, body, run, report) {
  const points = pointsOf(report);
  const modes = capturing(points);
  if (!modes.length) return add(body, noGraphs(run));
  let shown = new AbortController();
  let filled = Promise.resolve();
  const draw = (/** @type {import("../api/types.js").Point} */ point, /** @type {string} */ mode) => {
    shown.abort();
    shown = new AbortController();
    const place = h("div");
    filled = graphList({ ctx, run, signal: AbortSignal.any([ctx.signal, shown.signal]) }, place, point, mode);
    return [place];
  };
  add(body, chosen(ctx, "Captured graphs", points, modes, draw));
  await filled;
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
 * @param {HTMLElement} place
 * @param {import("../api/types.js").Point} point
 * @param {string} mode
 */
async function graphList(page, place, point, mode) {
  const m = point.modes[mode];
  if (!m) return add(place, h("p", { class: "sub" }, `${mode} was not run at this point.`));
  const said = saidOf(page.run, point, mode);
  const graphs = graphRows(m, said);
  if (!graphs.length) return add(place, h("p", { class: "sub" }, `${mode} captured no graph at this point.`));
  const again = m.recompiles ?? [];
  const first = firstShown(m.graphs ?? []);
  const parts = graphs.map((g, i) => graphSection(g, pictureFor(page, point, mode, m.graphs?.[i] ?? {}, g.title, i, i === first)));
  // In their order: what is above is whole before anything comes below it.
  for (const [i, { section, lists }] of parts.entries()) {
    add(place, section);
    for (const column of columnsOf(page, graphs[i])) {
      if (i <= first) await painted();
      if (page.signal.aborted) return undefined;
      add(lists, column());
    }
    markLines(page.signal, section);
  }
  await painted();
  if (page.signal.aborted) return undefined;
  const rest = again.length ? [recompileSection(again)] : [];
  add(place, rest);
  for (const section of rest) markLines(page.signal, section);
  return undefined;
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

/** Its head and its picture, and the place of its lists. @param {GraphRow} g @param {HTMLElement} picture */
function graphSection(g, picture) {
  const head = h("header", {}, h("h3", {}, g.title), h("p", {}, g.facts.join(" · ")));
  const lists = h("div", { class: "two" });
  return { section: h("section", { class: "sec", "aria-label": g.title }, head, picture, lists), lists };
}

/** Two columns of lists, each to be made when the one before it is painted. @param {Page} page @param {GraphRow} g */
function columnsOf(page, g) {
  const inputs = () => linesPart(page, "Inputs", g.inputs, "None: every value is a constant.");
  const guards = () => linesPart(page, "Guards", g.guards, "None: the graph serves every call.");
  const recording = () => (g.recording.length ? sentencesPart("Recording", g.recording) : null);
  return [() => h("div", {}, opsPart(page, g), inputs(), guards()), () => h("div", {}, kernelsPart(page, g), recording(), codePart(g))];
}

/** @param {readonly import("../api/types.js").Recompile[]} again */
function recompileSection(again) {
  const lines = again.map((r) => h("li", {}, `call ${r.call}, ${r.frame}: `, h("code", {}, r.reason ?? "")));
  const head = h("header", {}, h("h3", {}, plural(again.length, "recompile")));
  return h("section", { class: "sec", "aria-label": "Recompiles" }, head, h("ul", { class: "lines" }, lines));
}

/** @param {Page} page @param {GraphRow} g */
function opsPart(page, g) {
  const item = (/** @type {import("../model/graphs.js").OpRow} */ op, /** @type {number} */ i) => {
    const [at, name, about] = [
      h("span", { class: "dim" }, i),
      op.line ? h("a", { class: "plain", href: viewUrl(page.run, "source", { line: op.line }) }, h("code", {}, op.name)) : h("code", {}, op.name),
      h("span", { class: "dim" }, op.about),
    ];
    return h("li", { title: op.line ? `line ${op.line}` : null, data: { lines: op.line ?? undefined } }, at, name, about);
  };
  const sum = g.counts ? h("p", { class: "small sub" }, g.counts) : null;
  const list = longList(page.signal, h("ol", { class: "ops" }), g.ops, item, FEW_OPS, (op, line) => op.line === line);
  return h("div", { class: "part" }, h("h4", {}, "Ops in order"), sum, list);
}

/**
 * @param {Page} page
 * @param {string} title
 * @param {readonly string[]} lines
 * @param {string} none what it means that there are none
 */
function linesPart(page, title, lines, none) {
  if (!lines.length) return h("div", { class: "part" }, h("h4", {}, title), h("p", { class: "small sub" }, none));
  const item = (/** @type {string} */ x) => h("li", {}, h("code", {}, x));
  const list = longList(page.signal, h("ul", { class: "lines" }), lines, item, FEW_LINES);
  return h("div", { class: "part" }, h("h4", {}, title), list);
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
  if (!g.kernels.length) return linesPart(page, "Kernels", [], "None: nothing had to be computed.");
  const item = (/** @type {import("../model/graphs.js").KernelRow} */ k) => {
    const about = k.about ? h("span", { class: "dim" }, ` ${k.about}`) : null;
    const why = k.why ? h("span", { class: "why" }, k.why) : null;
    const more = k.lines.length > MOST_LINKS ? ` and ${k.lines.length - MOST_LINKS} more` : "";
    const lines = k.lines.length ? [" ", lineLinks(page.run, k.lines.slice(0, MOST_LINKS)), more].flat() : [];
    return h("li", { data: { lines: k.lines.join(" ") } }, h("code", {}, k.name), lines, about, why);
  };
  const list = longList(page.signal, h("ol", { class: "lines", start: "0" }), g.kernels, item, FEW_KERNELS, (k, line) => k.lines.includes(line));
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
  const well = (/** @type {number} */ from) => codeWell(g.code, `Generated C of ${g.title}`, { language: "c", only: (n) => n >= from });
  const place = h("div", {}, well(start));
  const acts = h("div", { class: "acts" });
  if (start > 1) {
    const all = button(
      `Show lines 1 to ${start - 1}`,
      () => {
        place.replaceChildren(well(1));
        all.remove();
      },
      { title: "The vector functions that every kernel shares" },
    );
    add(acts, all);
  }
  add(
    acts,
    copyButton(() => g.code),
  );
  return h("div", { class: "part" }, h("div", { class: "bar" }, h("h4", {}, "Generated C"), acts), place);
}
