// js/view/zoom.js -- zoom of a chart along x: drag, wheel, keys.
//
// The wheel zooms only after a click into the chart or with Ctrl held, else the
// page would stop scrolling under the pointer.  Fingers scroll the page.

import { moved, scaled } from "../model/ranges.js";

/** @typedef {import("../model/ranges.js").Range} Range */

const SMALLEST_DRAG = 8;
const STEP = 0.8;

export class Zoom {
  #canvas;
  #changed;
  /** @type {any} */
  #chart = null;
  /** @type {Range} */
  #bounds = { min: 0, max: 1 };
  /** @type {number | null} where a drag began, in pixels of the canvas */
  #from = null;

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {AbortSignal} signal
   * @param {(range: Range, zoomed: boolean) => void} changed called before the chart is drawn again
   */
  constructor(canvas, signal, changed) {
    this.#canvas = canvas;
    this.#changed = changed;
    canvas.addEventListener("pointerdown", (e) => this.#begin(e), { signal });
    canvas.addEventListener("pointermove", (e) => this.#drag(e), { signal });
    canvas.addEventListener("pointerup", (e) => this.#end(e), { signal });
    canvas.addEventListener("pointercancel", (e) => this.#end(e), { signal });
    canvas.addEventListener("dblclick", () => this.reset(), { signal });
    canvas.addEventListener("wheel", (e) => this.#wheel(e), { signal, passive: false });
    canvas.addEventListener("keydown", (e) => this.#key(e), { signal });
  }

  /** @param {any} chart a new drawing on the same canvas, whole */
  attach(chart) {
    this.#chart = chart;
    this.#bounds = this.#now();
  }

  reset() {
    if (this.#chart) this.#set(this.#bounds);
  }

  #now() {
    const { min, max } = this.#chart.scales.x;
    return { min, max };
  }

  get #log() {
    return this.#chart.options.scales.x.type === "logarithmic";
  }

  /** @param {Range} r */
  #set(r) {
    Object.assign(this.#chart.options.scales.x, r);
    this.#changed(r, r.min > this.#bounds.min || r.max < this.#bounds.max);
    this.#chart.update("none");
  }

  /** @param {MouseEvent} e @returns {number} within the plot */
  #xOf(e) {
    const { left, right } = this.#chart.chartArea;
    return Math.min(right, Math.max(left, e.clientX - this.#canvas.getBoundingClientRect().left));
  }

  /** @param {PointerEvent} e */
  #begin(e) {
    if (!this.#chart || e.button !== 0 || e.pointerType === "touch") return;
    this.#from = this.#xOf(e);
    this.#canvas.setPointerCapture(e.pointerId);
  }

  /** @param {PointerEvent} e */
  #drag(e) {
    if (this.#from === null || !this.#chart) return;
    const to = this.#xOf(e);
    this.#chart.zoomSelection = [Math.min(this.#from, to), Math.max(this.#from, to)];
    this.#chart.draw();
  }

  /** @param {PointerEvent} e */
  #end(e) {
    if (this.#from === null || !this.#chart) return;
    const [a, b] = [this.#from, this.#xOf(e)].sort((p, q) => p - q);
    const { x } = this.#chart.scales;
    this.#from = null;
    this.#chart.zoomSelection = null;
    if (b - a < SMALLEST_DRAG) this.#chart.draw();
    else this.#set({ min: x.getValueForPixel(a), max: x.getValueForPixel(b) });
  }

  /** @param {WheelEvent} e */
  #wheel(e) {
    if (!this.#chart || !(e.ctrlKey || document.activeElement === this.#canvas)) return;
    e.preventDefault();
    const at = this.#chart.scales.x.getValueForPixel(this.#xOf(e));
    this.#set(scaled(this.#now(), at, e.deltaY > 0 ? 1 / STEP : STEP, this.#bounds, this.#log));
  }

  /** @param {KeyboardEvent} e */
  #key(e) {
    if (!this.#chart) return;
    const r = this.#now();
    const middle = this.#log ? Math.sqrt(r.min * r.max) : (r.min + r.max) / 2;
    const by = (/** @type {number} */ factor) => scaled(r, middle, factor, this.#bounds, this.#log);
    const next = {
      "+": () => by(STEP),
      "=": () => by(STEP),
      "-": () => by(1 / STEP),
      ArrowLeft: () => moved(r, -0.2, this.#bounds),
      ArrowRight: () => moved(r, 0.2, this.#bounds),
      0: () => this.#bounds,
    }[e.key];
    if (!next) return;
    e.preventDefault();
    this.#set(next());
  }
}
