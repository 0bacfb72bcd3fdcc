// js/view/history_chart.js -- the curve of a history, drawn from the numbers of its table.
//
// Each point is a run: pointed at, by mouse or arrow keys, it says which; pressed, it leads to its
// row, where its note and the baseline are changed.

import { h, say, token } from "./dom.js";
import { tooltipLook } from "./chart_config.js";
import { chartFiles, ofChart } from "./chart_files.js";
import { chartLibrary } from "./chart_library.js";
import { baselineOf, label, measured, tip, valueAxis, valueRange, what } from "../model/history.js";
import { fileStem } from "../model/commands.js";
import { date } from "../model/format.js";
import { logTicks } from "../model/curves.js";
import { modeOf } from "../model/modes.js";

/** @typedef {import("../api/compare/types.js").History} History */

const LABELS = 12;
const LABELS_NARROW = 4;
const HALF = 3;
const NOTE_ROOM = 14;

/** What people noted, over the points; as much as there is room for. @param {any} chart @param {readonly import("../api/compare/types.js").HistoryPoint[]} all */
function notes(chart, all) {
  const { ctx, chartArea: a, scales: { x } } = chart;
  const noted = all.flatMap((p, i) => (p.run.note ? [{ px: x.getPixelForValue(i), text: p.run.note.replace(/\s+/g, " ") }] : []));
  ctx.setLineDash([]);
  ctx.lineWidth = 1;
  ctx.textBaseline = "top";
  ctx.textAlign = "left";
  noted.forEach(({ px, text }, i) => {
    ctx.strokeStyle = token("--link");
    ctx.beginPath();
    ctx.moveTo(Math.round(px) + 0.5, a.top - NOTE_ROOM);
    ctx.lineTo(Math.round(px) + 0.5, a.top + 6);
    ctx.stroke();
    const room = (noted[i + 1]?.px ?? a.right) - px - 12;
    let shown = text.slice(0, 80);
    while (shown && ctx.measureText(shown + (shown === text ? "" : "…")).width > room) shown = shown.slice(0, -1);
    ctx.fillStyle = token("--ink2");
    if (shown.length > 2) ctx.fillText(shown === text ? shown : `${shown}…`, px + 5, a.top - NOTE_ROOM);
  });
}

/** What is under and over the line. @param {History} data */
function marks(data) {
  const all = measured(data);
  return {
    id: "history",
    beforeDatasetsDraw: (/** @type {any} */ chart) => {
      const { ctx, chartArea: a, scales: { x, y } } = chart;
      ctx.save();
      ctx.font = `11px ${token("--font-ui")}`;
      all.forEach((p, i) => {
        if (!p.parting) return;
        const px = Math.round((x.getPixelForValue(i - 1) + x.getPixelForValue(i)) / 2) + 0.5;
        ctx.strokeStyle = token("--edge");
        ctx.setLineDash([3, 3]);
        ctx.beginPath();
        ctx.moveTo(px, a.top);
        ctx.lineTo(px, a.bottom);
        ctx.stroke();
      });
      const base = baselineOf(data);
      if (base) {
        const py = Math.round(y.getPixelForValue(base.value)) + 0.5;
        ctx.strokeStyle = token("--ink3");
        ctx.setLineDash([7, 3]);
        ctx.beginPath();
        ctx.moveTo(a.left, py);
        ctx.lineTo(a.right, py);
        ctx.stroke();
        ctx.fillStyle = token("--ink2");
        ctx.textAlign = "right";
        ctx.textBaseline = "bottom";
        ctx.fillText("baseline", a.right - 2, py - 3);
      }
      levels(chart, all);
      whiskers(chart, all, data.mode ?? "");
      notes(chart, all);
      ctx.restore();
    },
  };
}

