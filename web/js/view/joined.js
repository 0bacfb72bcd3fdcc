// js/view/joined.js -- what comes from the picked line: its ops, kernels and breaks, and the
// ways to each; as a bar below every view of a run, and as a list beside the source.

import { add, button, h, chip, prose } from "./dom.js";
import { onPick, pick, picked } from "./pick.js";
import { duration, plural } from "../model/format.js";
import { modesOf, pointsOf } from "../model/curves.js";
import { keyOf, placeOf, placeText, textAt } from "../model/places.js";
import { joinLines, sharedQuery, shownOf } from "../model/selection.js";
import { headline } from "../model/modes.js";
import { saidOf } from "../model/sentence.js";

/** @typedef {import("../api/types.js").Run} Run */
/** @typedef {import("../model/selection.js").Joined} Joined */
/** @typedef {import("../model/selection.js").Selection} Selection */
/** @typedef {import("../model/places.js").Place} Place */

const MOST = 8; // of a kind, in the list

/** A view of the run with something picked. @param {Run} run @param {string} tab @param {Partial<Selection>} [what] */
export const viewUrl = (run, tab, what) =>
  `/runs/${encodeURIComponent(run.id)}/${tab}${sharedQuery(new URLSearchParams(location.search), what)}`;

/** What the address shows of the run; null where it has no report. @param {Run} run */
export function shown(run) {
  if (!run.report) return null;
  const points = pointsOf(run.report);
  const query = new URLSearchParams(location.search);
  const { point, mode, m } = shownOf(query, points, headline(modesOf(points)));
  return { mode, m, said: saidOf(run, point, mode), source: point.source || run.workload?.source || "" };
}

/** The time of all, where one is known. @param {readonly (number | null)[]} of */
const together = (of) => (of.some((x) => x !== null) ? `, ${duration(of.reduce((/** @type {number} */ all, x) => all + (x ?? 0), 0))}` : "");

/**
 * Below every view: what is picked, and where else it is.
 * @param {import("./router.js").Context} ctx
 * @param {Run} run
 */
export function joinedBar(ctx, run) {
  const bar = h("div", { class: "picked joinbar", role: "region", "aria-label": "Picked line", hidden: true });
  /** @type {{m: unknown, lines: Map<string, Joined>} | null} */
  let cache = null;
  const fill = () => {
    const now = picked();
    const at = now.line ? shown(run) : null;
    bar.hidden = !at;
    if (!at) return;
    if (cache?.m !== at.m) cache = { m: at.m, lines: at.m ? joinLines(at.m, at.said) : new Map() };
    const text = textAt(run.workload, now, at.source);
    const here = h("a", { href: viewUrl(run, "source", placeOf(now)) }, placeText(now));
    bar.replaceChildren(
      h("span", { class: "what" }, here, " ", h("code", {}, text)),
      h("span", { class: "where" }, places(run, placeOf(now), cache.lines.get(keyOf(now)), at.mode)),
      h("div", { class: "acts" }, button("Clear", () => pick({}), { "aria-label": "Clear what is picked" })),
    );
  };
  onPick(ctx.signal, fill);
  addEventListener("addresschange", () => !bar.hidden && fill(), { signal: ctx.signal });
  fill();
  return bar;
}

/** @param {Run} run @param {Place} at @param {Joined | undefined} of @param {string} mode */
function places(run, at, of, mode) {
  const link = (/** @type {string} */ tab, /** @type {string} */ text) => h("a", { href: viewUrl(run, tab, at) }, text);
  const links = [];
  if (of?.nodes.length) links.push(link("graphs", plural(of.nodes.length, "op")));
  if (of?.kernels.length) links.push(link("kernels", `${plural(of.kernels.length, "kernel")}${together(of.kernels.map((k) => k.us))}`));
  if (of?.breaks.length) links.push(link("breaks", `${plural(of.breaks.length, "break")}${of.breaks[0].lineCost ? `, ${of.breaks[0].lineCost} µs a call` : ""}`));
  return links.length ? links.flatMap((a, i) => [i ? " \u00b7 " : "", a]).concat(` in ${mode}`) : `no op, kernel or break of ${mode} comes from here`;
}

