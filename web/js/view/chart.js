// js/view/chart.js -- a chart that is drawn from its table.
//
// The table (th[data-series], td[data-v][data-lo][data-hi]) is made first and
// read back: what a reader sees as numbers, as CSV and as lines cannot differ.
// Without Chart.js the table simply stays.

import { h, button, ci, download, segmented, token } from "./dom.js";
import { enableZoom } from "./zoom.js";
import { marksPlugin } from "./chart_marks.js";
import { modeOf, IMPORTED_DASH } from "../model/modes.js";
import { plain, withInterval } from "../model/format.js";
import { linearTicks, logTicks, toCsv, visiblePart, wantsLogX, yRange } from "../model/curves.js";

/** @typedef {import("../model/curves.js").Series} Series */
/**
 * @typedef {object} ChartSpec
 * @property {string} id  @property {string} title @property {string} note what is better
 * @property {string} summary the finding, for the canvas' name
 * @property {Series[]} series @property {import("../model/curves.js").Crossing[]} crossings
 * @property {string} xTitle @property {boolean} ratio ratios (log by default, 1x marked) or times
 * @property {import("../model/format.js").Unit} unit @property {string} file stem of the CSV's name
 */

/** @param {ChartSpec} spec @returns {HTMLTableElement} */
function makeTwin(spec) {
  const xs = [...new Set(spec.series.flatMap((s) => s.dots.map((d) => d.x)))].sort((a, b) => a - b);
  const suffix = spec.ratio ? "x" : "";
  const cell = (/** @type {Series} */ s, /** @type {number} */ x) => {
    const d = s.dots.find((p) => p.x === x);
    if (!d) return h("td", { class: "r dim" }, "not measured");
    const t = withInterval(d.y, d.lo === undefined || d.hi === undefined ? null : [d.lo, d.hi], { scale: spec.unit.scale, suffix });
    return h("td", { class: "r", data: { v: d.y, lo: d.lo, hi: d.hi } }, t.text, ci(t.interval));
  };
  return h("table", { id: `${spec.id}-table` }, h("caption", { class: "vh" }, `${spec.title} by n${spec.ratio ? "" : `, ${spec.unit.name}`}`),
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "n"),
      spec.series.map((s) => h("th", { scope: "col", class: "r", data: { series: s.key, mode: s.mode, imported: s.imported ? "yes" : "no" } }, s.label)))),
    h("tbody", {}, xs.map((x) => h("tr", {}, h("th", { scope: "row", data: { v: x } }, plain(x)), spec.series.map((s) => cell(s, x))))));
}

/** @param {HTMLTableElement} table @returns {Series[]} */
export function readTwin(table) {
  const heads = /** @type {HTMLElement[]} */ ([...table.querySelectorAll("thead th")]);
  return heads.flatMap((th, col) => {
    const { series: key, mode = "", imported } = th.dataset;
    if (!key) return [];
    const dots = [...table.tBodies[0].rows].flatMap((tr) => {
      const { v, lo, hi } = tr.cells[col].dataset;
      const x = Number(tr.cells[0].dataset.v);
      if (v === undefined) return [];
      return [lo === undefined || hi === undefined ? { x, y: Number(v) } : { x, y: Number(v), lo: Number(lo), hi: Number(hi) }];
    });
    return [{ key, mode, label: th.textContent ?? "", imported: imported === "yes", dots }];
  });
}

/** Datasets: under each line its band, as two edges of which the second fills to the first. @param {readonly Series[]} series @param {number} scale */
function datasets(series, scale) {
  /** @type {any[]} */
  const sets = [];
  for (const s of series) {
    const mode = modeOf(s.mode);
    const colour = token(`--${s.mode}`) || token("--ink2");
    if (s.dots.some((d) => d.lo !== undefined)) {
      const edge = (/** @type {"lo" | "hi"} */ k) => ({ data: s.dots.map((d) => ({ x: d.x, y: (d[k] ?? d.y) / scale })), borderWidth: 0, pointRadius: 0, pointHitRadius: 0, band: true, clip: 8 });
      sets.push({ ...edge("lo"), fill: false }, { ...edge("hi"), fill: sets.length, backgroundColor: `${colour}2e` });
    }
    const open = mode.point !== "star" && mode.point !== "crossRot";
    sets.push({
      label: s.label, data: s.dots.map((d) => ({ x: d.x, y: d.y / scale, lo: d.lo, hi: d.hi, raw: d.y })), borderColor: colour, borderWidth: 1.75,
      borderDash: s.imported ? IMPORTED_DASH : mode.dash, pointStyle: s.imported ? false : mode.point, pointRadius: s.imported ? 0 : 3.5,
      pointBorderWidth: 1.5, pointBorderColor: colour, pointBackgroundColor: open ? token("--well") : colour, clip: 8,
    });
  }
  return sets;
}

