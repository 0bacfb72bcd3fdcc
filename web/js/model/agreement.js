// js/model/agreement.js -- modes whose values are not eager's: which, where, and what is there.

import { plain } from "./format.js";
import { pointsOf } from "./curves.js";

/** @typedef {import("../api/types.js").ModeReport} ModeReport */
/** @typedef {import("../api/types.js").Report} Report */
/** @typedef {import("./verdict.js").Part} Part */
/** @typedef {{mode: string, n: number | null, m: ModeReport}} Wrong */

const MOST_POINTS = 12;

/** @param {Report} report @returns {Wrong[]} */
export const disagreeing = (report) =>
  pointsOf(report).flatMap((p) => Object.entries(p.modes).flatMap(([mode, m]) => (m.agrees === false ? [{ mode, n: typeof p.n === "number" ? p.n : null, m }] : [])));

/** Which of PyTorch's modes give other values than Breakeven's. @param {Report} report @returns {{mode: string, n: number | null, text: string}[]} */
export function torchDisagreeing(report) {
  const t = report.engines?.torch;
  const points = t?.points?.length ? t.points : t ? [{ n: null, modes: t.modes ?? {} }] : [];
  return points.flatMap(({ n, modes }) =>
    Object.entries(modes).flatMap(([mode, m]) => (m.values && !m.values.agree ? [{ mode, n: n ?? null, text: m.values.first ?? "nothing could be compared" }] : [])),
  );
}

/** "static at n = 30" @param {{mode: string, n: number | null}} w */
export const nameOf = (w) => (w.n === null ? w.mode : `${w.mode} at n = ${plain(w.n)}`);

/** The first of each mode, and the other points at which it is wrong. @template {{mode: string, n: number | null}} T @param {readonly T[]} all
 * @returns {{first: T, also: string}[]} */
export const byMode = (all) =>
  [...new Set(all.map((w) => w.mode))].map((mode) => {
    const [first, ...rest] = all.filter((w) => w.mode === mode);
    const more = rest.slice(0, MOST_POINTS).map((w) => plain(w.n ?? 0)).join(", ");
    return { first, also: rest.length ? ` Also at n = ${more}${rest.length > MOST_POINTS ? ", ..." : ""}.` : "" };
  });

/** A number as a report has it, or as JSON cannot: "nan". @param {number | string | null | undefined} x */
const shown = (x) => (typeof x === "number" ? String(Number(x.toPrecision(9))) : (x ?? "unknown"));

/**
 * The values that part, side by side.
 * @param {ModeReport} m
 * @returns {[string, string][]} name and value; none where structures differ
 */
export function valuesOf(m) {
  const w = m.agreement?.where;
  if (!w || w.ours === undefined) return [];
  const over = m.agreement?.over_allowed;
  /** @type {[string, string][]} */
  const rows = [
    ["This mode", shown(w.ours)],
    ["Eager", shown(w.eager)],
  ];
  if (w.reference !== null && w.reference !== undefined) rows.push(["float64", shown(w.reference)]);
  if (typeof over === "number") rows.push(["Beyond what is allowed", `${plain(Number(over.toPrecision(3)))} times`]);
  return rows;
}

/** Which modes, in one sentence. @param {readonly Wrong[]} all @returns {Part[]} */
export function claim(all) {
  const modes = [...new Set(all.map((w) => w.mode))];
  const one = modes.length === 1;
  return [
    { t: `${modes.join(", ")} ${one ? "DISAGREES" : "DISAGREE"} with eager`, b: true },
    { t: `: ${one ? "its" : "their"} values are wrong, so how quick ${one ? "it is" : "they are"} is not compared.` },
  ];
}

/** How the values of all modes agree, for the line below a verdict. @param {Record<string, ModeReport>} modes */
export function agreeText(modes) {
  const all = Object.entries(modes).flatMap(([mode, m]) => (m.agreement ? [{ mode, a: m.agreement }] : []));
  const wrong = all.filter(({ a }) => a.verdict === "disagrees").map(({ mode }) => mode);
  const near = all.filter(({ a }) => a.verdict === "within_dtype");
  if (!all.length) return "";
  if (wrong.length) return ` ${wrong.join(", ")}: other values than eager's.`;
  if (!near.length) return " Every mode gives eager's bits.";
  const judge = near.every(({ a }) => a.judge === "float64") ? ", as float64 judges" : "";
  return ` ${near.map(({ mode }) => mode).join(", ")}: within what the dtype allows${judge}.`;
}
