// js/view/chart_marks.js -- what the charts carry beside their lines: the 1x
// line, the crossover with its band, and the series' names at the line ends.
//
// Names are moved apart where ends lie close, and follow the visible part of a
// line when the chart is zoomed.

import { token } from "./dom.js";
import { number, withInterval } from "../model/format.js";
import { spread, valueAt } from "../model/curves.js";

const GAP = 13;

/** @param {any} chart @param {any} o */
function under(chart, o) {
  const {
    ctx,
    chartArea: a,
    scales: { x, y },
  } = chart;
  ctx.save();
  if (o.margin) {
    const [top, bottom] = [1 + o.margin, 1 / (1 + o.margin)].map((v) => Math.min(a.bottom, Math.max(a.top, y.getPixelForValue(v))));
    ctx.fillStyle = token("--sunk");
    ctx.fillRect(a.left, top, a.right - a.left, bottom - top);
  }
  if (o.one && y.min < 1 && y.max > 1) {
    ctx.strokeStyle = token("--edge");
    ctx.lineWidth = 1;
    ctx.beginPath();
    ctx.moveTo(a.left, y.getPixelForValue(1));
    ctx.lineTo(a.right, y.getPixelForValue(1));
    ctx.stroke();
  }
  for (const c of visible(o.crossings, x)) {
    const [l, r] = [c.lo, c.hi].map((v) => Math.min(a.right, Math.max(a.left, x.getPixelForValue(v))));
    ctx.fillStyle = token("--ink");
    ctx.globalAlpha = 0.07;
    ctx.fillRect(l, a.top, r - l, a.bottom - a.top);
    ctx.globalAlpha = 1;
    ctx.strokeStyle = token("--ink");
    ctx.setLineDash([3, 2]);
    const px = Math.round(x.getPixelForValue(c.x)) + 0.5;
    ctx.beginPath();
    ctx.moveTo(px, a.top);
    ctx.lineTo(px, a.bottom);
    ctx.stroke();
    ctx.setLineDash([]);
  }
  ctx.restore();
}

/** @param {import("../model/curves.js").Crossing[]} crossings @param {any} x */
const visible = (crossings, x) => crossings.filter((c) => c.x >= x.min && c.x <= x.max).sort((p, q) => p.x - q.x);

/**
 * Text that stays legible where a line passes under it.
 * @param {CanvasRenderingContext2D} ctx
 * @param {string} text
 * @param {number} x
 * @param {number} y
 */
function haloed(ctx, text, x, y) {
  ctx.strokeStyle = token("--well");
  ctx.lineWidth = 4;
  ctx.lineJoin = "round";
  ctx.strokeText(text, x, y);
  ctx.fillText(text, x, y);
}

/**
 * Where the two lines of a crossing's label begin: as high as fewest curves allow, clear of the labels before it.
 * @param {any} chart @param {any} o @param {number} px @param {boolean} left @param {readonly number[]} taken
 */
function labelTop(chart, o, px, left, taken) {
  const {
    chartArea: a,
    scales: { x, y },
  } = chart;
  const heights = [10, 40, 70, 100].flatMap((dx) => {
    const at = x.getValueForPixel(px + (left ? -dx : dx));
    const values = o.series.map((/** @type {import("../model/curves.js").Series} */ s) => valueAt(s.dots, at, y.type === "logarithmic"));
    return [...values.flatMap((/** @type {number | null} */ v) => (v === null ? [] : [v / o.scale])), ...(o.one ? [1] : [])].map((v) => y.getPixelForValue(v));
  });
  let best = { top: a.top + 30 * taken.length, met: Infinity };
  for (let top = a.top; top <= a.bottom - 32; top += 6) {
    if (taken.some((t) => Math.abs(t - top) < 30)) continue;
    const met = heights.filter((v) => v > top - 3 && v < top + 31).length;
    if (met < best.met) best = { top, met };
  }
  return best.top;
}

/** @param {any} chart @param {any} o */
function over(chart, o) {
  const {
    ctx,
    chartArea: a,
    scales: { x },
  } = chart;
  const ui = token("--font-ui");
  ctx.save();
  ctx.textBaseline = "middle";
  /** @type {number[]} */
  const taken = [];
  visible(o.crossings, x).forEach((c) => {
    const px = x.getPixelForValue(c.x);
    // Over calls the curves rise to the right: the place above them is at the left.
    const left = o.by === undefined ? px > a.left + 0.7 * (a.right - a.left) : px > a.left + 110;
    const top = labelTop(chart, o, px, left, taken);
    taken.push(top);
    ctx.textAlign = left ? "right" : "left";
    ctx.font = `600 11px ${ui}`;
    ctx.fillStyle = token("--ink");
    haloed(
      ctx,
      o.by === undefined ? `n = ${withInterval(c.x, c.lo === c.hi ? null : [c.lo, c.hi]).text}` : `${number(c.x)} ${o.by}`,
      px + (left ? -7 : 7),
      top + 8,
    );
    ctx.font = `11px ${ui}`;
    ctx.fillStyle = token("--ink3");
    haloed(ctx, c.sub, px + (left ? -7 : 7), top + 22);
  });
  names(chart, o, `500 11px ${ui}`);
  ctx.restore();
}

/** @param {any} chart @param {any} o @param {string} font */
function names(chart, o, font) {
  const {
    ctx,
    chartArea: a,
    scales: { x, y },
  } = chart;
  const ends = o.series
    .flatMap((/** @type {import("../model/curves.js").Series} */ s) => {
      const last = s.dots[s.dots.length - 1];
      const at = Math.min(last.x, x.max);
      const v = at === last.x ? last.y : valueAt(s.dots, at, y.type === "logarithmic");
      const py = v === null ? NaN : y.getPixelForValue(v / o.scale);
      return py >= a.top - 8 && py <= a.bottom + 8 && at >= x.min
        ? [{ label: s.label, py, px: x.getPixelForValue(at) }]
        : [];
    })
    .sort((/** @type {any} */ p, /** @type {any} */ q) => p.py - q.py);
  const places = spread(
    ends.map((/** @type {any} */ e) => e.py),
    GAP,
    a.top,
    a.bottom,
  );
  ctx.font = font;
  ctx.fillStyle = token("--ink");
  ctx.textAlign = "left";
  ends.forEach((/** @type {any} */ e, /** @type {number} */ i) => ctx.fillText(e.label, e.px + 10, places[i]));
}

export const marksPlugin = {
  id: "marks",
  beforeDatasetsDraw: (/** @type {any} */ chart, /** @type {any} */ _args, /** @type {any} */ o) => under(chart, o),
  afterDatasetsDraw: (/** @type {any} */ chart, /** @type {any} */ _args, /** @type {any} */ o) => {
    over(chart, o);
    const sel = chart.zoomSelection;
    if (!sel) return;
    const { ctx, chartArea: a } = chart;
    ctx.save();
    ctx.fillStyle = token("--focus");
    ctx.globalAlpha = 0.12;
    ctx.fillRect(sel[0], a.top, sel[1] - sel[0], a.bottom - a.top);
    ctx.restore();
  },
};

/** What a crossing says in words. @param {import("../model/curves.js").Crossing} c */
export const crossingText = (c) => `${c.sub[0].toUpperCase()}${c.sub.slice(1)} at n = ${number(c.x)}.`;
