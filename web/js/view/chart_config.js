// js/view/chart_config.js -- what Chart.js is told: datasets, axes, tooltip.
//
// Colours are read from the CSS tokens each time, so a new theme needs no more
// than a new drawing.

import { token } from "./dom.js";
import { marksPlugin } from "./chart_marks.js";
import { lookOf, IMPORTED_DASH } from "../model/modes.js";
import { plain, withInterval } from "../model/format.js";
import { linearTicks, logTicks, wantsLogX, yRange } from "../model/curves.js";

/** What a narrow chart has room for below its axis. */
const NARROW_CHARS = 32;

/** @typedef {import("../model/curves.js").Series} Series */
/**
 * @typedef {object} ChartSpec
 * @property {string} id
 * @property {string} title
 * @property {string} note what is better
 * @property {string} summary the finding, for the canvas' name
 * @property {Series[]} series
 * @property {import("../model/curves.js").Crossing[]} crossings
 * @property {string} xTitle
 * @property {string} [by] what is on the x axis, "n" where left out
 * @property {boolean} ratio ratios (log by default, 1x marked) or times
 * @property {number} [margin] ratios of two runs: within it of 1x they are the same
 * @property {import("../model/format.js").Unit} unit
 * @property {string} file stem of the CSV's name
 */

/**
 * Datasets: under each line its band, as two edges of which the second fills to the first.
 * @param {readonly Series[]} series
 * @param {number} scale
 */
function datasets(series, scale) {
  /** @type {any[]} */
  const sets = [];
  for (const s of series) {
    const look = lookOf(s.mode, s.variant);
    const colour = token(`--${s.mode}`) || token("--ink2");
    if (s.dots.some((d) => d.lo !== undefined)) {
      const edge = (/** @type {"lo" | "hi"} */ k) => ({
        data: s.dots.map((d) => ({ x: d.x, y: (d[k] ?? d.y) / scale })),
        borderWidth: 0,
        pointRadius: 0,
        pointHitRadius: 0,
        band: true,
        clip: 8,
      });
      sets.push({ ...edge("lo"), fill: false }, { ...edge("hi"), fill: sets.length, backgroundColor: `${colour}2e` });
    }
    const open = look.point !== "star" && look.point !== "crossRot";
    sets.push({
      label: s.label,
      data: s.dots.map((d) => ({ x: d.x, y: d.y / scale, lo: d.lo, hi: d.hi, raw: d.y })),
      borderColor: colour,
      borderWidth: 1.75,
      borderDash: s.imported ? IMPORTED_DASH : look.dash,
      pointStyle: s.imported ? false : look.point,
      pointRadius: s.imported ? 0 : 3.5,
      pointBorderWidth: 1.5,
      pointBorderColor: colour,
      pointBackgroundColor: open ? token("--well") : colour,
      clip: 8,
    });
  }
  return sets;
}

/**
 * The y axis that fits what is seen of the series.
 * @param {ChartSpec} spec
 * @param {readonly Series[]} series
 * @param {boolean} log
 */
export function yBounds(spec, series, log) {
  const scaled = series.map((s) => ({
    ...s,
    dots: s.dots.map((d) => ({
      x: d.x,
      y: d.y / spec.unit.scale,
      lo: d.lo === undefined ? undefined : d.lo / spec.unit.scale,
      hi: d.hi === undefined ? undefined : d.hi / spec.unit.scale,
    })),
  }));
  return yRange(scaled, { log, ratio: spec.ratio, close: spec.margin !== undefined });
}

