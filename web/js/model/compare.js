// js/model/compare.js -- what the page says of two runs: the sentence, the rows, the curves.
//
// A ratio is B over A.  The words claim what the interval holds, and no cause: what changed
// is beside it.

import { duration, number, bytes, plain, plural, ratio, timeUnit, withInterval } from "./format.js";

/** @typedef {import("../api/compare/types.js").Pair} Pair */
/** @typedef {import("../api/compare/types.js").Figure} Figure */
/** @typedef {import("./sentence.js").Part} Part */

const NBSP = "\u00a0";

/** @param {number | null} n */
export const at = (n) => (n === null ? "" : ` at n${NBSP}=${NBSP}${plain(n)}`);

/** "latency", "compile time of 7 points". @param {Figure} f */
export const figureName = (f) => f.title + (f.points ? ` of ${f.points} points` : "");

/** A figure with its interval; times in the unit of all `among`.
 * @param {string} unit @param {number | null} value @param {readonly number[] | null} [ci] @param {readonly number[]} [among]
 * @returns {{text: string, interval: string}} */
export function figureText(unit, value, ci, among = [value ?? 0]) {
  if (value === null) return { text: "unknown", interval: "" };
  if (unit === "B") return { text: bytes(value), interval: "" };
  if (unit === "x") return ratio(value, ci);
  if (unit !== "us") return { text: number(value) + (unit && NBSP + unit), interval: "" };
  const t = timeUnit(among);
  return withInterval(value, ci, { scale: t.scale, suffix: `${NBSP}${t.name}` });
}

/** One side of a figure. @param {Figure} f @param {"a" | "b"} side */
export const sideText = (f, side) => figureText(f.unit, f[side].value, f[side].ci, [f.a.value ?? 0, f.b.value ?? 0]);

/** The ratio; counts have an exact one. @param {Figure} f @returns {{text: string, interval: string}} */
export function ratioText(f) {
  if (f.ratio === null) return { text: "", interval: "" };
  const r = ratio(f.ratio, f.ci);
  return f.kind === "counted" ? { ...r, interval: "exact" } : r;
}

/** How loud a verdict is drawn: MORE of what is counted is as SLOWER. @param {string} word */
export const tone = (word) => ({ MORE: "SLOWER", LESS: "FASTER" })[word] ?? word;

/** The time of the headline on both sides: "77.2 us against 25.8 us". @param {Figure} f */
function sides(f) {
  const [a, b] = [sideText(f, "a"), sideText(f, "b")];
  return `${b.text} against ${a.text}`;
}

/** @param {Figure} f @param {string} b its label @returns {Part[]} */
function latencyClaim(f, b) {
  const r = ratio(f.ratio ?? 1, f.ci);
  const where = ` under ${f.mode}${at(f.n)}: ${sides(f)}.`;
  const [lo, hi] = f.ci ?? [f.ratio ?? 1, f.ratio ?? 1];
  switch (f.verdict) {
    case "SLOWER":
      return [{ text: `${b} takes ${r.text}`, as: "claim" }, { text: ` ${r.interval} `, as: "interval" }, { text: "as long as A", as: "claim" }, { text: where }];
    case "FASTER": {
      const fast = ratio(1 / (f.ratio ?? 1), [1 / hi, 1 / lo]);
      return [{ text: `${b} is ${fast.text}`, as: "claim" }, { text: ` ${fast.interval} `, as: "interval" }, { text: "faster than A", as: "claim" }, { text: where }];
    }
    case "SAME":
      return [{ text: `${b} is as fast as A`, as: "claim" }, { text: ` under ${f.mode}${at(f.n)}: ${r.text}` }, { text: ` ${r.interval}`, as: "interval" }, { text: "." }];
    default:
      return [{ text: `${b} may take anywhere from ${ratio(lo, f.ci).text} to ${ratio(hi, f.ci).text}`, as: "claim" }, { text: ` as long as A under ${f.mode}${at(f.n)}, so no verdict is given.` }];
  }
}

/** @param {Figure} f @param {string} b @returns {Part[]} */
function speedupClaim(f, b) {
  const r = ratio(f.ratio ?? 1, f.ci);
  return [
    { text: `The speedup of ${f.mode} over eager in ${b} is ${r.text}`, as: "claim" },
    { text: ` ${r.interval} `, as: "interval" },
    { text: "of A's", as: "claim" },
    { text: `${at(f.n)}: ${sides(f)}.` },
  ];
}

/** Breaks of the headline's mode that came and went. @param {Pair} pair @param {Figure} f @returns {Part[]} */
function breakClaim(pair, f) {
  const of = (/** @type {string} */ change) => (pair.breaks ?? []).filter((x) => x.change === change && x.mode === f.mode);
  const [added, gone] = [of("added"), of("gone")];
  const cost = (/** @type {typeof added} */ list, /** @type {"a" | "b"} */ side) =>
    list.every((x) => typeof x[side]?.cost_us === "number") ? list.reduce((sum, x) => sum + (x[side]?.cost_us ?? 0), 0) : null;
  /** @type {Part[]} */
  const parts = [];
  if (added.length) {
    const us = cost(added, "b");
    parts.push({ text: ` ${plural(added.length, "new break")}`, as: "claim" }, { text: us === null ? "." : ` cost ${duration(us)} a call.` });
  }
  if (gone.length) {
    const us = cost(gone, "a");
    parts.push({ text: ` ${plural(gone.length, "break")} gone`, as: "claim" }, { text: us === null ? "." : `, which cost ${duration(us)} a call.` });
  }
  return parts;
}

