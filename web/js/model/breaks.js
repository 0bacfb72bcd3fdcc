// js/model/breaks.js -- where a mode's graphs end, ready to be drawn.

import { placesOf } from "./places.js";

/** @typedef {import("../api/types.js").ModeReport} ModeReport */
/** @typedef {import("../api/types.js").Break} Break */
/** @typedef {import("./places.js").Place} Place */
/** @typedef {import("../api/report.js").ReportFindingsMode} Said what the findings say of the mode */
/**
 * @typedef
 *   {{kind: string, gb: string, line: number, file: string, column: number, endColumn: number, lowering: boolean,
 *   said: import("../api/report.js").ReportFindingsBreak, message: string, because: string, then: string, hint: string, around: string,
 *   rewrite: Rewrite | null, stage: string, stack: string, graph: number | null, callers: Place[]}}
 *   BreakRow
 */
/** @typedef {{source: string, removed: string[], added: string[], gain: string}} Rewrite the whole source, and the lines that change */
/**
 * @typedef
 *   {{call: number, line: number, function: string, cause: string, message: string, hash: string, compiled: boolean,
 *   graph: number | null, count: number}}
 *   TraceRow
 */
/**
 * What a break's microseconds are, by their keys in the findings.
 * @type {readonly {key: keyof import("../api/report.js").ReportFindingsParts, name: string, cls: string, about: string}[]}
 */
export const COST_PARTS = [
  { key: "statement", name: "the statement", cls: "statement", about: "what ended the graph runs in eager" },
  { key: "frame", name: "leaving and entering", cls: "frame", about: "results return to the frame, the interpreter goes on" },
  { key: "guards", name: "guards", cls: "guards", about: "the cache entry for what follows is looked up" },
  { key: "launch", name: "launches", cls: "launch", about: "sizes are bound, memory is allocated, the kernel is launched" },
  { key: "kernel", name: "the extra kernel", cls: "traffic", about: "one more kernel, and the bytes that a single kernel would not move" },
];

/**
 * A message of the server as a sentence; a name that begins it stays as it is.
 * @param {string | null | undefined} text
 * @param {string | null} [subject]
 */
function sentence(text, subject) {
  if (!text) return "";
  return `${subject && text.startsWith(subject) ? text[0] : text[0].toUpperCase()}${text.slice(1)}.`;
}

/**
 * The lines in which the two sources differ, and what the change gained.
 * @param {Break} b @param {string} gain @param {string} source
 * @returns {Rewrite | null}
 */
function rewriteOf(b, gain, source) {
  if (!b.rewrite) return null;
  const before = source.split("\n");
  const after = b.rewrite.split("\n");
  let head = 0;
  let tail = 0;
  const shorter = Math.min(before.length, after.length);
  while (head < shorter && before[head] === after[head]) head++;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  return {
    source: b.rewrite,
    removed: before.slice(head, before.length - tail),
    added: after.slice(head, after.length - tail),
    gain,
  };
}

/** Where a break is shown: the line of its cause, if it has one of its own. @param {Break} b */
function placeOf(b) {
  const inner = b.stack?.at(-1);
  const at = b.cause ?? { ...b, line: inner?.line };
  return { line: at.line ?? 0, file: (b.cause ?? inner)?.file ?? "", column: at.column ?? 0, endColumn: at.end_column ?? 0 };
}

/** @param {Break} b @param {import("../api/report.js").ReportFindingsBreak} said @param {string} source @returns {BreakRow} */
function rowOf(b, said, source) {
  const stack = b.stack ?? [];
  return {
    kind: b.kind,
    gb: b.gb ?? "",
    ...placeOf(b),
    lowering: b.stage === "lowering",
    said,
    message: sentence(b.message, b.subject),
    because: sentence(b.because?.message),
    then: said.then ?? "",
    hint: sentence(b.hint ?? b.because?.hint),
    around: b.hint ? sentence(b.because?.hint) : "",
    rewrite: rewriteOf(b, said.gain ?? "", source),
    stage: `${b.stage ?? "capture"}, ${b.outcome ?? "unknown"}`,
    stack: stack.map((s) => (s.file ? `${s.function} (${s.file}:${s.line})` : `${s.function}:${s.line}`)).join(", "),
    graph: b.graph ?? null,
    callers: stack.slice(0, -1).map((s) => ({ line: s.line, file: s.file ?? "" })),
  };
}

/**
 * The distinct breaks of a mode, as the findings order and count them.
 * @param {ModeReport} m
 * @param {Said | undefined} said
 * @param {string} [source] that rewrites are compared with
 * @returns {BreakRow[]}
 */