/** @param {ChartSpec} spec @param {readonly Series[]} series @param {boolean} log @param {boolean} narrow */
function scales(spec, series, log, narrow) {
  const xs = [...new Set(series.flatMap((s) => s.dots.map((d) => d.x)))].sort((a, b) => a - b);
  const font = { size: 11, family: token("--font-ui") };
  const tick = { color: token("--ink3"), font, padding: 6, autoSkip: false, maxRotation: 0 };
  const y = yBounds(spec, series, log);
  const fewer = narrow && xs.length > 6 ? xs.filter((_, i) => i % 2 === 0) : xs;
  const xTicks = (/** @type {any} */ a) => {
    const inside = fewer.filter((x) => x >= a.min && x <= a.max);
    const values =
      spec.by === undefined && inside.length >= 2 && inside.length <= 12
        ? inside
        : a.type === "logarithmic"
          ? logTicks(a.min, a.max, spec.by === undefined)
          : linearTicks(a.min, a.max, narrow ? 4 : 7);
    const chars = values.reduce((sum, v) => sum + plain(v).length + 2, 0);
    const every = narrow && (values.length > 6 || chars > NARROW_CHARS) ? 2 : 1;
    a.ticks = values.filter((_, i) => i % every === 0).map((/** @type {number} */ value) => ({ value }));
  };
  const yTicks = (/** @type {any} */ a) => {
    a.ticks = (log ? logTicks(a.min, a.max, spec.ratio && spec.by === undefined) : linearTicks(a.min, a.max, 5)).map((value) => ({ value }));
  };
  return {
    x: {
      type: wantsLogX(xs) ? "logarithmic" : "linear",
      min: xs[0],
      max: xs[xs.length - 1] > xs[0] ? xs[xs.length - 1] : xs[0] + 1,
      grid: { display: false },
      border: { color: token("--line2") },
      afterBuildTicks: xTicks,
      ticks: { ...tick, callback: (/** @type {number} */ v) => plain(v) },
      title: { display: true, text: spec.xTitle, color: token("--ink3"), font, padding: 0 },
    },
    y: {
      type: log ? "logarithmic" : "linear",
      min: y.min,
      max: y.max,
      grid: { color: token("--line"), tickLength: 0 },
      border: { display: false },
      afterBuildTicks: yTicks,
      ticks: { ...tick, callback: (/** @type {number} */ v) => `${plain(v)}${spec.ratio ? "x" : ""}` },
    },
  };
}

/** "n = 30", "310 calls". @param {string | undefined} by @param {string} x */
export const atText = (by, x) => (by === undefined ? `n = ${x}` : `${x} ${by}`);

/** How the tooltip of every chart looks, in the colours of now. */
export const tooltipLook = () => ({
  backgroundColor: token("--ink"),
  titleColor: token("--page"),
  bodyColor: token("--page"),
  cornerRadius: 3,
  padding: 8,
  displayColors: false,
  titleFont: { size: 12, family: token("--font-ui") },
  bodyFont: { size: 12, family: token("--font-ui") },
});

/** @param {ChartSpec} spec */
function tooltip(spec) {
  const suffix = spec.ratio ? "x" : "";
  return {
    filter: (/** @type {any} */ i) => !i.dataset.band,
    ...tooltipLook(),
    callbacks: {
      title: (/** @type {any[]} */ items) => (items.length ? atText(spec.by, plain(items[0].parsed.x)) : ""),
      label: (/** @type {any} */ i) => {
        const { raw, lo, hi } = i.raw;
        const t = withInterval(raw, lo === undefined ? null : [lo, hi], { scale: spec.unit.scale, suffix });
        return `${i.dataset.label}  ${t.text}${spec.ratio ? "" : ` ${spec.unit.name}`} ${t.interval}`;
      },
    },
  };
}

/**
 * @param {ChartSpec} spec
 * @param {readonly Series[]} series
 * @param {boolean} log
 */
export function chartConfig(spec, series, log) {
  const narrow = innerWidth < 640;
  const forNames = series.some((s) => s.imported) ? 104 : narrow ? 58 : 68;
  return {
    type: "line",
    data: { datasets: datasets(series, spec.unit.scale) },
    plugins: [marksPlugin],
    options: {
      animation: false,
      responsive: true,
      maintainAspectRatio: false,
      parsing: false,
      normalized: true,
      locale: "en-US",
      interaction: { mode: "index", intersect: false },
      layout: { padding: { right: forNames, top: 4 } },
      scales: scales(spec, series, log, narrow),
      plugins: {
        legend: { display: false },
        tooltip: tooltip(spec),
        marks: { one: spec.ratio, margin: spec.margin, crossings: spec.crossings, by: spec.by, series, scale: spec.unit.scale },
      },
    },
  };
}
