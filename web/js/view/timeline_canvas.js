// js/view/timeline_canvas.js -- a timeline that is zoomed, moved and pointed into.
//
// Wheel, drag, two fingers and keys; the window is handed on after each change.
// The wheel zooms only with the focus in the canvas or Ctrl held, else the page
// would stop scrolling under the pointer.  A drag along the ruler, with Shift held
// or in the mode for it, selects a range.

import { h } from "./dom.js";
import { belowRuler, drawTimeline, isInSight, layout, leftOf, levelAt, OVERVIEW, overviewTime, rowsOf, timeOf, viewOf, xOf } from "./timeline_draw.js";
import { moveMark, setMark } from "../model/timeline_marks.js";
import { AS_THEY_CAME, moveLane, PROCESS, turn, widen } from "../model/lanes.js";
import { levelOf, levelsOf } from "../model/levels.js";
import { DEVICE_KINDS, keepInside, lanesOfView, ordered, partner, sliceAt } from "../model/timeline.js";

/** @typedef {import("../model/timeline.js").Slice} Slice */
/** @typedef {import("../model/timeline.js").View} View */

const LEAST_NS = 50;
const SLACK_PX = 3;
/** An event narrower than this is not seen when it is gone to. */
const SEEN_PX = 2;
const STEP = 0.02;
/** Around the end of the names, which is dragged. */
const GRIP_PX = 5;
const MOVED_PX = 4;
/** Of the window: with more lanes than fit they scroll. */
const MOST_ROOM = 0.8;
const LEAST_ROOM = 320;

/** A lane's name that is pressed, or the end of all names. @typedef {{row: import("../model/lanes.js").Row | null, mark?: number, x: number, y: number, moved: boolean, to: number | null}} Grip row null: the end, or a mark */

/**
 * @typedef {object} Hooks what the page does
 * @property {(t0: number, t1: number) => void} moved
 * @property {(slice: Slice | null, kept: boolean) => void} pointed kept: by click or key
 * @property {(range: {t0: number, t1: number} | null, done: boolean) => void} selected done: the drag has ended
 * @property {(how: import("../model/lanes.js").Arrangement) => void} arranged
 * @property {(done: boolean) => void} marked done: the drag has ended
 * @property {() => void} scrolled other lanes are in sight
 * @property {(by: number) => void} step to the next that is found, or the last before
 */

export class TimelineCanvas {
  #canvas;
  /** @type {import("./timeline_draw.js").Scene} */
  #scene;
  #hooks;
  /** @type {Map<number, number>} x of each finger or button that is down */
  #down = new Map();
  #dragged = false;
  /** Where a selection began @type {number | null} */
  #anchor = null;
  /** @type {Grip | null} */
  #grip = null;
  #frame = 0;
  #reach;
  /** A drag selects, without Shift too. */
  selects = false;