/** Beside the source of a run that has no figures. @param {Run} run */
function unmeasured({ error, status }) {
  if (error && status === "failed") return [h("h3", {}, chip("failed", "FAILED"), error.line ? ` at line ${error.line}` : ""), h("p", {}, prose(error.message))];
  return [h("h3", {}, "Not measured"), h("p", { class: "small sub" }, "The ops, kernels and breaks of a line are listed here once the run is done.")];
}

/**
 * Beside the source: each op, kernel and break of a line, as ways to them.
 * @param {Run} run @param {Place} at @param {Joined | undefined} of @param {string} mode
 * @returns {HTMLElement[]}
 */
export function joinedList(run, at, of, mode) {
  if (!run.report) return unmeasured(run);
  if (!at.line) return [h("h3", {}, "No line is picked"), h("p", { class: "small sub" }, "Click a line, or step through them with the arrow keys: its ops, kernels and breaks are listed here.")];
  const title = h("h3", {}, at.file ? placeText(at) : `Line ${at.line}`, h("span", { class: "sub small" }, mode ? ` in ${mode}` : ""));
  if (!of) return [title, h("p", { class: "small sub" }, "No op, kernel or break comes from this line.")];
  const part = (/** @type {string} */ name, /** @type {HTMLElement[]} */ items) => {
    if (!items.length) return null;
    const list = h("ul", { class: "lines" }, items.slice(0, MOST));
    const more = items.length > MOST ? h("p", { class: "small dim" }, `and ${items.length - MOST} more`) : null;
    return h("div", { class: "part" }, h("h4", {}, name), list, more);
  };
  const item = (/** @type {string} */ tab, /** @type {Partial<Selection>} */ what, /** @type {string} */ name, /** @type {string} */ about) =>
    h("li", {}, h("a", { href: viewUrl(run, tab, { ...at, ...what }) }, h("code", {}, name)), h("span", { class: "dim" }, ` ${about}`));
  const found = h("div");
  add(
    found,
    part("Breaks", of.breaks.map((b) => item("breaks", { brk: String(b.index + 1) }, b.kind, b.cost ? `${b.cost} µs a call` : ""))),
    part("Ops", of.nodes.map((n) => item("graphs", { graph: n.graph, node: n.name }, n.name, `${n.op === n.name ? "" : `${n.op}, `}graph ${n.graph}`))),
    part("Kernels", of.kernels.map((k) => item("kernels", { graph: k.graph, kernel: String(k.index) }, k.name, `${k.us === null ? "" : `${duration(k.us)}, `}graph ${k.graph}`))),
  );
  return [title, found];
}

/** "lines 5, 6", or the file and 5, 6, as ways to the source. @param {Run} run @param {readonly Place[]} places */
export function lineLinks(run, places) {
  return places.flatMap((p, i) => {
    const before = places[i - 1];
    const text = before?.file === p.file ? String(p.line) : p.file || places.length === 1 ? placeText(p) : `lines ${p.line}`;
    return [i ? ", " : "", h("a", { href: viewUrl(run, "source", placeOf(p)), data: { line: p.line } }, text)];
  });
}

/** Marks what belongs to the picked line, and keeps it so: rows and items with `data-lines`, placeKey()s.
 * @param {AbortSignal} signal @param {HTMLElement} place @returns {() => void} to be called where its rows are other ones */
export function markLines(signal, place) {
  const mark = () => {
    const now = picked();
    for (const el of /** @type {NodeListOf<HTMLElement>} */ (place.querySelectorAll("[data-lines]")))
      el.classList.toggle("joined", now.line > 0 && (el.dataset.lines ?? "").split(" ").includes(keyOf(now)));
  };
  mark();
  onPick(signal, mark);
  return mark;
}
