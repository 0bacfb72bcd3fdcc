// js/model/strip.js -- a mode's graphs in the order of their capture, with the breaks between them and the
// functions that run in eager: one strip.
//
// A frame has one box, however often it was compiled: later cache entries are counted in it.

import { eagerFrames, placeOfBreak, words } from "./breaks.js";
import { placeText } from "./places.js";

/** @typedef {import("../api/types.js").ModeReport} ModeReport */
/** @typedef {import("../api/types.js").Break} Break */
/** @typedef {import("../api/report.js").ReportFindingsMode} Said */
/**
 * @typedef {{kind: "graph", id: number, ops: number, time: string, entries: number}} GraphPiece
 * @typedef {{kind: "cut" | "fallback", row: number, line: number, file: string, from: string, reason: string}} CutPiece row: of the distinct breaks,
 *   -1: not listed; from: the line that calls what breaks, "": none
 * @typedef {{kind: "eager", name: string, places: readonly import("./places.js").Place[]}} EagerPiece
 * @typedef {GraphPiece | CutPiece | EagerPiece} Piece
 */

/** Which breaks are one, met again (profiler/fields/breaks.c). @param {Break} b */
const sameAs = (b) => JSON.stringify([b.stage, b.kind, b.outcome, b.message, b.stack, b.cause ? [b.cause.line, b.cause.column] : b.column]);

/** What was called, or what kind of break it is. @param {Break} b */
const reasonOf = (b) => (b.subject && (b.stage === "lowering" || b.subject.endsWith("()")) ? b.subject : words(b.kind));

/** @param {Break} b */
function callerOf(b) {
  const at = b.stack?.at(-2);
  return at?.line ? (at.file ? placeText({ line: at.line, file: at.file }) : String(at.line)) : "";
}

/**
 * The boxes, and by a graph's place in the list which box it is in.
 * @param {ModeReport} m @param {Said | undefined} said @returns {{boxes: GraphPiece[], boxOf: number[]}}
 */
function boxesOf(m, said) {
  /** @type {GraphPiece[]} */
  const boxes = [];
  /** @type {Map<string, number>} */
  const of = new Map();
  const boxOf = (m.graphs ?? []).map((g, i) => {
    const frame = g.compile ? g.compile.split("/")[0] : `graph ${i}`;
    const known = of.get(frame);
    if (known !== undefined) {
      boxes[known].entries++;
      return known;
    }
    of.set(frame, boxes.length);
    boxes.push({ kind: "graph", id: g.id ?? i, ops: g.ops?.length ?? 0, time: said?.graphs?.[i]?.time ?? "", entries: 1 });
    return boxes.length - 1;
  });
  return { boxes, boxOf };
}

/** By a graph's id, its place in the list. @param {ModeReport} m */
const placesOf = (m) => new Map((m.graphs ?? []).map((g, i) => [g.id ?? i, i]));

/** The box that a break comes after: of the graph that it ends, of the frame that is compiled no more for it, else of
 * the break before it. @param {ModeReport} m @param {readonly number[]} boxOf @returns {number[]} by break; -1: before all */
function boxBefore(m, boxOf) {
  const places = placesOf(m);
  let last = -1;
  return (m.breaks ?? []).map((b, i) => {
    const entry = m.tree?.find((f) => f.broke === i)?.entries?.find((e) => typeof e.graph === "number")?.graph;
    const graph = b.graph ?? entry;
    last = boxOf[places.get(graph ?? -1) ?? -1] ?? last;
    return last;
  });
}

/**
 * @param {ModeReport} m @param {Said} [said] of a run; a check has none, and its cuts no rows
 * @returns {Piece[]}
 */
export function stripOf(m, said) {
  const { boxes, boxOf } = boxesOf(m, said);
  const before = boxBefore(m, boxOf);
  const breaks = m.breaks ?? [];
  const rows = new Map((said?.distinct ?? []).map((d, row) => [breaks[d.first] ? sameAs(breaks[d.first]) : "", row]));
  const eager = eagerFrames(m, said);
  /** @type {Piece[][]} after each box, the first before all */
  const after = Array.from({ length: boxes.length + 1 }, () => []);
  const seen = new Set();
  breaks.forEach((b, i) => {
    const [key, at] = [sameAs(b), after[before[i] + 1]];
    if (!seen.has(key)) at.push({ kind: b.stage === "lowering" ? "fallback" : "cut", row: rows.get(key) ?? -1, ...placeOfBreak(b), from: callerOf(b), reason: reasonOf(b) });
    seen.add(key);
    for (const f of eager) if (f.broke === i) at.push({ kind: "eager", name: f.name, places: f.places });
  });
  for (const f of eager) if (f.broke < 0) after[0].push({ kind: "eager", name: f.name, places: f.places });
  return [...after[0], ...boxes.flatMap((box, i) => [box, ...after[i + 1]])];
}