/** The y axis that fits what is seen of the series. @param {ChartSpec} spec @param {readonly Series[]} series @param {boolean} log */
function yBounds(spec, series, log) {
  const scaled = series.map((s) => ({ ...s, dots: s.dots.map((d) => ({ x: d.x, y: d.y / spec.unit.scale, lo: d.lo === undefined ? undefined : d.lo / spec.unit.scale, hi: d.hi === undefined ? undefined : d.hi / spec.unit.scale })) }));
  return yRange(scaled, { log, ratio: spec.ratio });
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
    const values = inside.length >= 2 && inside.length <= 12 ? inside : a.type === "logarithmic" ? logTicks(a.min, a.max, true) : linearTicks(a.min, a.max, narrow ? 4 : 7);
    a.ticks = values.map((/** @type {number} */ value) => ({ value }));
  };
  const yTicks = (/** @type {any} */ a) => {
    a.ticks = (log ? logTicks(a.min, a.max, spec.ratio) : linearTicks(a.min, a.max, 5)).map((value) => ({ value }));
  };
  return {
    x: { type: wantsLogX(xs) ? "logarithmic" : "linear", min: xs[0], max: xs[xs.length - 1] > xs[0] ? xs[xs.length - 1] : xs[0] + 1,
      grid: { display: false }, border: { color: token("--line2") }, afterBuildTicks: xTicks,
      ticks: { ...tick, callback: (/** @type {number} */ v) => plain(v) }, title: { display: true, text: spec.xTitle, color: token("--ink3"), font, padding: 0 } },
    y: { type: log ? "logarithmic" : "linear", min: y.min, max: y.max,
      grid: { color: token("--line"), tickLength: 0 }, border: { display: false }, afterBuildTicks: yTicks,
      ticks: { ...tick, callback: (/** @type {number} */ v) => `${plain(v)}${spec.ratio ? "x" : ""}` } },
  };
}

/** @param {ChartSpec} spec */
function tooltip(spec) {
  const suffix = spec.ratio ? "x" : "";
  return {
    filter: (/** @type {any} */ i) => !i.dataset.band, backgroundColor: token("--ink"), titleColor: token("--page"), bodyColor: token("--page"),
    cornerRadius: 3, padding: 8, displayColors: false, titleFont: { size: 12 }, bodyFont: { size: 12 },
    callbacks: {
      title: (/** @type {any[]} */ items) => (items.length ? `n = ${plain(items[0].parsed.x)}` : ""),
      label: (/** @type {any} */ i) => {
        const { raw, lo, hi } = i.raw;
        const t = withInterval(raw, lo === undefined ? null : [lo, hi], { scale: spec.unit.scale, suffix });
        return `${i.dataset.label}  ${t.text}${spec.ratio ? "" : ` ${spec.unit.name}`} ${t.interval}`;
      },
    },
  };
}

/**
 * @param {ChartSpec} spec @param {AbortSignal} signal
 * @returns {{figure: HTMLElement, update: (series: Series[], crossings: import("../model/curves.js").Crossing[]) => void, show: (view: "chart" | "table") => void, view: () => string}}
 */
export function chartFigure(spec, signal) {
  let log = spec.ratio;
  let table = makeTwin(spec);
  /** @type {any} */
  let chart = null;
  const canvas = h("canvas", { role: "img", "aria-label": spec.summary, tabindex: 0 });
  const plot = h("div", { class: "plot" }, canvas);
  const twin = h("div", { class: "twin", role: "region", "aria-label": `${spec.title} by n, table`, tabindex: 0, hidden: true }, table);
  const reset = button("Whole chart", () => zoom?.reset(), { hidden: true });
  const scale = segmented("Scale", [{ key: "linear", label: "Linear" }, { key: "log", label: "Log" }], log ? "log" : "linear", (k) => { log = k === "log"; draw(); });
  const show = (/** @type {string} */ v) => {
    plot.hidden = v === "table";
    twin.hidden = v !== "table";
    for (const b of views.querySelectorAll("button")) b.setAttribute("aria-pressed", String(b.dataset.key === v));
    if (v === "chart") chart?.resize();
  };
  const views = segmented("Show as", [{ key: "chart", label: "Chart" }, { key: "table", label: "Table" }], "chart", show);
  const csv = download("CSV", `${spec.file}_${spec.id}.csv`, "text/csv", () => toCsv(readTwin(table), spec.ratio ? "x" : "us"));
  const figure = h("figure", { class: "chart", id: spec.id },
    h("header", {}, h("h2", {}, spec.title), h("p", {}, spec.note), h("div", { class: "acts" }, reset, scale, views, csv)),
    h("div", { class: "well" }, plot, twin));

  /** @type {ReturnType<typeof enableZoom> | null} */
  let zoom = null;
  const draw = () => {
    const Chart = /** @type {any} */ (globalThis).Chart;
    if (!Chart) return show("table");
    chart?.destroy();
    const series = readTwin(table);
    const narrow = innerWidth < 640;
    const labels = series.some((s) => s.imported) ? 104 : narrow ? 58 : 68;
    chart = new Chart(canvas, {
      type: "line", data: { datasets: datasets(series, spec.unit.scale) }, plugins: [marksPlugin],
      options: {
        animation: false, responsive: true, maintainAspectRatio: false, parsing: false, normalized: true, locale: "en-US",
        interaction: { mode: "index", intersect: false }, layout: { padding: { right: labels, top: 4 } }, scales: scales(spec, series, log, narrow),
        plugins: { legend: { display: false }, tooltip: tooltip(spec), marks: { one: spec.ratio, crossings: spec.crossings, series, scale: spec.unit.scale } },
      },
    });
    zoom?.attach(chart);
    reset.hidden = true;
    return undefined;
  };
  zoom = enableZoom(canvas, signal, (range, zoomed) => {
    reset.hidden = !zoomed;
    Object.assign(chart.options.scales.y, yBounds(spec, visiblePart(readTwin(table), range.min, range.max, log), log));
    // Markers at the rim may reach out of the frame, lines that go on may not.
    for (const d of chart.data.datasets) d.clip = zoomed ? 0 : 8;
  });
  addEventListener("themechange", draw, { signal });
  signal.addEventListener("abort", () => chart?.destroy(), { once: true });
  return {
    figure, show,
    view: () => (twin.hidden ? "chart" : "table"),
    update: (series, crossings) => {
      Object.assign(spec, { series, crossings });
      const next = makeTwin(spec);
      table.replaceWith(next);
      table = next;
      draw();
    },
  };
}
