// js/view/graphs.js -- the captured graphs of one mode at one point, one at a time: its source, picture and
// generated code side by side, and its lists: ops in order, inputs, guards, kernels.
//
// The picture is painted first.

import { h, add, painted, select, stateWell } from "./dom.js";
import { chosen } from "./choose.js";
import { plural } from "../model/format.js";
import { keyOf, placeText } from "../model/places.js";
import { saidOf } from "../model/sentence.js";
import { pointsOf } from "../model/curves.js";
import { capturing, graphRows } from "../model/graphs.js";
import { fileUrl } from "../api/client.js";
import { fileStem } from "../model/commands.js";
import { lineLinks, markLines, viewUrl } from "./joined.js";
import { longList } from "./long_list.js";
import { GraphPanes } from "./panes.js";
import { onPick, pick, picked } from "./pick.js";
import { remember } from "./router.js";
import { tears } from "./tears.js";

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
 * One graph at a time, chosen above it: what is picked elsewhere brings its own.
 * @param {Page} page
 * @param {HTMLElement} place
 * @param {import("../api/types.js").Point} point
 * @param {string} mode
 */
async function graphList(page, place, point, mode) {
  const m = point.modes[mode];
  if (!m) return add(place, h("p", { class: "sub" }, `${mode} was not run at this point.`));
  const rows = graphRows(m, saidOf(page.run, point, mode));
  if (!rows.length) return add(place, h("p", { class: "sub" }, `${mode} captured no graph at this point.`));
  const graphs = m.graphs ?? [];
  const idOf = (/** @type {number} */ i) => String(graphs[i].id ?? i);
  const below = h("div");
  let [at, shown] = [-1, new AbortController()];
  const show = (/** @type {number} */ i) => {
    at = i;
    choose.value = i < 0 ? "all" : idOf(i);
    shown.abort();
    shown = new AbortController();
    below.replaceChildren();
    const signal = AbortSignal.any([page.signal, shown.signal]);
    remember({ graphs: i < 0 ? "all" : null });
    if (i < 0) return tears({ run: page.run, mode, m, said: saidOf(page.run, point, mode), signal }, below);
    return oneGraph({ ...page, signal }, below, { point, mode, graph: graphs[i], row: rows[i], i });
  };
  const options = [{ value: "all", label: `all ${rows.length}, torn where they break` }, ...rows.map((r, i) => ({ value: idOf(i), label: r.title }))];
  const choose = select(options, idOf(0), { id: "graph-of", "aria-label": "Graph" }, (v) => {
    remember({ step: null, piece: null });
    if (v !== "all") return pick({ graph: v });
    pick({});
    return show(-1);
  });
  if (rows.length > 1) add(place, h("div", { class: "bar graphbar" }, h("label", { class: "small sub", for: "graph-of" }, "Graph"), choose));
  add(place, below);
  onPick(page.signal, () => {
    const wanted = at < 0 && !picked().graph ? at : shownNow(graphs, at);
    if (wanted !== at) show(wanted);
  });
  await show(page.ctx.query.get("graphs") === "all" && rows.length > 1 && !picked().graph ? -1 : shownNow(graphs, 0));
  if (page.signal.aborted || !m.recompiles?.length) return undefined;
  add(place, recompileSection(m.recompiles));
  return undefined;
}

/** The graph that is picked, else the one that is shown if it has something of the picked line, else the first that has.
 * @param {readonly import("../api/types.js").Graph[]} graphs @param {number} now */
function shownNow(graphs, now) {
  const { graph, line, file } = picked();
  const named = graphs.findIndex((g, i) => String(g.id ?? i) === graph);
  if (named >= 0) return named;
  const has = (/** @type {import("../api/types.js").Graph} */ g) => !!g.nodes?.some((n) => n.line === line && (n.file ?? "") === file);
  return line > 0 && graphs[now] && !has(graphs[now]) && graphs.some(has) ? graphs.findIndex(has) : Math.max(0, now);
}

