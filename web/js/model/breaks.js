// js/model/breaks.js -- where a mode's graphs end, ready to be drawn.

import { bytes, number } from "./format.js";

/** @typedef {import("../api/types.js").ModeReport} ModeReport */
/** @typedef {import("../api/types.js").Break} Break */
/**
 * @typedef
 *   {{kind: string, gb: string, line: number, file: string, column: number, endColumn: number, lowering: boolean,
 *   cost: number | null, ci: number[] | null, parts: number[], facts: [string, string][], message: string, because: string, then: string, hint: string, rewrite: Rewrite | null,
 *   stage: string, stack: string, count: number, calls: number[], graph: number | null, callers: number[]}}
 *   BreakRow
 */
/** @typedef {import("../api/types.js").BreakCost} BreakCost */
/** @typedef {{source: string, removed: string[], added: string[], gain: string}} Rewrite the whole source, and the lines that change */
/**
 * @typedef
 *   {{call: number, line: number, function: string, cause: string, message: string, hash: string, compiled: boolean,
 *   graph: number | null, count: number}}
 *   TraceRow
 */
/** @typedef {"statement_us" | "frame_us" | "outputs_us" | "entry_us" | "guards_us" | "replay_us" | "dispatch_us" | "alloc_us" | "launch_us" | "kernel_us"} PartKey */

/**
 * What a break's microseconds are: they add up to its cost.  A part of several is told apart in the facts.
 * @type {readonly {of: readonly [PartKey, string][], name: string, cls: string, about: string}[]}
 */
export const COST_PARTS = [
  { of: [["statement_us", "statement"]], name: "the statement", cls: "statement", about: "what ended the graph runs as it is written" },
  {
    of: [["outputs_us", "results into the frame"], ["frame_us", "interpreter"], ["entry_us", "the call's own frame"]],
    name: "leaving and entering",
    cls: "frame",
    about: "results go back to the frame, the interpreter steps on",
  },
  {
    of: [["guards_us", "search"], ["replay_us", "no replay of one graph"]],
    name: "guards",
    cls: "guards",
    about: "the compiled version for what follows is looked for",
  },
  {
    of: [["dispatch_us", "sizes"], ["alloc_us", "memory"], ["launch_us", "launch"]],
    name: "launches",
    cls: "launch",
    about: "sizes are bound, memory is taken, the kernel is launched",
  },
  { of: [["kernel_us", "kernel"]], name: "the extra kernel", cls: "traffic", about: "one kernel more, and the bytes that one kernel of both would not move" },
];

/** What each outcome means for the rest of the program. */
const OUTCOMES = /** @type {Record<string, string>} */ ({
  resume: "It runs in eager; the function is captured again after it.",
  jump: "Each side is captured when it is first taken.",
  step: "The rest of the function runs in eager.",
  skip: "The whole function runs in eager.",
  inline: "The caller stops before its call; the callee is captured by itself.",
  barrier: "The pending trace is run.",
  ordered: "It runs after its graph, in order.",
});

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
 * @param {Break} b @param {string} source
 * @returns {Rewrite | null}
 */
function rewriteOf(b, source) {
  if (!b.rewrite) return null;
  const before = source.split("\n");
  const after = b.rewrite.split("\n");
  let head = 0;
  let tail = 0;
  const shorter = Math.min(before.length, after.length);
  while (head < shorter && before[head] === after[head]) head++;
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const g = b.rewrite_gain;
  const others = (g?.together ?? 1) - 1;
  const all = others > 0 ? `, with the ${others === 1 ? "other rewrite" : `${others} other rewrites`}` : "";
  return {
    source: b.rewrite,
    removed: before.slice(head, before.length - tail),
    added: after.slice(head, after.length - tail),
    gain: g
      ? `These calls come out the same${all}: graphs ${g.graphs.join(" \u2192 ")}, breaks ${g.breaks.join(" \u2192 ")}.`
      : "",
  };
}

/** Parts of a part, where the report tells them apart. @param {BreakCost} c */
function finerParts(c) {
  const told = COST_PARTS.flatMap((p) => {
    const some = p.of.filter(([key]) => c[key]);
    return some.length > 1 ? [some.map(([key, name]) => `${name} ${number(c[key] ?? 0)}`).join(", ")] : [];
  });
  return told.join("; ");
}

/**
 * Counts of a break, each with its name.
 * @param {BreakCost} c
 * @returns {[string, string][]}
 */
function factsOf(c) {
  const eager = c.eager_launches > 0 ? `, ${number(c.eager_launches)} of them single ops in eager` : "";
  /** @type {[string, string][]} */
  const facts = [
    ["More launches", `${number(c.launches)} a call${eager}`],
    ["More guards", number(c.guards)],
    ["Moved twice", `${bytes(c.moved_bytes)}: written by one piece and read by the next, each time`],
    ["Kept alive", `${bytes(c.kept_bytes)} made in this call and held across the break`],
  ];
  const finer = finerParts(c);
  if (finer) facts.unshift(["In detail, us", finer]);
  if (c.met !== 1) facts.unshift(["Met", `${number(c.met)} times a call`]);
  return facts;
}

