// js/view/zoom.js -- zoom of a chart along x: drag, wheel, keys.
//
// The wheel zooms only after a click into the chart or with Ctrl held, else the
// page would stop scrolling under the pointer.  Fingers scroll the page.

import { moved, scaled } from "../model/ranges.js";

/** @typedef {import("../model/ranges.js").Range} Range */

const SMALLEST_DRAG = 8;

/** @param {HTMLCanvasElement} canvas @param {AbortSignal} signal @param {(range: Range, zoomed: boolean) => void} changed called before the chart is drawn anew */
export function enableZoom(canvas, signal, changed) {
  /** @type {any} */
  let chart = null;
  /** @type {Range} */
  let bounds = { min: 0, max: 1 };
  const isLog = () => chart.options.scales.x.type === "logarithmic";
  const now = () => ({ min: chart.scales.x.min, max: chart.scales.x.max });
  const set = (/** @type {Range} */ r) => {
    Object.assign(chart.options.scales.x, r);
    changed(r, r.min > bounds.min || r.max < bounds.max);
    chart.update("none");
  };
  const reset = () => { if (chart) set(bounds); };
  const xOf = (/** @type {MouseEvent} */ e) => {
    const { left, right } = chart.chartArea;
    return Math.min(right, Math.max(left, e.clientX - canvas.getBoundingClientRect().left));
  };
  /** @type {number | null} */
  let from = null;
  canvas.addEventListener("pointerdown", (e) => {
    if (!chart || e.button !== 0 || e.pointerType === "touch") return;
    from = xOf(e);
    canvas.setPointerCapture(e.pointerId);
  }, { signal });
  canvas.addEventListener("pointermove", (e) => {
    if (from === null || !chart) return;
    const to = xOf(e);
    chart.zoomSelection = [Math.min(from, to), Math.max(from, to)];
    chart.draw();
  }, { signal });
  const end = (/** @type {PointerEvent} */ e) => {
    if (from === null || !chart) return;
    const [a, b] = [from, xOf(e)].sort((p, q) => p - q);
    from = null;
    chart.zoomSelection = null;
    if (b - a < SMALLEST_DRAG) chart.draw();
    else set({ min: chart.scales.x.getValueForPixel(a), max: chart.scales.x.getValueForPixel(b) });
  };
  canvas.addEventListener("pointerup", end, { signal });
  canvas.addEventListener("pointercancel", end, { signal });
  canvas.addEventListener("dblclick", reset, { signal });
  canvas.addEventListener("wheel", (e) => {
    if (!chart || !(e.ctrlKey || document.activeElement === canvas)) return;
    e.preventDefault();
    set(scaled(now(), chart.scales.x.getValueForPixel(xOf(e)), e.deltaY > 0 ? 1.25 : 0.8, bounds, isLog()));
  }, { signal, passive: false });
  canvas.addEventListener("keydown", (e) => {
    if (!chart) return;
    const r = now();
    const middle = isLog() ? Math.sqrt(r.min * r.max) : (r.min + r.max) / 2;
    const next = { "+": () => scaled(r, middle, 0.8, bounds, isLog()), "=": () => scaled(r, middle, 0.8, bounds, isLog()), "-": () => scaled(r, middle, 1.25, bounds, isLog()),
      ArrowLeft: () => moved(r, -0.2, bounds), ArrowRight: () => moved(r, 0.2, bounds), 0: () => bounds }[e.key];
    if (!next) return;
    e.preventDefault();
    set(next());
  }, { signal });
  return {
    reset,
    /** @param {any} c */
    attach(c) {
      chart = c;
      bounds = now();
    },
  };
}
