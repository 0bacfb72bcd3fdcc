// js/view/memory_chart.js -- bytes in use over one call, as steps, with a moment that can be
// moved: by pointer on the chart, by keys on the slider below it.
//
// Drawn at the size that it has, so that its text is never scaled; drawn again when that
// changes.  The slider is the chart's accessible form: it says each moment in words.

import { h, svg } from "./dom.js";
import { bytes, bytesUnit, number, onAxis, timeUnit } from "../model/format.js";
import { modeOf } from "../model/modes.js";
import { axisTicks, momentAt, momentBytes, moments, momentTime } from "../model/memory.js";

/** @typedef {import("../model/memory.js").Memory} Memory */
/** @typedef {{name: string, memory: Memory}} Line */

const [HEIGHT, LEFT, RIGHT, TOP, BELOW] = [208, 60, 12, 18, 30];

/** @param {readonly Line[]} lines @param {boolean} whole from 0, else what the call adds */
function scalesOf(lines, whole) {
  const us = Math.max(1e-9, ...lines.map((l) => l.memory.duration_us));
  const base = (/** @type {Memory} */ m) => (whole ? 0 : m.held_bytes);
  const all = lines.flatMap((l) => [l.memory.held_bytes, ...l.memory.curve.bytes].map((b) => b - base(l.memory)));
  return { us, base, lo: Math.min(0, ...all), hi: Math.max(1, ...all) };
}

/** The corners of a curve. @param {Memory} m @param {(us: number) => number} x @param {(b: number) => number} y */
function steps(m, x, y) {
  let path = `M${x(0)} ${y(m.held_bytes)}`;
  m.curve.at_us.forEach((us, i) => {
    path += `H${x(us)}V${y(m.curve.bytes[i])}`;
  });
  return `${path}H${x(m.duration_us)}`;
}

/** @param {number} n */
const px = (n) => Math.round(n * 10) / 10;

export class MemoryChart {
  #lines;
  #whole;
  #svg = svg("svg", { class: "memchart", height: HEIGHT, width: "100%", "aria-hidden": "true" });
  #slider;
  #said = h("output", { class: "small sub", for: "memory-moment" });
  #moved;
  #moment;
  /** @type {(us: number) => number} */
  #x = () => 0;
  #width = 0;

