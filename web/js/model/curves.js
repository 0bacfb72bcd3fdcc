// js/model/curves.js -- a report's points as series, axes and crossovers.
//
// The chart's table is made from these, and the chart from its table.  A series
// keeps its gaps: a mode that was not measured at a point has no value there,
// it is not drawn as zero.

import { inOrder } from "./modes.js";

/** @typedef {{x: number, y: number, lo?: number, hi?: number}} Dot */
/** `variant` tells runs of one mode apart, 0 where left out (modes.js).
 * @typedef {{key: string, mode: string, label: string, imported: boolean, dots: Dot[], variant?: number}} Series */
/** @typedef {{x: number, lo: number, hi: number, text: string, sub: string}} Crossing */

/** The point a page opens with: the last of the sweep, or the one there is.
 * @param {import("../api/types.js").Report} report @returns {import("../api/types.js").Point[]} */
export function pointsOf(report) {
  if (report.points?.length) return report.points;
  return [{ n: null, source: report.workload?.source, modes: report.modes ?? {}, break_even: report.break_even, autocast: report.autocast }];
}

/**
 * Every mode with a figure at some point, in the page's order.
 * @param {readonly import("../api/types.js").Point[]} points
 */
export function modesOf(points) {
  return inOrder(new Set(points.flatMap((p) => Object.keys(p.modes))));
}

/** @param {import("../api/types.js").Report} report @returns {Series[]} microseconds a call over n */
export function latencySeries(report) {
  const points = report.points ?? [];
  return modesOf(points)
    .map((mode) => ({
      key: mode,
      mode,
      label: mode,
      imported: false,
      dots: points.flatMap((p) => {
        const l = p.modes[mode]?.latency;
        return l && typeof p.n === "number" ? [{ x: p.n, y: l.median_us, lo: l.ci_us[0], hi: l.ci_us[1] }] : [];
      }),
    }))
    .filter((s) => s.dots.length > 0);
}

/** @param {import("../api/types.js").Report} report @returns {Series[]} eager over mode, over n */
export function speedupSeries(report) {
  const points = report.points ?? [];
  return modesOf(points)
    .filter((m) => m !== "eager")
    .map((mode) => ({
      key: mode,
      mode,
      label: mode,
      imported: false,
      dots: points.flatMap((p) => {
        const b = p.break_even?.[mode];
        if (!b || typeof b.speedup !== "number" || typeof p.n !== "number") return [];
        return [
          b.speedup_ci ? { x: p.n, y: b.speedup, lo: b.speedup_ci[0], hi: b.speedup_ci[1] } : { x: p.n, y: b.speedup },
        ];
      }),
    }))
    .filter((s) => s.dots.length > 0);
}

/** Where two lines meet last: the log of their ratio is interpolated, as the profiler does.
 * @param {readonly Dot[]} a @param {readonly Dot[]} b @returns {number | null} null where they do not */
export function meeting(a, b) {
  const at = new Map(b.map((d) => [d.x, d.y]));
  const both = a.filter((d) => at.has(d.x)).map((d) => ({ x: d.x, d: Math.log(d.y / (at.get(d.x) ?? 1)) }));
  for (let i = both.length - 1; i > 0; i--) {
    const [p, q] = [both[i - 1], both[i]];
    if (p.d >= 0 !== q.d >= 0) return p.x + ((q.x - p.x) * p.d) / (p.d - q.d);
  }
  return null;
}

/** The value of a line at x, by straight lines (or on a logarithmic axis, by its straight lines).
 * @param {readonly Dot[]} dots @param {number} x @param {boolean} log @returns {number | null} */
export function valueAt(dots, x, log) {
  for (let i = 1; i < dots.length; i++) {
    const [p, q] = [dots[i - 1], dots[i]];
    if (x < p.x || x > q.x) continue;
    const t = (x - p.x) / (q.x - p.x);
    return log ? p.y * (q.y / p.y) ** t : p.y + t * (q.y - p.y);
  }
  return null;
}

/** The part of each series within [min, max], its ends read from the line.
 * @param {readonly Series[]} series
 * @param {number} min
 * @param {number} max
 * @param {boolean} log
 * @returns {Series[]} */
export function visiblePart(series, min, max, log) {
  return series
    .map((s) => {
      const edges = [min, max].flatMap((x) => {
        const y = valueAt(s.dots, x, log);
        return y === null ? [] : [{ x, y }];
      });
      return { ...s, dots: [...edges, ...s.dots.filter((d) => d.x >= min && d.x <= max)] };
    })
    .filter((s) => s.dots.length);
}

/** 1, 2 or 5 times a power of ten, not below v. @param {number} v */
export function niceAbove(v) {
  const p = 10 ** Math.floor(Math.log10(v) + 1e-12);
  for (const k of [1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10]) if (k * p >= v * (1 - 1e-9)) return k * p;
  return 10 * p;
}

/**
 * Round ticks that span [lo, hi], about `many` of them.
 * @param {number} lo
 * @param {number} hi
 * @param {number} many
 * @returns {number[]}
 */
