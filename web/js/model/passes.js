// js/model/passes.js -- what each pass did to a graph: rows, rules with their
// lines, and the difference of two texts of a graph.

import { keyOf, placeOf } from "./places.js";

/** @typedef {import("../api/types.js").PassPart} PassPart */
/** @typedef {{rule: string, count: number, places: import("./places.js").Place[], nodes: string[]}} RuleRow */
/**
 * @typedef
 *   {{name: string, plugin: string | null, state: "changed" | "unchanged" | "off", nodes: [number, number],
 *   us: number, rules: RuleRow[], fired: number, before: string | null, after: string | null}}
 *   PassRow
 */
/** @typedef {{kind: "same" | "del" | "add", text: string}} DiffLine */
/** @typedef {{left: string | null, right: string | null, same: boolean}} DiffRow a line is null beside none */

/** Past this product of lengths lines are compared as sets: quick, and nearly the same. */
const MOST_CELLS = 4e6;

/** Unchanged lines that stay about a change. */
const CONTEXT = 2;

/** Names that passes had, in reports of before (passes.def). */
const RENAMED = new Map([
  ["calls", "pattern_match"],
  ["lift", "hoist_views"],
  ["sink", "sink_views"],
]);

/** @param {string} name @returns {string} what the pass is called today */
export const passName = (name) => RENAMED.get(name) ?? name;

/** @param {PassPart} part @returns {PassRow[]} */
export function passRows(part) {
  let text = part.before ?? null;
  let nodes = part.nodes ?? 0;
  return (part.steps ?? []).map((s) => {
    const count = s.off ? nodes : s.nodes;
    const row = {
      name: s.plugin ? s.pass : passName(s.pass),
      plugin: s.plugin ?? null,
      state: /** @type {PassRow["state"]} */ (s.off ? "off" : s.changed ? "changed" : "unchanged"),
      nodes: /** @type {[number, number]} */ ([nodes, count]),
      us: s.us,
      rules: (s.rules ?? []).map(ruleRow),
      fired: (s.rules ?? []).reduce((sum, r) => sum + r.count, 0) + (s.rules_left_out ?? 0),
      before: text,
      after: s.after ?? null,
    };
    if (s.changed) text = s.after ?? null;
    nodes = count;
    return row;
  });
}

/** @param {import("../api/types.js").PassRule} r @returns {RuleRow} */
function ruleRow(r) {
  const places = [...new Map(r.at.filter((a) => a.line > 0).map((a) => [keyOf(placeOf(a)), placeOf(a)])).values()];
  return { rule: r.rule, count: r.count, places, nodes: r.at.map((a) => a.node) };
}

/**
 * The lines of both texts, in order.
 * @param {string} before
 * @param {string} after
 * @returns {DiffLine[]}
 */
export function diffLines(before, after) {
  const a = before.replace(/\n$/, "").split("\n");
  const b = after.replace(/\n$/, "").split("\n");
  return a.length * b.length > MOST_CELLS ? bySets(a, b) : byLongest(a, b);
}

/** By the longest common subsequence. @param {string[]} a @param {string[]} b @returns {DiffLine[]} */
function byLongest(a, b) {
  const w = b.length + 1;
  const length = new Uint16Array((a.length + 1) * w);
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      length[i * w + j] =
        a[i] === b[j] ? length[(i + 1) * w + j + 1] + 1 : Math.max(length[(i + 1) * w + j], length[i * w + j + 1]);
  /** @type {DiffLine[]} */
  const out = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      out.push({ kind: "same", text: a[i] });
      i++;
      j++;
    } else if (i < a.length && (j === b.length || length[(i + 1) * w + j] >= length[i * w + j + 1]))
      out.push({ kind: "del", text: a[i++] });
    else out.push({ kind: "add", text: b[j++] });
  }
  return out;
}

/** @param {string[]} a @param {string[]} b @returns {DiffLine[]} */
function bySets(a, b) {
  const [inA, inB] = [new Set(a), new Set(b)];
  /** @type {DiffLine[]} */
  const out = a.filter((x) => !inB.has(x)).map((text) => ({ kind: "del", text }));
  for (const text of b) out.push({ kind: inA.has(text) ? "same" : "add", text });
  return out;
}

/** The lines of each of two texts, from 1, that the other lacks. @param {readonly string[]} a @param {readonly string[]} b @returns {{gone: Set<number>, come: Set<number>}} */
export function differingLines(a, b) {
  let [head, tail] = [0, 0];
  while (head < Math.min(a.length, b.length) && a[head] === b[head]) head++;
  while (tail < Math.min(a.length, b.length) - head && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const [x, y] = [a.slice(head, a.length - tail), b.slice(head, b.length - tail)];
  const [gone, come] = [new Set(), new Set()];
  if (x.length * y.length > MOST_CELLS) {
    const [inX, inY] = [new Set(x), new Set(y)];
    x.forEach((line, i) => inY.has(line) || gone.add(head + i + 1));
    y.forEach((line, i) => inX.has(line) || come.add(head + i + 1));
    return { gone, come };
  }
  let [old, now] = [head, head];
  for (const { kind } of byLongest(x, y)) {
    if (kind !== "add") old++;
    if (kind !== "del") now++;
    if (kind === "del") gone.add(old);
    if (kind === "add") come.add(now);
  }
  return { gone, come };
}

/**
 * Side by side: what went on the left, what came on the right, each change's lines
 * against each other.
 * @param {readonly DiffLine[]} lines
 * @returns {DiffRow[]}
 */
export function sideBySide(lines) {
  /** @type {DiffRow[]} */
  const out = [];
  /** @type {string[]} */
  let gone = [];
  /** @type {string[]} */
  let come = [];
  const flush = () => {
    for (let i = 0; i < Math.max(gone.length, come.length); i++)
      out.push({ left: gone[i] ?? null, right: come[i] ?? null, same: false });
    gone = [];
    come = [];
  };
  for (const line of lines) {
    if (line.kind === "del") gone.push(line.text);
    else if (line.kind === "add") come.push(line.text);
    else {
      flush();
      out.push({ left: line.text, right: line.text, same: true });
    }
  }
  flush();
  return out;
}

/**
 * Rows with long runs of unchanged ones folded: a number stands for so many.
 * @template {{same: boolean}} T
 * @param {readonly T[]} rows
 * @returns {(T | number)[]}
 */
export function folded(rows) {
  const near = rows.map((_, i) =>
    rows.slice(Math.max(0, i - CONTEXT), i + CONTEXT + 1).some((r) => !r.same),
  );
  /** @type {(T | number)[]} */
  const out = [];
  rows.forEach((row, i) => {
    const last = out[out.length - 1];
    if (near[i]) out.push(row);
    else if (typeof last === "number") out[out.length - 1] = last + 1;
    else out.push(1);
  });
  return out;
}
