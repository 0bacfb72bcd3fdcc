// js/view/history_chart.js -- a figure over the runs of a workload: points with their intervals, the
// baseline, and where source or settings changed.  The table below has the same numbers.

import { h, token } from "./dom.js";
import { figureText } from "../model/compare.js";
import { modeOf } from "../model/modes.js";
import { baselineOf, label, measured, parting, what } from "../model/history.js";

/** @typedef {import("../api/compare/types.js").History} History */

const LABELS = 16;
const HALF = 3;
const ROW = 14;

/** What stands under and over the line. @param {History} data */
function marks(data) {
  const all = measured(data);
  return {
    id: "history",
    beforeDatasetsDraw: (/** @type {any} */ chart) => {
      const { ctx, chartArea: a, scales: { x, y } } = chart;
      ctx.save();
      ctx.font = `11px ${token("--font-ui")}`;
      ctx.textBaseline = "top";
      /** @type {number[]} right ends of the words in each row */
      const rows = [];
      all.forEach((p, i) => {
        const why = i ? parting(all[i - 1], p) : "";
        if (!why) return;
        const px = Math.round((x.getPixelForValue(i - 1) + x.getPixelForValue(i)) / 2) + 0.5;
        ctx.strokeStyle = token("--edge");
        ctx.setLineDash([3, 3]);
        ctx.beginPath();
        ctx.moveTo(px, a.top);
        ctx.lineTo(px, a.bottom);
        ctx.stroke();
        ctx.fillStyle = token("--ink3");
        const left = px > a.left + 0.75 * (a.right - a.left);
        ctx.textAlign = left ? "right" : "left";
        const width = ctx.measureText(why).width;
        const from = left ? px - 5 - width : px + 5;
        let at = rows.findIndex((end) => end < from);
        if (at < 0) at = rows.length;
        rows[at] = from + width + 6;
        ctx.fillText(why, px + (left ? -5 : 5), a.top + 2 + ROW * at);
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
      whiskers(chart, all, data.mode ?? "");
      ctx.restore();
    },
  };
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
function config(data) {
  const all = measured(data);
  const colour = token(`--${data.mode}`) || token("--ink2");
  const font = { size: 11, family: token("--font-ui") };
  const ticks = { color: token("--ink3"), font };
  const every = Math.ceil(all.length / (innerWidth < 640 ? 5 : LABELS));
  const ends = all.flatMap((p) => [p.value ?? 0, ...(p.ci ?? [])]);
  const [lo, hi] = [Math.min(...ends), Math.max(...ends)];
  const pad = (hi - lo) * 0.12 || hi * 0.1 || 1;
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
        pointRadius: 4,
        pointBorderColor: colour,
        pointBackgroundColor: token("--well"),
        segment: { borderColor: (/** @type {any} */ s) => (parting(all[s.p0DataIndex], all[s.p1DataIndex]) ? "transparent" : undefined) },
        clip: 8,
      }],
    },
    plugins: [marks(data)],
    options: {
      animation: false,
      maintainAspectRatio: false,
      layout: { padding: { top: 8, right: 12 } },
      plugins: {
        legend: { display: false },
        tooltip: { enabled: false }, // the table has it all
      },
      scales: {
        x: { offset: true, grid: { display: false }, border: { color: token("--line2") }, ticks: { ...ticks, autoSkip: false, maxRotation: 0, callback: (/** @type {number} */ i) => (i % every === 0 ? label(all[i]) : "") } },
        y: { min: lo - pad < 0 && lo >= 0 ? 0 : lo - pad, max: hi + pad, grid: { color: token("--line"), tickLength: 0 }, border: { display: false }, ticks: { ...ticks, maxTicksLimit: 6, includeBounds: false, callback: (/** @type {number} */ v) => figureText(data.unit ?? "", v).text } },
      },
    },
  };
}

/** @param {History} data @param {AbortSignal} signal */
export function historyChart(data, signal) {
  const all = measured(data);
  const name = `${what(data, all[all.length - 1])} over ${all.length} runs; the table below holds the same numbers`;
  const canvas = h("canvas", { role: "img", "aria-label": name });
  /** @type {any} */
  let chart = null;
  const draw = () => {
    const Chart = /** @type {any} */ (globalThis).Chart;
    chart?.destroy();
    if (Chart && !signal.aborted) chart = new Chart(canvas, config(data));
  };
  addEventListener("themechange", draw, { signal });
  signal.addEventListener("abort", () => chart?.destroy(), { once: true });
  requestAnimationFrame(draw);
  const better = data.more_is_better ? "higher is better" : "lower is better";
  const head = h("header", {}, h("h2", {}, what(data, all[all.length - 1])), h("p", {}, `${better}, 95 % intervals, oldest first`));
  return h("figure", { class: "chart", id: "history-chart" }, head, h("div", { class: "well" }, h("div", { class: "plot tall" }, canvas)));
}
