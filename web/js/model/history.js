// js/model/history.js -- a workload over its runs: what the page says, and where its line breaks.
//
// Nothing here looks for change points: the runs are as they were measured.  A line joins two
// runs only where both are of the same source and comparable; between others lies a break in the
// line, with its reason.

import { figureText } from "./compare.js";
import { date, plain, plural, timeUnit, withInterval } from "./format.js";

/** @typedef {import("../api/compare/types.js").History} History */
/** @typedef {import("../api/compare/types.js").HistoryPoint} HistoryPoint */
/** @typedef {import("./sentence.js").Part} Part */

/** What a run is called on the axis: its commit, else its number. @param {HistoryPoint} p */
export const label = (p) => (p.run.commit ? p.run.commit.slice(0, 7) : `#${p.run.id}`);

/** @param {History} h @returns {HistoryPoint[]} those with a figure */
export const measured = (h) => (h.points ?? []).filter((p) => p.value !== null);

/** Why the line between two runs is broken; "" where it goes on. @param {HistoryPoint} p @param {HistoryPoint} q */
export function parting(p, q) {
  if (p.settings !== q.settings) return "settings changed";
  if (p.n !== q.n) return "other point";
  return p.source === q.source ? "" : "source changed";
}

/** The run that later ones are held against. @param {History} h @returns {HistoryPoint | null} */
export const baselineOf = (h) => measured(h).find((p) => p.run.baseline) ?? null;

/** "static speedup over eager at n = 30" @param {History} h @param {HistoryPoint} p */
export function what(h, p) {
  return `${h.mode} ${h.title}${p.n === null ? "" : ` at n = ${plain(p.n)}`}`;
}

/** The sentence that opens a history. @param {History} h @returns {Part[]} */
export function sentence(h) {
  const all = measured(h);
  const newest = all[all.length - 1];
  if (!newest) return [{ text: "No run of it has this figure", as: "claim" }, { text: "." }];
  const t = figureText(h.unit ?? "", newest.value ?? 0, newest.ci);
  /** @type {Part[]} */
  const parts = [{ text: `${what(h, newest)}: ${t.text}`, as: "claim" }, { text: ` ${t.interval}`, as: "interval" }, { text: ` in the newest of ${plural(all.length, "run")}` }];
  const base = baselineOf(h);
  if (base && base !== newest) {
    const b = figureText(h.unit ?? "", base.value ?? 0, base.ci);
    parts.push({ text: `; the baseline #${base.run.id} has ` }, { text: b.text, as: "claim" }, { text: ` ${b.interval}`, as: "interval" });
  }
  return [...parts, { text: base === newest ? ", which is the baseline." : "." }];
}

/** What the page cannot say, and what it leaves out. @param {History} h */
export function how(h) {
  const all = h.points ?? [];
  const without = all.filter((p) => p.value === null);
  const failed = without.filter((p) => p.run.status === "failed").length;
  const out = ["Change points are not computed: the runs are as they were measured, oldest at the left."];
  if (!baselineOf(h)) out.push("No run is marked as the baseline.");
  if (failed) out.push(`${plural(failed, "run")} failed.`);
  const wrong = without.filter((p) => p.run.summary?.verdict === "DISAGREES").length;
  if (wrong) out.push(`${plural(wrong, "run")} with other values than eager's ${wrong === 1 ? "has" : "have"} no place on the line.`);
  if (without.length > failed + wrong) out.push(`${plural(without.length - failed - wrong, "run")} did not measure this figure.`);
  if ((h.total ?? 0) > all.length) out.push(`The newest ${all.length} of ${plural(h.total ?? 0, "run")}.`);
  if (h.pending) out.push("Older runs are still being read: open the page again for more.");
  return out.join(" ");
}

/** How the axis of values is written: its title, and each tick in one unit.
 * @param {History} h @returns {{title: string, write: (v: number) => string}} */
export function valueAxis(h) {
  const title = h.title ?? "";
  if (h.unit === "us") {
    const unit = timeUnit(measured(h).map((p) => p.value ?? 0));
    return { title: `${title}, ${unit.name}`, write: (v) => plain(Number((v / unit.scale).toPrecision(4))) };
  }
  if (h.unit === "x") return { title: `${title}, x`, write: (v) => `${plain(Number(v.toPrecision(4)))}x` };
  if (h.unit === "B") return { title, write: (v) => figureText("B", v).text };
  return { title: h.unit ? `${title}, ${h.unit}` : title, write: (v) => plain(Number(v.toPrecision(4))) };
}

/** What is said of one point: which run it is of, its figure, and what people noted.
 * @param {History} h @param {number} i among those measured @returns {{title: string, lines: string[]}} */
export function tip(h, i) {
  const all = measured(h);
  const p = all[i];
  const t = figureText(h.unit ?? "", p.value, p.ci);
  const title = [`#${p.run.id}`, p.run.commit ? `commit ${p.run.commit.slice(0, 7)}` : "", p.run.branch, date(p.run.created_ns / 1e6), p.run.imported ? "imported" : ""].filter(Boolean).join(", ");
  const base = baselineOf(h);
  const times = base && base !== p && Number(base.value) > 0 ? withInterval(Number(p.value) / Number(base.value), null).text : "";
  const changed = i ? parting(all[i - 1], p) : "";
  return { title, lines: [`${what(h, p)}: ${t.text} ${t.interval}`.trim(), p.run.baseline ? "the baseline" : times ? `${times}x of the baseline` : "", changed, p.run.note ? `Note: ${p.run.note.replace(/\s+/g, " ").slice(0, 120)}` : ""].filter(Boolean) };
}
