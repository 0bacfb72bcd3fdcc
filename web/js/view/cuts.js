// js/view/cuts.js -- where a program is cut: its graphs in order with the breaks between them, under both
// policies, and the functions that run in eager.
//
// The run is of one policy; the other is looked at by a check, which times nothing.

import { add, h, prose } from "./dom.js";
import { lineLinks, viewUrl } from "./joined.js";
import { pick } from "./pick.js";
import { postCheck } from "../api/client.js";
import { eagerFrames, firstError, placeOfBreak } from "../model/breaks.js";
import { list, plural } from "../model/format.js";
import { cutsOf, inBoth, otherPolicy, policyOf, underOther } from "../model/policies.js";
import { placeShort, placeText } from "../model/places.js";
import { stripOf } from "../model/strip.js";

/** @typedef {import("../model/policies.js").Cuts} Cuts */
/** @typedef {import("../model/strip.js").Piece} Piece */
/** @typedef {import("../api/types.js").Run} Run */
/** @typedef {import("../api/types.js").ModeReport} ModeReport */

const MOST_PIECES = 80;
const MOST_LINES = 12;
const KEYS = [["graph", "graph"], ["cut", "break"], ["eager", "runs in eager"], ["fallback", "no lowering"]];

/**
 * @param {Run} run
 * @param {{m: ModeReport, said: import("../api/report.js").ReportFindingsMode | undefined,
 *   distinct: readonly import("../api/types.js").Break[]}} shown the mode, and its breaks as they are listed
 * @param {{source: string, mode: string, n: number | null, signal: AbortSignal}} at
 * @param {(both: boolean[], other: string) => void} told which breaks the other policy has too
 */
export function cutsSection(run, { m, said, distinct }, at, told) {
  const here = policyOf(run.workload);
  const other = otherPolicy(here);
  const second = h("div", { class: "cutrow", role: "group", "aria-label": other });
  const say = (/** @type {string} */ text) => second.replaceChildren(who(other, ""), h("ol", { class: "strip" }, h("li", { class: "more small dim" }, text)), h("p", { class: "counts small" }, "\u00a0")); // as high as what comes
  if (!run.workload) say("unknown: the program was not kept");
  else {
    say("looked at now");
    look(run.workload, distinct, at, second, told).catch((e) => !at.signal.aborted && say(`not known: ${e instanceof Error ? e.message : e}`));
  }
  const pieces = stripOf(m, said);
  const keys = KEYS.filter(([kind]) => pieces.some((p) => p.kind === kind)).map(([kind, text]) => h("span", { class: "key" }, h("i", { class: `s-${kind}`, "aria-hidden": "true" }), text));
  const note = "graphs in the order of their capture; policy dynamo breaks where TorchDynamo does, native as rarely as this engine can";
  const header = h("header", {}, h("h3", {}, "Where the program is cut"), h("p", {}, note), h("div", { class: "acts legend" }, keys));
  const first = row(cutsOf(here, m, said), "this run", pieceList(run, pieces, true));
  return h("section", { class: "sec cuts", "aria-label": "Where the program is cut" }, header, first, second, ...eagerNotes(run, m, said));
}

/** What runs in eager, in a sentence for each function. @param {Run} run @param {ModeReport} m @param {import("../api/report.js").ReportFindingsMode | undefined} said */
function eagerNotes(run, m, said) {
  const row = new Map((said?.distinct ?? []).map((d, i) => [d.first, i]));
  const notes = eagerFrames(m, said).filter((f) => f.says).map((f) => {
    const more = f.places.length > MOST_LINES ? ` and ${f.places.length - MOST_LINES} more` : "";
    const lines = [" Its ", ...lineLinks(run, f.places.slice(0, MOST_LINES)), `${more}.`];
    const at = row.get(f.broke);
    const card = at === undefined ? [] : [" Cause: ", toCard(run, { row: at, ...placeOfBreak(m.breaks[f.broke]) }, `break ${at + 1}`), "."];
    return h("li", {}, prose(f.says), lines, card);
  });
  return notes.length ? [h("ul", { class: "lines eagernotes" }, notes)] : [];
}