/** @param {Break} b @param {string} source @returns {BreakRow} */
function rowOf(b, source) {
  const stack = b.stack ?? [];
  const at = b.cause ?? { ...b, line: stack.at(-1)?.line };
  return {
    kind: b.kind,
    gb: b.gb ?? "",
    line: at.line ?? 0,
    file: (b.cause ?? stack.at(-1))?.file ?? "",
    column: at.column ?? 0,
    endColumn: at.end_column ?? 0,
    lowering: b.stage === "lowering",
    cost: b.cost_us ?? null,
    ci: b.cost?.ci_us ?? null,
    parts: COST_PARTS.map((p) => p.of.reduce((sum, [key]) => sum + (b.cost?.[key] ?? 0), 0)),
    facts: b.cost ? factsOf(b.cost) : [],
    message: sentence(b.message, b.subject),
    because: sentence(b.because?.message),
    then: b.because ? "" : (OUTCOMES[b.outcome ?? ""] ?? ""),
    hint: sentence(b.hint ?? b.because?.hint),
    rewrite: rewriteOf(b, source),
    stage: `${b.stage ?? "capture"}, ${b.outcome ?? "unknown"}`,
    stack: stack.map((s) => `${s.function}:${s.line}`).join(", "),
    count: b.count ?? 1,
    calls: b.call === undefined ? [] : [b.call],
    graph: b.graph ?? null,
    callers: stack.slice(0, -1).map((s) => s.line),
  };
}

/**
 * Of a break that is met for several sizes the costs of a call add up; an interval of the sum is not known.
 * @param {BreakRow} to @param {BreakRow} r
 */
function join(to, r) {
  to.count += r.count;
  to.calls = [...new Set([...to.calls, ...r.calls])];
  if (r.cost === null) return;
  if (to.cost === null) Object.assign(to, { cost: r.cost, ci: r.ci, parts: r.parts, facts: r.facts });
  else {
    to.cost += r.cost;
    to.ci = null;
    to.parts = to.parts.map((us, i) => us + r.parts[i]);
  }
}

/**
 * Distinct breaks: one that is met again, for other sizes or values, is counted.
 * The dearest first where costs are known, else in the order they were met;
 * those of the lowering come last.
 * @param {ModeReport} m
 * @param {string} [source] that rewrites are compared with
 * @returns {BreakRow[]}
 */
export function breakRows(m, source = "") {
  /** @type {Map<string, BreakRow>} */
  const rows = new Map();
  for (const r of (m.breaks ?? []).map((b) => rowOf(b, source))) {
    const key = [r.stage, r.kind, r.stack, r.file, r.line, r.column, r.message].join("|");
    const known = rows.get(key);
    if (known) join(known, r);
    else rows.set(key, r);
  }
  return [...rows.values()].sort(
    (a, b) => Number(a.lowering) - Number(b.lowering) || (b.cost ?? 0) - (a.cost ?? 0),
  );
}

/**
 * Rows of a kind together, the dearest kind first where costs are known.
 * @param {readonly BreakRow[]} rows
 * @returns {{kind: string, cost: number | null, rows: number[]}[]}
 */
export function kindsOf(rows) {
  /** @type {Map<string, {kind: string, cost: number | null, rows: number[]}>} */
  const kinds = new Map();
  rows.forEach((r, i) => {
    const known = kinds.get(r.kind) ?? { kind: r.kind, cost: null, rows: [] };
    known.rows.push(i);
    if (r.cost !== null) known.cost = (known.cost ?? 0) + r.cost;
    kinds.set(r.kind, known);
  });
  return [...kinds.values()].sort((a, b) => (b.cost ?? 0) - (a.cost ?? 0));
}

/**
 * What the margin of the source shows: the first break of a line, and calls that
 * lead to one.
 * @param {readonly BreakRow[]} rows
 * @returns {Map<number, {cls: string, note: string, cost?: string}>}
 */
export function lineMarks(rows) {
  /** @type {Map<number, {cls: string, note: string, cost?: string}>} */
  const marks = new Map();
  for (const r of rows)
    if (r.line && !marks.has(r.line)) {
      const cost = rows.reduce((sum, x) => sum + (x.line === r.line ? (x.cost ?? 0) : 0), 0);
      const mark = { cls: r.lowering ? "low" : "brk", note: r.lowering ? "no lowering" : words(r.kind) };
      marks.set(r.line, cost > 0 ? { ...mark, cost: number(cost) } : mark);
    }
  for (const r of rows)
    for (const line of r.callers)
      if (!marks.has(line)) marks.set(line, { cls: "brk", note: "call that breaks inside" });
  return marks;
}

/** "data-dependent-branch" as words. @param {string} kind */
const words = (kind) => kind.replaceAll("-", " ");

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

/** How many distinct breaks capture has. @param {ModeReport} m */
export const breakCount = (m) => breakRows(m).filter((r) => !r.lowering).length;

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
    const place = [b.file, b.line, b.column, b.message].join("|");
    return !seen.has(place) && seen.add(place);
  });
  return [...check.diagnostics, ...places].sort((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0));
}
