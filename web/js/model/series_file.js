// js/model/series_file.js -- a series from a file, to lay over a run's own: CSV or JSON.
//
// CSV is what the charts write: a column n, then one a mode with its unit in the name
// (static_us, or graphs_ms), and where there is an interval static_us_lo and static_us_hi.
// JSON is a report: what `breakeven run --json` prints, or an export.

import { latencySeries, speedupSeries } from "./curves.js";
import { MODES } from "./modes.js";

/** @typedef {import("./curves.js").Series} Series */
/** @typedef {import("./published.js").Overlay} Overlay */

const MOST_ROWS = 2000;
const MOST_COLUMNS = 100;
const UNITS = { ns: 1e-3, us: 1, ms: 1e3, s: 1e6 };

/** One line of CSV. @param {string} line @returns {string[]} */
function cells(line) {
  const cell = /(?:"((?:[^"]|"")*)"|([^",][^,]*|))(,|$)/y;
  const out = [];
  for (;;) {
    const m = cell.exec(line);
    if (!m) throw new Error(`${line.slice(0, 40)}: a quote has no end`);
    out.push((m[1]?.replace(/""/g, '"') ?? m[2]).trim());
    if (!m[3]) return out;
  }
}

/** "static_us_lo": whose it is, in microseconds a unit, and which of the three.
 * @param {string} head @returns {{name: string, mode: string, scale: number, part: "y" | "lo" | "hi"} | null} */
function columnOf(head) {
  const m = /^(.+)_(ns|us|ms|s)(?:_(lo|hi))?$/.exec(head);
  if (!m) return null;
  const words = m[1].toLowerCase().split(/[^a-z]+/);
  const mode = MODES.find((x) => words.includes(x.name))?.name;
  return mode ? { name: m[1], mode, scale: UNITS[/** @type {keyof typeof UNITS} */ (m[2])], part: /** @type {"lo" | "hi" | undefined} */ (m[3]) ?? "y" } : null;
}

/** @param {string} text @param {number} line @param {string} head */
function numberOf(text, line, head) {
  const x = Number(text);
  if (!Number.isFinite(x) || x <= 0) throw new Error(`line ${line}, ${head}: ${text.slice(0, 40)} is not a number above 0`);
  return x;
}

/** @param {string} text @returns {Series[]} latencies in microseconds over n */
function fromCsv(text) {
  const lines = text.split(/\r?\n/).map((l) => l.trim());
  const head = cells(lines[0].replace(/^\ufeff/, ""));
  if (head[0] !== "n") throw new Error(`the first column is ${head[0] ? head[0].slice(0, 40) : "empty"}; it must be n, followed by columns such as static_us`);
  if (head.length > MOST_COLUMNS || lines.length > MOST_ROWS + 2) throw new Error(`at most ${MOST_ROWS} lines and ${MOST_COLUMNS} columns are read`);
  const columns = head.slice(1).map((h) => {
    const c = columnOf(h);
    if (!c) throw new Error(`column ${h.slice(0, 40)}: a mode and a unit are needed, for example static_us; modes are ${MODES.map((m) => m.name).join(", ")}, units ns, us, ms, s`);
    return c;
  });
  /** @type {Map<string, Series>} */
  const series = new Map();
  lines.slice(1).forEach((line, i) => {
    if (!line) return;
    const row = cells(line);
    if (row.length !== head.length) throw new Error(`line ${i + 2} has ${row.length} cells, and the head has ${head.length}`);
    const x = numberOf(row[0], i + 2, "n");
    columns.forEach((c, k) => {
      if (!row[k + 1]) return;
      const of = series.get(c.name) ?? { key: c.name, mode: c.mode, label: c.name, imported: true, dots: [] };
      series.set(c.name, of);
      let dot = of.dots.find((d) => d.x === x);
      if (!dot) of.dots.push((dot = { x, y: NaN }));
      dot[c.part] = numberOf(row[k + 1], i + 2, head[k + 1]) * c.scale;
    });
  });
  return [...series.values()].map((s) => ({ ...s, dots: s.dots.filter((d) => d.y > 0).sort((a, b) => a.x - b.x) })).filter((s) => s.dots.length);
}

/** Ratios of medians: nothing is known of what the two have in common. @param {readonly Series[]} latency @returns {Series[]} */
function ratiosOf(latency) {
  const eager = new Map(latency.find((s) => s.mode === "eager")?.dots.map((d) => [d.x, d.y]) ?? []);
  return latency
    .filter((s) => s.mode !== "eager")
    .map((s) => ({ ...s, dots: s.dots.flatMap((d) => (eager.has(d.x) ? [{ x: d.x, y: Number(eager.get(d.x)) / d.y }] : [])) }))
    .filter((s) => s.dots.length);
}

/** Series as another's: dotted, with whose they are in their names.
 * @param {readonly Series[]} series @param {string} key @param {string} short @returns {Series[]} */
export const asOthers = (series, key, short) => series.map((s) => ({ ...s, key: `${s.key}-${key}`, label: `${s.mode}, ${short}`, imported: true }));

/**
 * What a report's sweep gives to lay over; null where it has none.
 * @param {import("../api/types.js").Report} report
 * @param {{key: string, title: string, short: string, source: string}} named @returns {Overlay | null}
 */
export function overlayOfReport(report, named) {
  const latency = asOthers(latencySeries(report), named.key, named.short);
  return latency.length ? { ...named, latency, speedup: asOthers(speedupSeries(report), named.key, named.short), crossings: [] } : null;
}

/**
 * @param {string} name of the file @param {string} text @returns {Overlay}
 * Throws an Error that says what is wrong, and where.
 */
export function overlayOfFile(name, text) {
  const short = name.replace(/\.[^.]*$/, "").slice(0, 24) || "file";
  const named = { key: `file:${name}`, title: name, short, source: `From the file ${name}, kept in this page alone` };
  if (/^\s*\{/.test(text)) {
    const json = JSON.parse(text);
    const overlay = overlayOfReport(json?.report ?? json, named);
    if (!overlay) throw new Error("it has no sweep: a report with `points` is needed");
    return overlay;
  }
  const read = fromCsv(text);
  if (!read.length) throw new Error("no line has a figure");
  const latency = asOthers(read, named.key, short);
  return { ...named, latency, speedup: asOthers(ratiosOf(read), named.key, short), crossings: [] };
}