/** A way to the card of a break, which opens on this page. @param {Run} run @param {{row: number, line: number, file: string}} to @param {...import("./dom.js").Child} text */
function toCard(run, { row, line, file }, ...text) {
  const what = { line, file, brk: String(row + 1) };
  const a = h("a", { href: viewUrl(run, "breaks", what) }, ...text);
  a.addEventListener("click", (e) => {
    if (e.ctrlKey || e.metaKey || e.shiftKey) return;
    e.preventDefault();
    e.stopPropagation();
    pick(what);
    const card = document.querySelector(`.brks details[data-row="${row}"] > summary`);
    card?.scrollIntoView({ block: "nearest" });
    /** @type {HTMLElement | null} */ (card)?.focus({ preventScroll: true });
  });
  return a;
}

/** The strip: a way to each piece. @param {Run} run @param {readonly Piece[]} pieces @param {boolean} ours false: of a check, whose pieces lead nowhere */
export function pieceList(run, pieces, ours) {
  const items = pieces.slice(0, MOST_PIECES).map((p) => h("li", { class: `s-${p.kind}` }, pieceOf(run, p, ours)));
  items.forEach((li, i) => {
    const p = pieces[i];
    if (p.kind === "graph") li.style.flexGrow = String(Math.max(1, p.ops));
  });
  if (pieces.length > MOST_PIECES) items.push(h("li", { class: "more small dim" }, `and ${pieces.length - MOST_PIECES} more`));
  return h("ol", { class: "strip" }, items.length ? items : h("li", { class: "more small dim" }, "no graph"));
}

/** @param {Run} run @param {Piece} p @param {boolean} ours */
function pieceOf(run, p, ours) {
  if (p.kind === "graph") {
    const facts = [plural(p.ops, "op"), p.time, p.entries > 1 ? `${p.entries} cache entries` : ""].filter(Boolean).join(" \u00b7 ");
    const text = [h("b", {}, `graph ${p.id}`), h("span", {}, facts)];
    return ours ? h("a", { href: viewUrl(run, "graphs", { graph: String(p.id) }) }, text) : h("span", {}, text);
  }
  if (p.kind === "eager") {
    const text = [h("b", {}, p.name), h("span", {}, `eager, ${plural(p.places.length, "line")}`)];
    return ours ? h("a", { href: viewUrl(run, "source", p.places[0]) }, text) : h("span", {}, text);
  }
  const text = [h("b", { title: placeText(p) }, p.from ? `${placeShort(p)}, from ${p.from}` : placeShort(p)), h("span", {}, p.kind === "fallback" ? `${p.reason}: no lowering` : p.reason)];
  return ours && p.row >= 0 ? toCard(run, p, ...text) : h("span", {}, text);
}

/** @param {string} policy @param {string} about */
const who = (policy, about) => h("p", { class: "who" }, h("b", {}, policy), " ", h("span", { class: "dim" }, about));

/** @param {Cuts} c @param {string} about @param {HTMLElement} strip */
function row(c, about, strip) {
  const counts = [`${plural(c.captured, "graph")} captured`, `${c.lowered} lowered`, plural(c.breaks, "break"), ...(c.fallbacks ? [`${c.fallbacks} not lowered`] : [])];
  return h("div", { class: "cutrow", role: "group", "aria-label": c.policy }, who(c.policy, about), strip, h("p", { class: "counts small sub" }, list(counts)));
}

/**
 * @param {import("../api/types.js").Workload} w @param {readonly import("../api/types.js").Break[]} distinct
 * @param {{source: string, mode: string, n: number | null, signal: AbortSignal}} at @param {HTMLElement} place
 * @param {(both: boolean[], other: string) => void} told
 */
async function look(w, distinct, at, place, told) {
  const check = await postCheck(underOther(w, at), at.signal);
  const wrong = firstError(check);
  if (wrong) throw new Error(wrong.message);
  const there = /** @type {ModeReport} */ (/** @type {unknown} */ (check));
  const filled = row(cutsOf(otherPolicy(policyOf(w)), there), "checked", pieceList(/** @type {Run} */ ({}), stripOf(there), false));
  place.replaceChildren();
  add(place, [...filled.childNodes]);
  told(inBoth(distinct, there), otherPolicy(policyOf(w)));
}