/** The levels that the runs are of, and where each begins. @param {any} chart @param {readonly import("../api/compare/types.js").HistoryPoint[]} all */
function levels(chart, all) {
  const { ctx, chartArea: a, scales: { x, y } } = chart;
  ctx.strokeStyle = token("--ink");
  ctx.lineWidth = 1.5;
  ctx.setLineDash([]);
  all.forEach((p, i) => {
    if (typeof p.level !== "number" || all[i - 1]?.level === p.level) return;
    const end = all.findLastIndex((q, k) => k >= i && q.level === p.level);
    const py = Math.round(y.getPixelForValue(p.level)) + 0.5;
    const half = Math.min(24, (x.getPixelForValue(1) - x.getPixelForValue(0)) / 2 || 12);
    const from = x.getPixelForValue(i) - half;
    ctx.beginPath();
    ctx.moveTo(from, py);
    ctx.lineTo(x.getPixelForValue(end) + half, py);
    ctx.stroke();
    if (!p.change) return;
    ctx.beginPath();
    ctx.moveTo(Math.round(from) + 0.5, a.top);
    ctx.lineTo(Math.round(from) + 0.5, a.bottom);
    ctx.stroke();
  });
}

/** The interval of each point. @param {any} chart @param {readonly import("../api/compare/types.js").HistoryPoint[]} all @param {string} mode */
function whiskers(chart, all, mode) {
  const { ctx, scales: { x, y } } = chart;
  ctx.setLineDash([]);
  ctx.lineWidth = 1.25;
  ctx.strokeStyle = token(`--${mode}`) || token("--ink2");
  all.forEach((p, i) => {
    if (!p.ci) return;
    const [px, lo, hi] = [x.getPixelForValue(i), y.getPixelForValue(p.ci[0]), y.getPixelForValue(p.ci[1])];
    ctx.beginPath();
    for (const end of [lo, hi]) {
      ctx.moveTo(px - HALF, end);
      ctx.lineTo(px + HALF, end);
    }
    ctx.moveTo(px, lo);
    ctx.lineTo(px, hi);
    ctx.stroke();
  });
}

/** @param {History} data */
function tooltip(data) {
  return {
    ...tooltipLook(),
    callbacks: {
      title: (/** @type {any[]} */ items) => (items.length ? tip(data, items[0].dataIndex).title : ""),
      label: (/** @type {any} */ i) => tip(data, i.dataIndex).lines,
    },
  };
}

/** @param {History} data */
function config(data) {
  const all = measured(data);
  const colour = token(`--${data.mode}`) || token("--ink2");
  const font = { size: 11, family: token("--font-ui") };
  const ticks = { color: token("--ink3"), font };
  const narrow = innerWidth < 640;
  const every = Math.ceil(all.length / (narrow ? LABELS_NARROW : LABELS));
  const values = valueAxis(data);
  const title = (/** @type {string} */ text) => ({ display: true, text, color: token("--ink3"), font, padding: 0 });
  const ends = all.flatMap((p) => [p.value ?? 0, ...(p.ci ?? [])]);
  const range = valueRange(ends);
  const steps = (/** @type {any} */ a) => {
    if (range.log) a.ticks = logTicks(a.min, a.max, data.unit === "x").map((value) => ({ value }));
  };
  return {
    type: "line",
    data: {
      labels: all.map(label),
      datasets: [{
        data: all.map((p) => p.value),
        borderColor: colour,
        borderWidth: 1.75,
        borderDash: modeOf(data.mode ?? "").dash,
        pointStyle: modeOf(data.mode ?? "").point,
        pointRadius: all.map((p) => (p.run.imported ? 6 : 4)),
        pointRotation: all.map((p) => (p.run.imported ? 45 : 0)),
        pointBorderColor: colour,
        pointBackgroundColor: all.map((p) => (p.run.imported ? colour : token("--well"))),
        segment: { borderColor: (/** @type {any} */ s) => (all[s.p1DataIndex].parting ? "transparent" : undefined) },
        clip: 8,
      }],
    },
    plugins: [marks(data)],
    options: {
      animation: false,
      maintainAspectRatio: false,
      layout: { padding: { top: 8 + NOTE_ROOM, right: 12, bottom: 4, left: 4 } },
      interaction: { mode: "index", intersect: false },
      plugins: {
        legend: { display: false },
        tooltip: tooltip(data),
      },
      scales: {
        x: { offset: true, grid: { display: false }, border: { color: token("--line2") }, ticks: { ...ticks, autoSkip: false, maxRotation: 0, callback: (/** @type {number} */ i) => (i % every === 0 ? [label(all[i]), ...(narrow ? [] : [date(all[i].run.created_ns / 1e6)])] : "") }, title: title("run by commit and date, oldest at the left") },
        y: { type: range.log ? "logarithmic" : "linear", min: range.min, max: range.max, afterBuildTicks: steps, grid: { color: token("--line"), tickLength: 0 }, border: { display: false }, ticks: { ...ticks, maxTicksLimit: 6, includeBounds: false, callback: (/** @type {number} */ v) => values.write(v) }, title: title(values.title) },
      },
    },
  };
}

