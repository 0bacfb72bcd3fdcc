// js/view/timeline_canvas.js -- a timeline that is zoomed, moved and pointed into.
//
// Wheel, drag, two fingers and keys; the window is handed on after each change.
// The wheel zooms only with the focus in the canvas or Ctrl held, else the page
// would stop scrolling under the pointer.

import { drawTimeline, heightOf, OVERVIEW, overviewTime, rowsOf, timeOf } from "./timeline_draw.js";
import { DEVICE_KINDS, keepInside, partner, sliceAt } from "../model/timeline.js";

/** @typedef {import("../model/timeline.js").Slice} Slice */
/** @typedef {import("../model/timeline.js").View} View */

const LEAST_NS = 50;
const SLACK_PX = 3;

export class TimelineCanvas {
  #canvas;
  /** @type {import("./timeline_draw.js").Scene} */
  #scene;
  #moved;
  #pointed;
  /** @type {Map<number, number>} x of each finger or button that is down */
  #down = new Map();
  #dragged = false;
  #frame = 0;

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {View} view all of it, perhaps sampled
   * @param {AbortSignal} signal
   * @param {(t0: number, t1: number) => void} moved
   * @param {(slice: Slice | null, kept: boolean) => void} pointed kept: by click or key
   */
  constructor(canvas, view, signal, moved, pointed) {
    this.#canvas = canvas;
    this.#moved = moved;
    this.#pointed = pointed;
    this.#scene = { view, whole: view, t0: 0, t1: Math.max(1, view.span), pointed: null, width: 0 };
    const on = (/** @type {string} */ type, /** @type {(e: any) => void} */ act) =>
      canvas.addEventListener(type, act, { signal, passive: false });
    on("wheel", (e) => this.#wheel(e));
    on("pointerdown", (e) => this.#press(e));
    on("pointermove", (e) => this.#move(e));
    on("pointerup", (e) => this.#release(e));
    on("pointercancel", (e) => this.#down.delete(e.pointerId));
    on("pointerleave", () => this.#down.size || this.#pointed(this.#scene.pointed, true));
    on("keydown", (e) => this.#key(e));
    const size = new ResizeObserver(() => this.redraw());
    size.observe(canvas);
    signal.addEventListener("abort", () => size.disconnect(), { once: true });
    addEventListener("themechange", () => this.redraw(), { signal });
  }

  get window() {
    return { t0: this.#scene.t0, t1: this.#scene.t1 };
  }

  /** A finer view of the window. @param {View} view */
  refine(view) {
    this.#scene.view = view;
    this.redraw();
  }

  redraw() {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => {
      this.#scene.width = this.#canvas.clientWidth;
      this.#canvas.style.height = `${heightOf(this.#scene.view)}px`;
      const { pointed, view } = this.#scene;
      if (this.#scene.width > 0) drawTimeline(this.#canvas, this.#scene, pointed && partner(view.slices, pointed));
    });
  }

  /** @param {number} t0 @param {number} t1 */
  show(t0, t1) {
    Object.assign(this.#scene, keepInside(t0, t1, Math.max(1, this.#scene.whole.span), LEAST_NS));
    this.redraw();
    this.#moved(this.#scene.t0, this.#scene.t1);
  }

  /** @param {Slice | null} slice */
  point(slice) {
    this.#scene.pointed = slice;
    this.redraw();
    this.#pointed(slice, true);
  }

  /** @param {number} factor @param {number} about */
  #zoom(factor, about) {
    const { t0, t1 } = this.#scene;
    if ((t1 - t0) * factor < LEAST_NS && factor < 1) return;
    this.show(about - (about - t0) * factor, about + (t1 - about) * factor);
  }

  /** @param {number} share of the window */
  #pan(share) {
    const { t0, t1 } = this.#scene;
    this.show(t0 + (t1 - t0) * share, t1 + (t1 - t0) * share);
  }

  /** @param {MouseEvent} e @returns {[number, number]} */
  #place(e) {
    const box = this.#canvas.getBoundingClientRect();
    return [e.clientX - box.left, e.clientY - box.top];
  }

  /** @param {WheelEvent} e */
  #wheel(e) {
    if (!(e.ctrlKey || document.activeElement === this.#canvas)) return;
    e.preventDefault();
    if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) this.#pan((e.deltaX || e.deltaY) / 1200);
    else this.#zoom(Math.exp(Math.max(-300, Math.min(300, e.deltaY)) / 400), timeOf(this.#scene, this.#place(e)[0]));
  }

  /** @param {PointerEvent} e */
  #press(e) {
    if (e.button !== 0) return;
    const [x, y] = this.#place(e);
    if (y < OVERVIEW) return this.#centre(x);
    this.#down.set(e.pointerId, x);
    this.#dragged = false;
    this.#canvas.setPointerCapture(e.pointerId);
    return undefined;
  }

  /** The window about a place of the overview. @param {number} x */
  #centre(x) {
    const { t0, t1 } = this.#scene;
    const at = overviewTime(this.#scene, x);
    this.show(at - (t1 - t0) / 2, at + (t1 - t0) / 2);
  }

  /** @param {PointerEvent} e */
  #move(e) {
    const [x, y] = this.#place(e);
    const before = this.#down.get(e.pointerId);
    if (before === undefined) {
      if (e.buttons && y < OVERVIEW) this.#centre(x);
      else this.#pointed(this.#sliceAt(x, y) ?? this.#scene.pointed, false);
      return;
    }
    if (Math.abs(x - before) < 3 && !this.#dragged) return;
    this.#dragged = true;
    const other = [...this.#down].find(([id]) => id !== e.pointerId)?.[1];
    this.#down.set(e.pointerId, x);
    const s = this.#scene;
    if (other === undefined) {
      const d = timeOf(s, before) - timeOf(s, x);
      this.show(s.t0 + d, s.t1 + d);
    } else if (Math.abs(x - other) > 8) {
      this.#zoom(Math.abs(before - other) / Math.abs(x - other), timeOf(s, other));
    }
  }

  /** @param {PointerEvent} e */
  #release(e) {
    const clicked = this.#down.delete(e.pointerId) && !this.#dragged;
    if (!clicked) return;
    this.point(this.#sliceAt(...this.#place(e)));
  }

  /** @param {number} x @param {number} y */
  #sliceAt(x, y) {
    const s = this.#scene;
    const row = rowsOf(s.view).find((r) => y >= r.y && y <= r.y + r.height);
    if (!row) return null;
    return sliceAt(s.view.slices, row.id, timeOf(s, x), ((s.t1 - s.t0) / Math.max(1, s.width)) * SLACK_PX);
  }

  /** The window on the next call. @param {number} by */
  #stepCall(by) {
    const { t0, t1, whole } = this.#scene;
    const all = whole.slices.filter((s) => s.kind === "call");
    const now = all.findLastIndex((s) => s.start <= (t0 + t1) / 2);
    const next = all[Math.max(0, now + by)];
    if (next) this.fit(next);
  }

  /** The next kernel pointed at, and in sight. @param {number} by */
  #stepKernel(by) {
    const { t0, t1, pointed, view } = this.#scene;
    const all = view.slices.filter((s) => DEVICE_KINDS.includes(s.kind));
    const from = pointed?.start ?? (by > 0 ? t0 - 2 : t1 + 2);
    const next = by > 0 ? all.find((s) => s.start > from) : all.findLast((s) => s.start < from);
    if (!next) return;
    if (next.start < t0 || next.start + next.duration > t1) {
      const d = next.start - (t1 - t0) / 3 - t0;
      this.show(t0 + d, t1 + d);
    }
    this.point(next);
  }

  /** @param {Slice} slice */
  fit(slice) {
    // Calls stand side by side: what is beside one is another.
    const margin = slice.kind === "call" ? 0 : Math.max(slice.duration * 0.06, LEAST_NS);
    this.show(slice.start - margin, slice.start + slice.duration + margin);
  }

  /** @param {KeyboardEvent} e */
  #key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const { t0, t1, pointed, whole } = this.#scene;
    const middle = (t0 + t1) / 2;
    const zoomIn = () => this.#zoom(0.7, middle);
    const zoomOut = () => this.#zoom(1 / 0.7, middle);
    const act = {
      w: zoomIn,
      "+": zoomIn,
      "=": zoomIn,
      ArrowUp: zoomIn,
      s: zoomOut,
      "-": zoomOut,
      ArrowDown: zoomOut,
      a: () => this.#pan(-0.15),
      ArrowLeft: () => this.#pan(-0.15),
      d: () => this.#pan(0.15),
      ArrowRight: () => this.#pan(0.15),
      n: () => this.#stepCall(1),
      p: () => this.#stepCall(-1),
      ".": () => this.#stepKernel(1),
      ",": () => this.#stepKernel(-1),
      f: () => pointed && this.fit(pointed),
      0: () => this.show(0, whole.span),
      Escape: () => this.point(null),
    }[e.key];
    if (!act) return;
    // Letters mean other things outside of the canvas ("n": a new run).
    e.preventDefault();
    e.stopPropagation();
    act();
  }
}
