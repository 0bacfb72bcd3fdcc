// js/view/tears.js -- all graphs of a mode as one picture, torn where it breaks: each as its kernels, and
// between them the breaks and the functions that run in eager.

import { add, h, painted, svg } from "./dom.js";
import { viewUrl } from "./joined.js";
import { pick } from "./pick.js";
import { boxShape, edgeLabel } from "./shapes.js";
import { ApiError, postGroups, postLayout } from "../api/client.js";
import { list, plural } from "../model/format.js";
import { groupsBody, groupsFrom, kernelOfGroup } from "../model/groups.js";
import { labelPlaces, laidOut, layoutBody } from "../model/layout.js";
import { placeOf, placeText } from "../model/places.js";
import { pictureOf, steps } from "../model/picture.js";
import { stripOf } from "../model/strip.js";
import { isInPieces, wholeSteps } from "../model/whole.js";

/** @typedef {import("../model/strip.js").Piece} Piece */
/** @typedef {import("../api/types.js").Graph} Graph */
/** @typedef {{run: import("../api/types.js").Run, m: import("../api/types.js").ModeReport, said: import("../api/report.js").ReportFindingsMode | undefined, signal: AbortSignal}} Of */

const MOST = 60; // pieces
const HIGH = 180; // of a graph, before it goes on to the right
const EDGE = 12;

/** @param {Of} of @param {HTMLElement} place resolves when all of it is there */
export async function tears(of, place) {
  const pieces = stripOf(of.m, of.said);
  const ol = h("ol", { class: "tears" });
  const cuts = pieces.filter((p) => p.kind === "cut").length;
  const name = `All graphs in the order of their capture, torn at ${plural(cuts, "break")}`;
  add(place, h("div", { class: "well tearwell", role: "region", "aria-label": name, tabindex: 0 }, ol));
  if (pieces.length > MOST) add(place, h("p", { class: "small sub" }, `and ${pieces.length - MOST} more pieces`));
  /** @type {[HTMLElement, Graph][]} */
  const waiting = [];
  for (const p of pieces.slice(0, MOST)) {
    const li = h("li", { class: `torn-${p.kind}` }, headOf(of, p));
    add(ol, li);
    const g = p.kind === "graph" ? of.m.graphs.find((x, i) => (x.id ?? i) === p.id) : undefined;
    if (g) waiting.push([li, g]);
  }
  for (const [li, g] of waiting) {
    await painted();
    if (of.signal.aborted) return;
    try {
      add(li, await graphSvg(of, g));
    } catch (e) {
      if (of.signal.aborted) return;
      if (!(e instanceof ApiError)) throw e;
      add(li, h("p", { class: "small sub" }, `The picture was not laid out: ${e.message}`));
    }
  }
}

/** What a piece is, as a way to it. @param {Of} of @param {Piece} p */
function headOf({ run, said }, p) {
  if (p.kind === "graph") {
    const facts = [plural(p.ops, "op"), p.time, p.entries > 1 ? `${p.entries} cache entries` : ""].filter(Boolean).join(" \u00b7 ");
    return h("p", {}, h("a", { href: `${viewUrl(run, "graphs", { graph: String(p.id) })}` }, `graph ${p.id}`), h("span", { class: "sub small" }, ` ${facts}`));
  }
  if (p.kind === "eager") return h("p", {}, h("a", { href: viewUrl(run, "source", p.places[0]) }, h("code", {}, p.name)), ` runs in eager: ${list(p.places.map((x) => String(x.line)))}`);
  const cost = said?.distinct?.[p.row];
  const told = [`${placeText(p)}${p.from ? `, from ${p.from}` : ""}`, p.kind === "fallback" ? `${p.reason}: no lowering` : p.reason, cost?.cost && !cost.cost_open ? `${cost.cost.text} \u00b5s` : ""].filter(Boolean).join(" \u00b7 ");
  return h("p", {}, p.row >= 0 ? h("a", { href: viewUrl(run, "breaks", { ...placeOf(p), brk: String(p.row + 1) }) }, told) : told);
}

/** A graph as its kernels, at its own size. @param {Of} of @param {Graph} g */
async function graphSvg({ signal }, g) {
  const drawn = /** @type {import("../model/picture.js").Drawn} */ ((isInPieces(g) ? wholeSteps(g) : steps(g, 0)).at(-1));
  const groups = groupsFrom(drawn, await postGroups(groupsBody(drawn), signal), "kernels");
  const p = pictureOf(drawn, g, new Set(), null, groups);
  const laid = laidOut(p, await postLayout(layoutBody(p, () => "", HIGH), signal));
  const places = labelPlaces(laid, Object.entries(p.labels));
  const id = `tear-${g.id ?? 0}`;
  const [w, height] = [Math.ceil(laid.width) + 2 * EDGE, Math.ceil(laid.height) + 2 * EDGE];
  const el = svg("svg", { class: "graph still", width: w, height, viewBox: `${-EDGE} ${-EDGE} ${w} ${height}`, role: "img", "aria-label": `Graph ${g.id ?? 0}: ${plural(p.boxes.length, "box", "boxes")}` });
  add(el, svg("defs", {}, svg("marker", { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, svg("path", { class: "head", d: "M0 0L8 4L0 8Z" }))));
  for (const path of Object.values(laid.paths)) add(el, svg("path", { class: "edge", d: path, "marker-end": `url(#${id})` }));
  for (const b of p.boxes) add(el, boxShape(b, laid.boxes[b.id], 1));
  for (const [key, at] of places) add(el, edgeLabel(p.labels[key], at, 1));
  el.addEventListener("click", (e) => {
    const on = e.target instanceof Element ? e.target.closest("[data-node]")?.getAttribute("data-node") : null;
    const box = p.boxes.find((b) => b.id === on);
    if (box) pick({ graph: String(g.id ?? 0), node: box.nodes[0].id, kernel: kernelOfGroup(box.id) ?? "", ...placeOf(box.nodes.find((n) => n.line)) });
  });
  return el;
}