  /**
   * @param {readonly Line[]} lines the one that is looked at comes first
   * @param {number} moment @param {(moment: number) => void} moved
   * @param {AbortSignal} signal
   */
  constructor(lines, moment, moved, signal) {
    this.#lines = lines;
    const { memory } = lines[0];
    // What the call does would be a line at the top where much is held before it.
    this.#whole = memory.peak_bytes - memory.held_bytes > memory.held_bytes / 8;
    this.#moved = moved;
    // Along the time of the chart above it; keys go from event to event.
    this.#moment = moment;
    this.#slider = h("input", { type: "range", id: "memory-moment", min: 0, max: scalesOf(lines, true).us, step: "any", "aria-label": `Moment of the call in ${lines[0].name}` });
    this.#slider.addEventListener("input", () => this.#choose(momentAt(memory, Number(this.#slider.value)), false));
    this.#slider.addEventListener("keydown", (e) => this.#key(e));
    const point = (/** @type {PointerEvent} */ e) => this.#point(e);
    this.#svg.addEventListener("pointerdown", (e) => {
      this.#svg.setPointerCapture(e.pointerId);
      point(e);
    });
    this.#svg.addEventListener("pointermove", (e) => e.buttons && point(e));
    const seen = new ResizeObserver(() => this.#draw());
    seen.observe(this.#svg);
    signal.addEventListener("abort", () => seen.disconnect(), { once: true });
    this.#slider.value = String(momentTime(memory, moment));
    this.#say(moment);
  }

  elements() {
    return [this.#svg, h("div", { class: "memslide" }, this.#slider), h("p", { class: "memsaid" }, this.#said)];
  }

  get whole() {
    return this.#whole;
  }

  /** @param {boolean} whole */
  scale(whole) {
    this.#whole = whole;
    this.#width = 0;
    this.#draw();
  }

  /** @param {number} moment */
  show(moment) {
    this.#choose(moment, true);
  }

  /** @param {number} moment @param {boolean} slide the slider is not there yet */
  #choose(moment, slide) {
    this.#moment = moment;
    if (slide) this.#slider.value = String(momentTime(this.#lines[0].memory, moment));
    this.#say(moment);
    this.#mark(moment);
    this.#moved(moment);
  }

  /** @param {KeyboardEvent} e */
  #key(e) {
    const last = moments(this.#lines[0].memory) - 1;
    const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10, Home: -last, End: last }[e.key];
    if (by === undefined || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    this.show(Math.min(last, Math.max(0, this.#moment + by)));
  }

  /** @param {number} moment */
  #say(moment) {
    const { memory } = this.#lines[0];
    const where = moment === 0 ? "before the call" : `${number(momentTime(memory, moment))} µs into the call`;
    const text = `${where}: ${bytes(momentBytes(memory, moment))} in use`;
    this.#slider.setAttribute("aria-valuetext", text);
    this.#said.textContent = text[0].toUpperCase() + text.slice(1);
  }

  /** @param {PointerEvent} e */
  #point(e) {
    const { memory } = this.#lines[0];
    const at = e.clientX - this.#svg.getBoundingClientRect().left;
    const [x0, x1] = [this.#x(0), this.#x(memory.duration_us)];
    this.show(momentAt(memory, ((at - x0) / (x1 - x0 || 1)) * memory.duration_us));
  }

  #draw() {
    const width = Math.floor(this.#svg.getBoundingClientRect().width);
    if (!width || width === this.#width) return;
    this.#width = width;
    const { us, base, lo, hi } = scalesOf(this.#lines, this.#whole);
    const [w, bottom] = [width - LEFT - RIGHT, HEIGHT - BELOW];
    this.#x = (t) => px(LEFT + (t / us) * w);
    const y = (/** @type {number} */ b) => px(bottom - ((b - lo) / (hi - lo)) * (bottom - TOP));
    const parts = [...this.#axes(us, lo, hi, y, width)];
    const { memory } = this.#lines[0];
    /** @type {SVGElement[]} */
    const over = []; // no line is over it
    if (this.#whole && memory.held_bytes) {
      const held = y(memory.held_bytes);
      parts.push(svg("rect", { class: "held", x: LEFT, y: held, width: w, height: Math.max(0, bottom - held) }));
      if (bottom - held > 16) over.push(svg("text", { class: "heldname", x: LEFT + 6, y: bottom - 5 }, "held before the call"));
    }
    for (const { name, memory: m } of [...this.#lines].reverse()) {
      const at = (/** @type {number} */ b) => y(b - base(m));
      parts.push(svg("path", { class: `s-${name} curve`, d: steps(m, this.#x, at), "stroke-dasharray": modeOf(name).dash.join(" ") || null }));
    }
    const peak = this.#x(memory.peak_us);
    const right = peak > LEFT + w / 2;
    parts.push(svg("line", { class: "peak", x1: peak, x2: peak, y1: TOP - 4, y2: bottom }));
    parts.push(svg("text", { class: "lab", x: peak + (right ? -5 : 5), y: TOP - 6, "text-anchor": right ? "end" : "start" }, this.#whole ? `peak ${bytes(memory.peak_bytes)}` : `peak +${bytes(memory.peak_bytes - memory.held_bytes)}`));
    parts.push(svg("line", { class: "now", y1: TOP - 4, y2: bottom }));
    this.#svg.replaceChildren(...parts, ...over);
    this.#mark(this.#moment);
  }

  /**
   * @param {number} us @param {number} lo @param {number} hi @param {(b: number) => number} y @param {number} width
   * @returns {SVGElement[]}
   */
  #axes(us, lo, hi, y, width) {
    const [size, time] = [bytesUnit([hi, -lo]), timeUnit([us])];
    const [sizes, times] = [axisTicks(lo, hi, 4), axisTicks(0, us / time.scale, width > 600 ? 8 : 4)];
    const inSize = onAxis((sizes[1] - sizes[0]) / size.scale || 1);
    const inTime = onAxis(times[1] - times[0] || 1);
    const rows = sizes.flatMap((b) => [
      svg("line", { class: b === 0 ? "g zero" : "g", x1: LEFT, x2: width - RIGHT, y1: y(b), y2: y(b) }),
      svg("text", { x: LEFT - 6, y: y(b) + 4, "text-anchor": "end" }, inSize(b / size.scale)),
    ]);
    const columns = times.map((t) =>
      svg("text", { x: this.#x(t * time.scale), y: HEIGHT - BELOW + 15, "text-anchor": "middle" }, inTime(t)),
    );
    const names = [
      svg("text", { x: 0, y: TOP - 6 }, this.#whole ? size.name : `${size.name} added`),
      svg("text", { x: width - RIGHT, y: HEIGHT - 2, "text-anchor": "end" }, `${time.name} into the call`),
    ];
    return [...rows, ...columns, ...names];
  }

  /** @param {number} moment */
  #mark(moment) {
    const x = this.#x(momentTime(this.#lines[0].memory, moment));
    const line = this.#svg.querySelector(".now");
    line?.setAttribute("x1", String(x));
    line?.setAttribute("x2", String(x));
  }
}