/** The sentence that opens a comparison. @param {Pair} pair @returns {Part[]} */
export function sentence(pair) {
  if (pair.verdict === "REFUSED")
    return [{ text: `${pair.b} and A are ${(pair.refused ?? "not comparable").split(":")[0]}`, as: "claim" }, { text: `:${(pair.refused ?? ":").split(":").slice(1).join(":")}.` }];
  const f = pair.headline;
  if (!f) return [{ text: `${pair.b} and A have no timed figure in common`, as: "claim" }, { text: ": there is nothing to judge." }];
  if (pair.verdict === "DISAGREES") return [{ text: `${f.mode} compares with nothing`, as: "claim" }, { text: `${at(f.n)}: ${f.why ?? "its values are not eager's"}.` }];
  if (pair.verdict === "NOT ENOUGH") return [{ text: `Too few rounds to tell ${pair.b} from A`, as: "claim" }, { text: ` under ${f.mode}${at(f.n)}: ${sides(f)}.` }];
  return [...(f.metric === "speedup" ? speedupClaim : latencyClaim)(f, pair.b), ...breakClaim(pair, f)];
}

/** How far the verdict reaches, and what the intervals hold. @param {Pair} pair @returns {string[]} */
export function how(pair) {
  if (!pair.figures) return [];
  /** @type {string[]} */
  const out = [];
  const counts = Object.entries(pair.counts ?? {}).filter(([, n]) => n > 0);
  const all = counts.reduce((sum, [, n]) => sum + n, 0);
  const metric = pair.headline?.metric === "speedup" ? "speedup" : "latenc";
  const many = metric === "speedup" ? plural(all, metric) : plural(all, "latency", "latencies");
  if (all > 1) out.push(`Of ${many} ${counts.map(([word, n]) => (word === "DISAGREES" ? `${n} ${n === 1 ? "disagrees" : "disagree"} with eager` : `${n} ${n === 1 ? "is" : "are"} ${word}`)).join(", ")}.`);
  const c = pair.control;
  if (c?.verdict === "SAME" && pair.headline?.mode !== "eager") out.push("Eager, the control, is the same in both.");
  else if (c && (c.verdict === "SLOWER" || c.verdict === "FASTER"))
    out.push(`Eager, the control, moved too (${ratioText(c).text}) with the same source and version, so the machine may have: the speedups are measured within each run.`);
  const repeats = Math.max(pair.headline?.a.repeats ?? 0, pair.headline?.b.repeats ?? 0);
  if (repeats) out.push(`The intervals hold what ${plural(repeats, "run")} of the same differ by.`);
  else if (pair.headline) out.push("One run a side: what differs from process to process is not in the intervals, the margin covers it.");
  return out;
}

/** The points of a sweep that both have, ascending. @param {readonly Figure[]} figures */
export const pointsIn = (figures) => [...new Set(figures.flatMap((f) => (f.n === null ? [] : [f.n])))].sort((a, b) => a - b);

/** The rows of one point: what is timed or measured once, and what is counted and differs.
 * @param {readonly Figure[]} figures @param {number | null} n
 * @returns {{rows: Figure[], same: number}} same: counted figures that are left out */
export function rowsAt(figures, n) {
  const here = figures.filter((f) => f.n === n || f.points > 0);
  const order = ["timed", "counted", "once"];
  const shown = here.filter((f) => f.kind !== "counted" || f.verdict !== "SAME");
  shown.sort((x, y) => order.indexOf(x.kind) - order.indexOf(y.kind) || x.metric.localeCompare(y.metric) * (x.kind === "timed" ? 1 : 0));
  return { rows: shown, same: here.length - shown.length };
}

/** What the axis of the rows has to hold: the ratios, and the intervals of what is timed.  That of a
 * figure that is measured once a run may reach from nothing to a hundred times. @param {readonly Figure[]} rows */
export const axisOf = (rows) => rows.flatMap((f) => [f.ratio ?? 1, ...(f.kind === "timed" ? (f.ci ?? []) : [])]).filter((x) => x > 0);

/** "2 added, 1 gone". @param {readonly {change: string}[]} list @param {readonly string[]} words */
export const tally = (list, words) => words.map((w) => `${list.filter((x) => x.change === w).length} ${w}`).join(", ");

/** Lines of a source about what changed, with at most `around` unchanged ones beside each; null
 * stands for lines that are left out.
 * @param {readonly import("../api/compare/types.js").Line[]} lines @param {number} around
 * @returns {(import("../api/compare/types.js").Line | null)[]} */
export function excerpt(lines, around) {
  const near = lines.map((_, i) => lines.slice(Math.max(0, i - around), i + around + 1).some((l) => l.sign !== " "));
  /** @type {(import("../api/compare/types.js").Line | null)[]} */
  const out = [];
  lines.forEach((l, i) => {
    if (near[i]) out.push(l);
    else if (out.length === 0 || out[out.length - 1] !== null) out.push(null);
  });
  return out;
}

/** The address of a comparison; what else `query` says of it stays.
 * @param {readonly (string | number)[]} ids @param {URLSearchParams} [query] */
export function compareUrl(ids, query = new URLSearchParams()) {
  const q = new URLSearchParams(ids.map((id, i) => [i ? "b" : "a", String(id)]));
  for (const [k, v] of query) if (k !== "a" && k !== "b") q.set(k, v);
  return `/compare?${q}`;
}