/** Its panes at once, then its lists. @param {Page} page @param {HTMLElement} place
 * @param {{point: import("../api/types.js").Point, mode: string, graph: import("../api/types.js").Graph, row: GraphRow, i: number}} of */
async function oneGraph(page, place, { point, mode, graph, row, i }) {
  const { ctx, run, signal } = page;
  const n = typeof point.n === "number" ? `&n=${point.n}` : "";
  const of = `mode=${encodeURIComponent(mode)}${n}&graph=${graph.id ?? i}`;
  const panes = new GraphPanes({
    graph,
    title: row.title,
    signal,
    query: ctx.query,
    run,
    source: point.source || run.workload?.source || run.report?.workload?.source || "",
    said: saidOf(run, point, mode),
    mode: point.modes[mode],
    sourceUrl: (/** @type {import("../model/places.js").Place} */ place) => viewUrl(run, "source", place),
    exportUrl: (/** @type {string} */ format) => `${fileUrl(String(run.id), "export")}?format=${format}&${of}`,
    fileName: [fileStem(run.name), run.id, "graph", graph.id ?? i, mode].join("_"),
  });
  const lists = h("div", { class: "two" });
  const head = h("header", {}, h("h3", {}, row.title), h("p", {}, row.facts.join(" \u00b7 ")), h("div", { class: "acts" }, panes.choice));
  const section = h("section", { class: "sec", "aria-label": row.title }, head, panes.el, lists);
  add(place, section);
  const [ops, rest] = columnsOf(page, row);
  await painted();
  if (signal.aborted) return;
  add(lists, ops());
  await panes.fill();
  if (signal.aborted) return;
  add(lists, rest());
  markLines(signal, section);
}

/** Two columns of lists, each to be made when the one before it is painted. @param {Page} page @param {GraphRow} g */
function columnsOf(page, g) {
  const inputs = () => linesPart(page, "Inputs", g.inputs, "None: every value is a constant.");
  const guards = () => linesPart(page, "Guards", g.guards, "None: the graph serves every call.");
  const recording = () => (g.recording.length ? sentencesPart("Recording", g.recording) : null);
  return [() => h("div", {}, opsPart(page, g), inputs(), guards()), () => h("div", {}, kernelsPart(page, g), recording())];
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
      op.place ? h("a", { class: "plain", href: viewUrl(page.run, "source", op.place) }, h("code", {}, op.name)) : h("code", {}, op.name),
      h("span", { class: "dim" }, op.about),
    ];
    return h("li", { title: op.place ? placeText(op.place) : null, data: { lines: op.place ? keyOf(op.place) : undefined } }, at, name, about);
  };
  const sum = g.counts ? h("p", { class: "small sub" }, g.counts) : null;
  const list = longList(page.signal, h("ol", { class: "ops" }), g.ops, item, FEW_OPS, (op, place) => op.place !== null && keyOf(op.place) === place);
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
  if (!g.kernels.length) return linesPart(page, "Kernels", [], "None: there is nothing to compute.");
  const item = (/** @type {import("../model/graphs.js").KernelRow} */ k) => {
    const about = k.about ? h("span", { class: "dim" }, ` ${k.about}`) : null;
    const why = k.why ? h("span", { class: "why" }, k.why) : null;
    const more = k.places.length > MOST_LINKS ? ` and ${k.places.length - MOST_LINKS} more` : "";
    const lines = k.places.length ? [" ", lineLinks(page.run, k.places.slice(0, MOST_LINKS)), more].flat() : [];
    return h("li", { data: { lines: k.places.map(keyOf).join(" ") } }, h("code", {}, k.name), lines, about, why);
  };
  const list = longList(page.signal, h("ol", { class: "lines", start: "0" }), g.kernels, item, FEW_KERNELS, (k, place) => k.places.some((p) => keyOf(p) === place));
  const sub = h("p", { class: "small sub" }, "Under each: why is this its own kernel?");
  return h("div", { class: "part" }, h("h4", {}, "Kernels"), sub, list);
}