export const breakRows = (m, said, source = "") => (said?.distinct ?? []).flatMap((d) => (m.breaks?.[d.first] ? [rowOf(m.breaks[d.first], d, source)] : []));

/** Where a break is shown. @param {Break} b @returns {Place} */
export const placeOfBreak = (b) => ({ line: placeOf(b).line, file: placeOf(b).file });

/** Of which kind at which line. @param {Break} b */
export const kindAt = (b) => `${b.stage ?? "capture"} ${b.kind} ${placeOf(b).file} ${placeOf(b).line}`;

/** @typedef {{name: string, says: string, places: readonly Place[], broke: number}} EagerFrame
 *   places: the lines that run in eager; broke: of the breaks of the mode; -1: not known */

/** The frames that run in eager: always, or where no cache entry serves.
 * @param {ModeReport} m @param {Said} [said] @returns {EagerFrame[]} */
export const eagerFrames = (m, said) =>
  (m.tree ?? []).flatMap((f, i) => {
    if (!f.lines?.length) return [];
    const name = (f.frame ?? "").replace(/^torch_dynamo_resume_in_(.*)_at_\d+$/, "$1");
    return [{ name, says: said?.frames?.[i]?.eager ?? "", places: placesOf(f.lines, f.files), broke: f.broke ?? -1 }];
  });

/**
 * What the margin of a text shows: the first break of a line, calls that lead to one, and what runs
 * in eager.
 * @param {readonly BreakRow[]} rows
 * @param {readonly EagerFrame[]} eager
 * @param {string} [file] of a program of several: the one that is shown
 * @returns {Map<number, {cls: string, note: string, cost?: string}>}
 */
export function lineMarks(rows, eager, file = "") {
  /** @type {Map<number, {cls: string, note: string, cost?: string}>} */
  const marks = new Map();
  for (const r of rows)
    if (r.line && r.file === file && !marks.has(r.line)) {
      const mark = { cls: r.lowering ? "low" : "brk", note: r.lowering ? "no lowering" : words(r.kind) };
      marks.set(r.line, r.said.line_cost ? { ...mark, cost: r.said.line_cost } : mark);
    }
  for (const r of rows)
    for (const p of r.callers)
      if (p.file === file && !marks.has(p.line)) marks.set(p.line, { cls: "brk", note: "call that breaks inside" });
  for (const { line, file: of } of eager.flatMap((f) => f.places)) if (of === file && !marks.has(line)) marks.set(line, { cls: "eag", note: "runs in eager" });
  return marks;
}

/** "data-dependent-branch" as words. @param {string} kind */
export const words = (kind) => kind.replaceAll("-", " ");

/**
 * Runs of traces; the same trace at the same place for the same cause is one row.
 * @param {ModeReport} m
 * @returns {TraceRow[]}
 */
export function traceRows(m) {
  /** @type {Map<string, TraceRow>} */
  const rows = new Map();
  for (const r of m.lazy?.runs ?? []) {
    const key = [r.line, r.function, r.cause, r.message, r.hash, r.compiled].join("|");
    const known = rows.get(key);
    if (known) known.count++;
    else
      rows.set(key, {
        call: r.call,
        line: r.line,
        function: r.function,
        cause: r.cause,
        message: sentence(r.message),
        hash: r.hash,
        compiled: r.compiled,
        graph: r.graph ?? null,
        count: 1,
      });
  }
  return [...rows.values()];
}

/** How many there are, of both stages, each once. @param {ModeReport} m @param {Said | undefined} said */
export const breakCount = (m, said) => breakRows(m, said).length;

/** What a run would fail with; a warning is none. @param {import("../api/types.js").Check} check */
export const firstError = (check) => check.diagnostics?.find((d) => d.severity !== "warning");

/**
 * A check as problems of an editor, by line: errors and warnings, and breaks where they are allowed.
 * @param {import("../api/types.js").Check} check
 * @returns {import("../api/types.js").Problem[]}
 */
export function problemsOf(check) {
  const breaks = (check.breaks ?? []).map((b) => ({
    message: `${b.message}${b.hint ? `; ${b.hint}` : ""}`,
    file: b.file,
    line: b.line ?? null,
    column: b.column || null,
    end_column: b.end_column || null,
    allowed: true,
  }));
  // A branch that is met on both its ways is one place.
  const seen = new Set();
  const places = breaks.filter((b) => {
    if (check.diagnostics.some((d) => b.line && d.line === b.line && d.column === b.column && (d.file ?? "") === (b.file ?? ""))) return false; // the call ends there
    const place = [b.file, b.line, b.column, b.message].join("|");
    return !seen.has(place) && seen.add(place);
  });
  return [...check.diagnostics, ...places].sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}