  /**
   * @param {HTMLCanvasElement} canvas
   * @param {View} view all of it, perhaps sampled
   * @param {AbortSignal} signal
   * @param {Hooks} hooks
   */
  constructor(canvas, view, signal, hooks) {
    this.#canvas = canvas;
    this.#hooks = hooks;
    this.#scene = { view, whole: view, t0: 0, t1: Math.max(1, view.span), pointed: null, other: null, selection: null, found: null, lit: null, hidden: new Set(), deep: new Map(levelsOf(view)), how: AS_THEY_CAME, filter: "", scroll: 0, room: 0, marks: [], drop: null, width: 0 };
    this.stick = h("div", { class: "stick" }, canvas);
    this.#reach = h("div", {}, this.stick);
    this.el = h("div", { class: "well tl" }, this.#reach);
    const on = (/** @type {string} */ type, /** @type {(e: any) => void} */ act) =>
      canvas.addEventListener(type, act, { signal, passive: false });
    on("wheel", (e) => this.#wheel(e));
    on("pointerdown", (e) => this.#press(e));
    on("pointermove", (e) => this.#move(e));
    on("pointerup", (e) => this.#release(e));
    on("pointercancel", (e) => {
      this.#down.delete(e.pointerId);
      this.#letGo();
    });
    this.el.addEventListener("scroll", () => this.#scrolled(), { signal });
    on("pointerleave", () => this.#down.size || this.#hooks.pointed(this.#scene.pointed, true));
    on("dblclick", (e) => this.#twice(...this.#place(e)));
    on("keydown", (e) => this.#key(e));
    const size = new ResizeObserver(() => this.redraw());
    size.observe(this.el);
    addEventListener("resize", () => this.redraw(), { signal });
    signal.addEventListener("abort", () => size.disconnect(), { once: true });
    addEventListener("themechange", () => this.redraw(), { signal });
  }

  get window() {
    return { t0: this.#scene.t0, t1: this.#scene.t1 };
  }

  get selection() {
    return this.#scene.selection;
  }

  get pointedAt() {
    return this.#scene.pointed;
  }

  /** A finer view of the window. @param {View} view */
  refine(view) {
    this.#scene.view = view;
    this.#scene.found = namesFound(view);
    // Lanes grow with what a finer view shows, and keep that: none moves under the pointer when it is left.
    const grown = [...levelsOf(view)].filter(([lane, n]) => n > (this.#scene.deep.get(lane) ?? 1));
    if (grown.length) this.#scene.deep = new Map([...this.#scene.deep, ...grown]);
    this.redraw();
  }

  /** All of it, as it was looked through for something. @param {View} whole */
  seen(whole) {
    this.#scene.whole = whole;
    this.redraw();
  }

  /** The other end of what is pointed at, which the view has no row for. @param {Slice} slice */
  join(slice) {
    this.#scene.other = slice;
    this.redraw();
  }

  /** What is not drawn, by what events are drawn as. @param {Set<string>} kinds */
  hide(kinds) {
    this.#scene.hidden = kinds;
    this.redraw();
  }

  /** Names whose events alone are not dimmed; null: as they are. @param {Set<number> | null} names */
  light(names) {
    if (this.#scene.lit === names) return;
    this.#scene.lit = names;
    this.redraw();
  }

  redraw() {
    cancelAnimationFrame(this.#frame);
    this.#frame = requestAnimationFrame(() => this.draw());
  }

  /** At once. */
  draw() {
    cancelAnimationFrame(this.#frame);
    const s = this.#scene;
    const { height } = layout(s);
    const most = Math.max(LEAST_ROOM, Math.round(innerHeight * MOST_ROOM));
    const long = height > most;
    this.el.classList.toggle("long", long);
    this.#reach.style.height = long ? `${height}px` : "";
    this.el.style.maxHeight = long ? `${most}px` : "";
    s.room = Math.min(height, most);
    this.#canvas.style.height = `${s.room}px`;
    s.width = this.#canvas.clientWidth;
    s.scroll = long ? Math.min(this.el.scrollTop, height - s.room) : 0;
    const g = this.#canvas.getContext("2d");
    if (!g || !(s.width > 0)) return;
    const ratio = devicePixelRatio || 1;
    const [wide, high] = [Math.round(s.width * ratio), Math.round(s.room * ratio)];
    if (this.#canvas.width !== wide || this.#canvas.height !== high) [this.#canvas.width, this.#canvas.height] = [wide, high];
    g.setTransform(ratio, 0, 0, ratio, 0, 0);
    g.clearRect(0, 0, s.width, s.room);
    drawTimeline(g, s, this.#partner());
  }

  #partner() {
    const { pointed, view, other } = this.#scene;
    return pointed && (partner(view.slices, pointed, view.lanes) ?? other);
  }

  /** What it shows, with all lanes. @returns {import("./chart_files.js").Drawing | null} */
  drawing() {
    const { height } = layout(this.#scene);
    const scene = { ...this.#scene, scroll: 0, room: height };
    return scene.width > 0 ? { width: scene.width, height, paint: (g) => drawTimeline(g, scene, this.#partner()) } : null;
  }

  #scrolled() {
    this.draw();
    this.#hooks.scrolled();
  }

  get arrangement() {
    return this.#scene.how;
  }

  /** @param {import("../model/lanes.js").Arrangement} how @param {boolean} [told] what the reader did, not what was kept */
  arrange(how, told = true) {
    if (how === this.#scene.how) return;
    this.#scene.how = how;
    this.redraw();
    if (told) this.#hooks.arranged(how);
  }

  /** Only lanes whose names have it. @param {string} text */
  filter(text) {
    this.#scene.filter = text;
    this.redraw();
    this.#hooks.scrolled();
  }

  /** A lane into sight. @param {number} id */
  scrollTo(id) {
    const { rows, fixed } = layout(this.#scene);
    const row = rows.find((r) => r.id === id);
    if (row && !row.pinned) this.el.scrollTo({ top: Math.max(0, row.y - fixed - PROCESS - 4) });
  }

  /** The numbers of the lanes that can be seen; null: all. @returns {number[] | null} */
  inSight() {
    const all = rowsOf(this.#scene);
    const seen = all.filter((row) => row.id >= 0 && isInSight(this.#scene, row)).map((r) => r.id);
    return seen.length < this.#scene.whole.lanes.length ? seen : null;
  }

  /** @param {number} t0 @param {number} t1 */
  show(t0, t1) {
    Object.assign(this.#scene, keepInside(t0, t1, Math.max(1, this.#scene.whole.span), LEAST_NS));
    this.redraw();
    this.#hooks.moved(this.#scene.t0, this.#scene.t1);
  }

  /** @param {Slice | null} slice */
  point(slice) {
    this.#scene.pointed = slice;
    this.#scene.other = null;
    this.redraw();
    this.#hooks.pointed(slice, true);
  }

  /** Two times in any order, or nothing. @param {[number, number] | null} ends @param {boolean} [done] */
  select(ends, done = true) {
    const range = ends && ordered(ends[0], ends[1], this.#scene.whole.span);
    this.#scene.selection = range && range.t1 > range.t0 ? range : null;
    this.redraw();
    this.#hooks.selected(this.#scene.selection, done);
  }

  /** A slice in sight and pointed at, wide enough to be seen. @param {Slice} slice */
  reveal(slice) {
    const s = this.#scene;
    const narrow = xOf(s, slice.start + slice.duration) - xOf(s, slice.start) < SEEN_PX;
    const length = narrow ? Math.max(slice.duration * 20, LEAST_NS) : s.t1 - s.t0;
    if (narrow || slice.start < s.t0 || slice.start + slice.duration > s.t1) this.show(slice.start - length / 3, slice.start + (length * 2) / 3);
    this.point(slice);
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
    // Over the names it scrolls the lanes.
    if (!(e.ctrlKey || (document.activeElement === this.#canvas && this.#place(e)[0] > leftOf(this.#scene)))) return;
    e.preventDefault();
    if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) this.#pan((e.deltaX || e.deltaY) / 1200);
    else this.#zoom(Math.exp(Math.max(-300, Math.min(300, e.deltaY)) / 400), timeOf(this.#scene, this.#place(e)[0]));
  }

  /** @param {PointerEvent} e */
  #press(e) {
    if (e.button !== 0) return;
    const [x, y] = this.#place(e);
    if (y < OVERVIEW) return this.#centre(x);
    if (y > belowRuler(this.#scene) && x < leftOf(this.#scene) + GRIP_PX) return this.#take(e, x, y);
    const mark = y < belowRuler(this.#scene) ? this.marks.findIndex((m) => Math.abs(xOf(this.#scene, m.t) - x) <= GRIP_PX) : -1;
    if (mark >= 0) {
      this.#grip = { row: null, mark, x, y, moved: false, to: null };
      return this.#canvas.setPointerCapture(e.pointerId);
    }
    this.#down.set(e.pointerId, x);
    this.#dragged = false;
    this.#anchor = (e.shiftKey || this.selects || y < belowRuler(this.#scene)) && this.#down.size === 1 ? timeOf(this.#scene, x) : null;
    this.#canvas.setPointerCapture(e.pointerId);
    return undefined;
  }

  /** A lane's name, or the end of the names. @param {PointerEvent} e @param {number} x @param {number} y */
  #take(e, x, y) {
    const end = Math.abs(x - leftOf(this.#scene)) <= GRIP_PX;
    const row = end ? null : this.#rowAt(y);
    if (!end && !row) return;
    this.#grip = { row: row ?? null, x, y, moved: false, to: null };
    this.#canvas.setPointerCapture(e.pointerId);
  }

  /** The row there, its process's name with it. @param {number} y */
  #rowAt(y) {
    return rowsOf(this.#scene).find((r) => isInSight(this.#scene, r) && y >= r.y - (r.process ? PROCESS : 2) && y <= r.y + r.height + 2 && (r.pinned || y >= layout(this.#scene).fixed));
  }

  /** @param {number} x @param {number} y */
  #drag(x, y) {
    const grip = this.#grip;
    if (!grip) return;
    grip.moved ||= Math.hypot(x - grip.x, y - grip.y) > MOVED_PX;
    if (!grip.moved) return;
    if (grip.mark !== undefined) {
      const before = this.marks;
      this.mark(moveMark(before, grip.mark, timeOf(this.#scene, x), this.#scene.whole.span), false);
      grip.mark = this.marks.findIndex((m) => !before.includes(m)); // past others its number is another
      return;
    }
    if (!grip.row) return this.arrange(widen(this.#scene.how, x));
    const over = this.#rowAt(y);
    grip.to = over && over.id >= 0 && over.id !== grip.row.id && over.pinned === grip.row.pinned ? over.id : null;
    this.#scene.drop = grip.to === null || !over ? null : over.y > grip.row.y ? over.y + over.height + 2 : over.y - 2;
    this.redraw();
  }

  #letGo() {
    this.#grip = null;
    this.#scene.drop = null;
    this.redraw();
  }

  /** A name that was pressed folds its lane, with Shift pins it; one that was dragged is moved. @param {PointerEvent} e */
  #drop(e) {
    const grip = this.#grip;
    this.#letGo();
    if (grip?.mark !== undefined) return this.#hooks.marked(true);
    if (!grip?.row) return;
    const { how, whole } = this.#scene;
    const { row } = grip;
    const process = row.process && grip.y < row.y - 1;
    if (grip.moved) grip.to === null || this.arrange(moveLane(whole.lanes, how, row.id, grip.to));
    else if (process && row.pid !== undefined) this.arrange(turn(how, "closed", row.pid));
    else if (row.id >= 0) this.arrange(turn(how, e.shiftKey ? "pinned" : "folded", row.id));
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
    if (this.#grip) return this.#drag(x, y);
    const before = this.#down.get(e.pointerId);
    if (before === undefined) {
      const names = y > belowRuler(this.#scene) ? x - leftOf(this.#scene) : Infinity;
      this.#canvas.style.cursor = Math.abs(names) <= GRIP_PX ? "ew-resize" : names < 0 ? "pointer" : "";

      if (e.buttons && y < OVERVIEW) this.#centre(x);
      else this.#hooks.pointed(this.#sliceAt(x, y) ?? this.#scene.pointed, false);
      return;
    }
    if (Math.abs(x - before) < 3 && !this.#dragged) return;
    this.#dragged = true;
    const other = [...this.#down].find(([id]) => id !== e.pointerId)?.[1];
    this.#down.set(e.pointerId, x);
    const s = this.#scene;
    if (this.#anchor !== null && other === undefined) return this.select([this.#anchor, timeOf(s, x)], false);
    if (other === undefined) {
      const d = timeOf(s, before) - timeOf(s, x);
      this.show(s.t0 + d, s.t1 + d);
    } else if (Math.abs(x - other) > 8) {
      this.#zoom(Math.abs(before - other) / Math.abs(x - other), timeOf(s, other));
    }
    return undefined;
  }

  /** @param {PointerEvent} e */
  #release(e) {
    if (this.#grip) return this.#drop(e);
    const was = this.#down.delete(e.pointerId);
    const [x, y] = this.#place(e);
    const anchor = this.#anchor;
    this.#anchor = null;
    if (was && this.#dragged && anchor !== null) this.select([anchor, timeOf(this.#scene, x)]);
    else if (was && !this.#dragged && y < belowRuler(this.#scene)) this.select(null);
    else if (was && !this.#dragged) this.point(this.#sliceAt(x, y));
    return undefined;
  }

  /** On the ruler it sets a mark. @param {number} x @param {number} y */
  #twice(x, y) {
    if (y > OVERVIEW && y < belowRuler(this.#scene) && x > leftOf(this.#scene)) this.mark(setMark(this.marks, timeOf(this.#scene, x), this.#scene.whole.span));
    else this.#selectAt(x, y);
  }

  /** The range of the slice there. @param {number} x @param {number} y */
  #selectAt(x, y) {
    const slice = this.#sliceAt(x, y);
    if (slice) this.select([slice.start, slice.start + slice.duration]);
  }

  get marks() {
    return this.#scene.marks;
  }

  /** @param {readonly import("../model/timeline_marks.js").Mark[]} marks @param {boolean} [done] */
  mark(marks, done = true) {
    this.#scene.marks = marks;
    this.redraw();
    this.#hooks.marked(done);
  }

  /** A time into the middle of the window, where it is out of sight. @param {number} t */
  goTo(t) {
    const { t0, t1 } = this.#scene;
    if (t < t0 || t > t1) this.show(t - (t1 - t0) / 2, t + (t1 - t0) / 2);
    this.#canvas.focus();
  }

  /** A mark where what is pointed at begins, else in the middle. */
  #setMark() {
    const { pointed, t0, t1, whole } = this.#scene;
    this.mark(setMark(this.marks, pointed?.start ?? (t0 + t1) / 2, whole.span));
  }

  /** The range of what is pointed at, else of what is in sight. */
  #selectPointed() {
    const { pointed, t0, t1 } = this.#scene;
    this.select(pointed ? [pointed.start, pointed.start + pointed.duration] : [t0, t1]);
  }

  /** An end of the selection, moved; without one it begins in the middle. @param {"t0" | "t1"} end @param {number} by */
  #stretch(end, by) {
    const { t0, t1, selection } = this.#scene;
    const from = selection ?? { t0: (t0 + t1) / 2, t1: (t0 + t1) / 2 };
    const to = { ...from, [end]: from[end] + (t1 - t0) * STEP * by };
    if (to.t0 < to.t1) this.select([to.t0, to.t1]);
  }

  /** @param {number} x @param {number} y */
  #sliceAt(x, y) {
    const s = this.#scene;
    const row = this.#rowAt(y);
    if (!row || row.closed || x < leftOf(s) || y < row.y || y > row.y + row.height) return null;
    const level = levelAt(row, y);
    const view = viewOf(s, row.id);
    const slices = (lanesOfView(view).get(row.id) ?? []).filter((e) => !s.hidden.has(e.as) && (row.deep < 2 || (e.kind === "flow" ? row.deep - 1 : levelOf(view, e)) === level));
    return sliceAt(slices, row.id, timeOf(s, x), ((s.t1 - s.t0) / Math.max(1, s.width)) * SLACK_PX);
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
    // Calls are side by side: what is beside one is another.
    const margin = slice.kind === "call" ? 0 : Math.max(slice.duration * 0.06, LEAST_NS);
    this.show(slice.start - margin, slice.start + slice.duration + margin);
  }

  /** What is pointed at, else the selection. */
  #focus() {
    const { pointed, selection } = this.#scene;
    if (pointed) this.fit(pointed);
    else if (selection) this.show(selection.t0, selection.t1);
  }

  #leave() {
    if (this.#scene.pointed || !this.#scene.selection) this.point(null);
    else this.select(null);
  }

  /** @param {KeyboardEvent} e */
  #key(e) {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const act = e.shiftKey && SHIFTED.includes(e.key) ? this.#shifted(e.key) : this.#plain(e.key);
    if (!act) return;
    // Letters mean other things outside of the canvas ("n": a new run).
    e.preventDefault();
    e.stopPropagation();
    act();
  }

  /** @param {string} key @returns {(() => void) | undefined} */
  #plain(key) {
    const { t0, t1, whole } = this.#scene;
    const middle = (t0 + t1) / 2;
    const zoomIn = () => this.#zoom(0.7, middle);
    const zoomOut = () => this.#zoom(1 / 0.7, middle);
    return {
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
      "[": () => this.#stretch("t0", -1),
      "]": () => this.#stretch("t0", 1),
      Enter: () => this.#hooks.step(1),
      f: () => this.#focus(),
      PageDown: () => this.el.scrollBy({ top: this.#scene.room / 2 }),
      PageUp: () => this.el.scrollBy({ top: -this.#scene.room / 2 }),
      m: () => this.#selectPointed(),
      0: () => this.show(0, whole.span),
      b: () => this.show(whole.opens.t0, whole.opens.t1),
      Escape: () => this.#leave(),
    }[key];
  }

  /** @param {string} key @returns {(() => void) | undefined} */
  #shifted(key) {
    return {
      ArrowLeft: () => this.#stretch("t1", -1),
      ArrowRight: () => this.#stretch("t1", 1),
      Enter: () => this.#hooks.step(-1),
      M: () => this.#setMark(),
    }[key];
  }
}

const SHIFTED = ["ArrowLeft", "ArrowRight", "Enter", "M"];

/** What is looked for is drawn before the rest; null: nothing is. @param {View} view */
const namesFound = (view) => (view.found ? new Set(view.found.names) : null);