export function linearTicks(lo, hi, many) {
  const raw = (hi - lo) / Math.max(1, many);
  if (!(raw > 0)) return [lo];
  const p = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((k) => k * p).find((s) => s >= raw * 0.999) ?? 10 * p;
  const out = [];
  for (let i = Math.ceil(lo / step - 1e-9); i * step <= hi + step * 1e-9; i++)
    out.push(Number((i * step).toPrecision(12)));
  return out;
}

/** Ticks of a logarithmic axis: powers of two for ratios, 1-2-5 for times.
 * @param {number} lo @param {number} hi @param {boolean} ratio @returns {number[]} */
export function logTicks(lo, hi, ratio) {
  /** @type {number[]} */
  let out = [];
  if (ratio) {
    const [a, b] = [Math.ceil(Math.log2(lo) - 1e-9), Math.floor(Math.log2(hi) + 1e-9)];
    const every = Math.max(1, Math.ceil((b - a) / 7));
    for (let e = a; e <= b; e++) if (e % every === 0) out.push(2 ** e);
  } else {
    for (let e = Math.floor(Math.log10(lo)); e <= Math.ceil(Math.log10(hi)); e++) {
      for (const k of [1, 2, 5])
        if (k * 10 ** e >= lo * (1 - 1e-9) && k * 10 ** e <= hi * (1 + 1e-9))
          out.push(Number((k * 10 ** e).toPrecision(12)));
    }
    if (out.length > 8) out = out.filter((v) => /^1/.test(v.toExponential()));
  }
  return out.length >= 2 ? out : linearTicks(lo, hi, 5);
}

/** The y range of a set of series, intervals included.  Ratios keep 0.5x to 2x in sight; those of
 * two runs (`close`), which lie near 1x, 0.9x to 1.1x.
 * @param {readonly Series[]} series
 * @param {{log: boolean, ratio: boolean, close?: boolean}} how
 * @returns {{min: number, max: number}} */
export function yRange(series, how) {
  const dots = series.flatMap((s) => s.dots);
  const hi = Math.max(...dots.map((d) => d.hi ?? d.y));
  const lo = Math.min(...dots.map((d) => d.lo ?? d.y));
  if (!dots.length || !(hi > 0)) return { min: 0, max: 1 };
  if (how.close) return { min: Math.min(0.9, lo * 0.98), max: Math.max(1.1, hi * 1.02) };
  if (!how.log) return { min: 0, max: niceAbove(hi * 1.02) };
  if (how.ratio) {
    return {
      min: Math.min(0.5, 2 ** Math.floor(Math.log2(lo))),
      max: Math.max(2, 2 ** (Math.ceil(4 * Math.log2(hi * 1.04)) / 4)),
    };
  }
  const safe = lo > 0 ? lo : hi / 1000;
  const floor = logTicks(safe / 10, safe, false).pop() ?? safe;
  return { min: floor, max: niceAbove(hi * 1.02) };
}

/** A sweep whose sizes grow by factors belongs on a logarithmic axis. @param {readonly number[]} xs */
export function wantsLogX(xs) {
  const v = [...xs].filter((x) => x > 0).sort((a, b) => a - b);
  return v.length >= 3 && v.length === xs.length && v[v.length - 1] / v[0] >= 64;
}

/** Positions at least `gap` apart within [min, max], each as near to its own as can be.
 * @param {readonly number[]} wanted sorted ascending
 * @param {number} gap
 * @param {number} min
 * @param {number} max
 * @returns {number[]} */
export function spread(wanted, gap, min, max) {
  const out = [...wanted];
  for (let i = 0; i < out.length; i++) out[i] = Math.max(out[i], i === 0 ? min : out[i - 1] + gap);
  for (let i = out.length - 1; i >= 0; i--) out[i] = Math.min(out[i], i === out.length - 1 ? max : out[i + 1] - gap);
  return out;
}

/** The crossovers that the report holds, for the mode the page speaks of.
 * @param {import("../api/types.js").Report} report @param {string | null} mode @returns {Crossing[]} */
export function crossings(report, mode) {
  const b = mode ? report.break_even?.[mode] : undefined;
  if (!b || typeof b.crossover_n !== "number") return [];
  const [lo, hi] = b.crossover_ci ?? [b.crossover_n, b.crossover_n];
  return [{ x: b.crossover_n, lo, hi, text: "", sub: `${mode} meets eager` }];
}

/** The series as comma-separated values: n, then median, low and high of each.
 * @param {readonly Series[]} series @param {string} unit @param {string} [by] what the first column is */
export function toCsv(series, unit, by = "n") {
  const cell = (/** @type {string} */ s) => (/[",\n]/.test(s) ? `"${s.replace(/"/g, '""')}"` : s);
  const xs = [...new Set(series.flatMap((s) => s.dots.map((d) => d.x)))].sort((a, b) => a - b);
  const head = [
    by,
    ...series.flatMap((s) => [`${s.label}_${unit}`, `${s.label}_${unit}_lo`, `${s.label}_${unit}_hi`]),
  ].map(cell);
  const rows = xs.map((x) =>
    [
      x,
      ...series.flatMap((s) => {
        const d = s.dots.find((p) => p.x === x);
        return [d?.y ?? "", d?.lo ?? "", d?.hi ?? ""];
      }),
    ].join(","),
  );
  return [head.join(","), ...rows, ""].join("\n");
}
