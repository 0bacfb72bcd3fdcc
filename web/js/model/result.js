// js/model/result.js -- the samples of what another tool measured, as curves and as a file.

/** An interval as the page writes it: "513 µs (507–519)". @param {string} shown as the server has it */
export const dashed = (shown) => shown.replace(/([\d,.])-(?=[\d.])/g, "$1–");

/** Places of a curve: of more samples some stand for all. */
const PLACES = 100;

/**
 * The samples from the least to the most, over how many of the others, in percent, are below each.
 * @param {readonly number[]} samples at least one @returns {{x: number, y: number}[]}
 */
export function spread(samples) {
  const sorted = [...samples].sort((a, b) => a - b);
  const n = sorted.length;
  const ranks = n <= PLACES ? sorted.map((_, i) => i) : Array.from({ length: PLACES + 1 }, (_, i) => Math.round((i * (n - 1)) / PLACES));
  return ranks.map((rank) => ({ x: n === 1 ? 0 : Math.round((1000 * rank) / (n - 1)) / 10, y: sorted[rank] }));
}

/**
 * A column a figure, a row a sample, in the order they were taken.
 * @param {import("../api/types.js").Report} report
 */
export function samplesCsv(report) {
  const columns = Object.entries(report.modes ?? {}).flatMap(([name, m]) => (m.measure?.samples ? [{ name, unit: m.measure.unit, samples: m.measure.samples }] : []));
  const quoted = (/** @type {string} */ text) => (/[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
  const rows = Array.from({ length: Math.max(0, ...columns.map((c) => c.samples.length)) }, (_, i) => columns.map((c) => (i < c.samples.length ? String(c.samples[i]) : "")));
  return [columns.map((c) => quoted(c.unit ? `${c.name} (${c.unit})` : c.name)), ...rows].map((r) => `${r.join(",")}\r\n`).join("");
}
