// js/view/stage.js -- a window onto a picture: it pans and zooms by pointer, wheel, fingers and keys, and fits.

import { add, svg } from "./dom.js";

/** @typedef {{x: number, y: number}} Point in the picture */
/**
 * @typedef {object} How
 * @property {string} label what the picture is, with its keys
 * @property {AbortSignal} signal
 * @property {() => {width: number, height: number}} whole the picture's own size
 * @property {() => SVGGElement} draw what is to be seen; called once a frame
 * @property {() => void} begin its size has changed, or is known now
 * @property {(at: Point) => void} click
 * @property {() => void} twice a double click
 * @property {(at: Point | null) => void} point the pointer is there; null: it has left
 * @property {Record<string, () => void>} keys further ones
 */

const EDGE = 16; // pixels around the whole
const STEP = 80; // of a key
const [LEAST, MOST] = [0.02, 2]; // scale

export class Stage {
  el = svg("svg", { class: "graph", tabindex: 0, role: "application", "aria-roledescription": "graph" });
  layer = svg("g");
  view = { x: 0, y: 0, scale: 1 };
  #frame = 0;

  /** @param {How} how */
  constructor(how) {
    this.how = how;
    this.el.setAttribute("aria-label", how.label);
    add(this.el, this.layer);
    this.#listen();
  }

  get size() {
    return { w: this.el.clientWidth || 800, h: this.el.clientHeight || 520 };
  }

  /** The scale at which all of it is seen, 1 at most. */
  get whole() {
    const [{ w, h }, { width, height }] = [this.size, this.how.whole()];
    return Math.min(1, (w - 2 * EDGE) / Math.max(1, width), (h - 2 * EDGE) / Math.max(1, height));
  }

  fit() {
    const [{ w, h }, { width, height }, scale] = [this.size, this.how.whole(), this.whole];
    this.view = { scale, x: (w - width * scale) / 2, y: Math.max(EDGE, (h - height * scale) / 2) };
    this.redraw();
  }

  /** Its own size, a part of it in the middle; what has room at the left and at the top begins there, and what is no wider than the window is in its middle. @param {{x: number, y: number, w: number, h: number} | undefined} at */
  closer(at) {
    const { w, h } = this.size;
    const { width } = this.how.whole();
    this.view = { scale: 1, x: width <= w - 2 * EDGE ? (w - width) / 2 : at ? Math.min(EDGE, w / 2 - at.x - at.w / 2) : EDGE, y: at ? Math.min(EDGE, h / 2 - at.y - at.h / 2) : EDGE };
    this.redraw();
  }

  /** Brings a part of it into sight. @param {{x: number, y: number, w: number, h: number}} r @param {number} least scale */
  show(r, least) {
    const [{ w, h }, { x, y, scale: now }] = [this.size, this.view];
    const scale = now < least ? 1 : now;
    const [left, top] = [r.x * now + x, r.y * now + y];
    if (left < 0 || top < 0 || left + r.w * now > w || top + r.h * now > h || scale > now) this.view = { scale, x: w / 2 - (r.x + r.w / 2) * scale, y: h / 2 - (r.y + r.h / 2) * scale };
    this.redraw();
  }

  /** @param {number} factor @param {number} [x] @param {number} [y] pixels of the window */
  zoom(factor, x = this.size.w / 2, y = this.size.h / 2) {
    const scale = Math.min(MOST, Math.max(LEAST, this.view.scale * factor));
    const k = scale / this.view.scale;
    this.view = { scale, x: x - (x - this.view.x) * k, y: y - (y - this.view.y) * k };
    this.redraw();
  }

  /** @param {number} x @param {number} y pixels */
  pan(x, y) {
    this.view = { ...this.view, x: this.view.x + x, y: this.view.y + y };
    this.redraw();
  }

  redraw() {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.draw());
  }

  /** At once. */
  draw() {
    cancelAnimationFrame(this.#frame);
    const layer = this.how.draw();
    layer.setAttribute("transform", `translate(${this.view.x} ${this.view.y}) scale(${this.view.scale})`);
    this.layer.replaceWith(layer);
    this.layer = layer;
  }

  /** Whether a part of it is seen, or nearly. @param {number} margin of the window, beyond it */
  seen(margin) {
    const [{ w, h }, { x, y, scale }] = [this.size, this.view];
    const [x0, y0] = [(-x - w * margin) / scale, (-y - h * margin) / scale];
    const [x1, y1] = [x0 + (w * (1 + 2 * margin)) / scale, y0 + (h * (1 + 2 * margin)) / scale];
    return (/** @type {{x: number, y: number, w: number, h: number} | undefined} */ r) => !!r && r.x < x1 && r.x + r.w > x0 && r.y < y1 && r.y + r.h > y0;
  }

  /** @param {MouseEvent} e @returns {[number, number]} pixels of the window */
  #pixels(e) {
    const box = this.el.getBoundingClientRect();
    return [e.clientX - box.left, e.clientY - box.top];
  }

  /** @param {MouseEvent} e @returns {Point} */
  #at(e) {
    const [x, y] = this.#pixels(e);
    return { x: (x - this.view.x) / this.view.scale, y: (y - this.view.y) / this.view.scale };
  }

  /** @param {KeyboardEvent} e */
  #key(e) {
    /** @type {Record<string, () => void>} */
    const acts = {
      w: () => this.pan(0, STEP),
      s: () => this.pan(0, -STEP),
      a: () => this.pan(STEP, 0),
      d: () => this.pan(-STEP, 0),
      "+": () => this.zoom(1.25),
      "-": () => this.zoom(0.8),
      0: () => this.fit(),
      ...this.how.keys,
    };
    if (!acts[e.key] || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    e.stopPropagation();
    acts[e.key]();
  }

  #listen() {
    const { el, how } = this;
    /** @type {Map<number, PointerEvent>} fingers, or the button, that are down */
    const down = new Map();
    let far = false;
    el.addEventListener("keydown", (e) => this.#key(e));
    el.addEventListener("wheel", (e) => {
      if (!(e.ctrlKey || document.activeElement === el)) return;
      e.preventDefault();
      this.zoom(Math.exp(-e.deltaY / 400), ...this.#pixels(e));
    }, { passive: false });
    el.addEventListener("pointerdown", (e) => {
      el.setPointerCapture(e.pointerId);
      if (!down.size) far = false;
      down.set(e.pointerId, e);
    });
    el.addEventListener("pointerleave", () => how.point(null));
    el.addEventListener("pointermove", (e) => {
      const was = down.get(e.pointerId);
      if (!was) how.point(this.#at(e));
      if (!was || (!far && Math.hypot(e.clientX - was.clientX, e.clientY - was.clientY) < 4)) return;
      const other = [...down.values()].find((p) => p.pointerId !== e.pointerId);
      far = true;
      down.set(e.pointerId, e);
      if (other) {
        const apart = (/** @type {PointerEvent} */ p) => Math.max(1, Math.hypot(p.clientX - other.clientX, p.clientY - other.clientY));
        this.zoom(apart(e) / apart(was), ...this.#pixels(other));
      } else this.pan(e.clientX - was.clientX, e.clientY - was.clientY);
    });
    el.addEventListener("pointerup", (e) => {
      down.delete(e.pointerId);
      if (!far) how.click(this.#at(e));
    });
    el.addEventListener("pointercancel", (e) => down.delete(e.pointerId));
    el.addEventListener("dblclick", () => how.twice());
    const resized = new ResizeObserver(() => how.begin());
    resized.observe(el);
    how.signal.addEventListener("abort", () => resized.disconnect(), { once: true });
  }
}