/** To the row of a point's run: there it is noted, and marked as the baseline. @param {History} data @param {number} i */
function toRow(data, i) {
  const row = document.querySelector(`#history-runs tr[data-run="${CSS.escape(String(measured(data)[i]?.run.id))}"]`);
  row?.scrollIntoView({ block: "center" });
  /** @type {HTMLElement | null | undefined} */ (row?.querySelector("th a"))?.focus({ preventScroll: true });
}

/** The arrow keys point, Enter leads to the row. @param {any} chart @param {History} data @param {KeyboardEvent} e */
function onKey(chart, data, e) {
  const last = measured(data).length - 1;
  const now = chart.getActiveElements()[0]?.index ?? last + 1;
  const to = { ArrowLeft: Math.max(0, now - 1), ArrowRight: Math.min(last, now + 1), Home: 0, End: last }[e.key];
  if (e.key === "Enter" && now <= last) toRow(data, now);
  else if (to === undefined) return;
  else {
    const active = [{ datasetIndex: 0, index: to }];
    chart.setActiveElements(active);
    chart.tooltip.setActiveElements(active, { x: 0, y: 0 });
    chart.update("none");
    const t = tip(data, to);
    say([t.title, ...t.lines].join(". "));
  }
  e.preventDefault();
}

/** @param {History} data @param {AbortSignal} signal */
export function historyChart(data, signal) {
  const all = measured(data);
  const name = `${what(data, all[all.length - 1])} over ${all.length} runs; the arrow keys point, Enter leads to the run's row; the table below holds the same numbers`;
  const canvas = h("canvas", { role: "img", "aria-label": name, tabindex: 0 });
  /** @type {any} */
  let chart = null;
  const draw = async () => {
    const Chart = await chartLibrary();
    figure.removeAttribute("aria-busy");
    chart?.destroy();
    if (Chart && !signal.aborted) chart = new Chart(canvas, config(data));
  };
  addEventListener("themechange", draw, { signal });
  signal.addEventListener("abort", () => chart?.destroy(), { once: true });
  canvas.addEventListener("keydown", (e) => chart && onKey(chart, data, e), { signal });
  canvas.addEventListener("click", (e) => {
    const at = chart?.getElementsAtEventForMode(e, "index", { intersect: false }, true)[0];
    if (at) toRow(data, at.index);
  }, { signal });
  requestAnimationFrame(draw);
  const better = data.more_is_better ? "higher is better" : "lower is better";
  const parted = all.some((p) => p.parting) ? "; dotted: source or settings changed" : "";
  const stepped = all.some((p) => p.change) ? "; upright: a step to another level" : "";
  const foreign = all.some((p) => p.run.imported) ? "; filled: imported, measured elsewhere or earlier" : "";
  const file = [fileStem(data.workload), "history", data.mode, data.metric].filter(Boolean).join("_");
  const acts = h("div", { class: "acts" }, chartFiles(file, name, ofChart(() => chart)));
  const head = h("header", {}, h("h2", {}, what(data, all[all.length - 1])), h("p", {}, `${better}, 95 % intervals${stepped}${parted}${foreign}`), acts);
  const figure = h("figure", { class: "chart", id: "history-chart", "aria-busy": "true" }, head, h("div", { class: "well" }, h("div", { class: "plot tall" }, canvas)));
  return figure;
}
