// js/view/timeline_draw.js -- lanes, ruler and overview of a timeline on a canvas.
//
// Draws what it is given and keeps nothing; colours are the CSS tokens.  A label
// is only where it fits.

import { token } from "./dom.js";
import { drawIdle, idleToken, insetOf } from "./timeline_idle.js";
import { levelOf } from "../model/levels.js";
import { layLanes, LEVEL, PROCESS } from "../model/lanes.js";
import { deviceSpans, lanesOfView, DEVICE_KINDS, tickStep, valueOf } from "../model/timeline.js";
import { bytes, duration, number, onAxis, timeUnit } from "../model/format.js";
import { markName } from "../model/timeline_marks.js";

/** @typedef {import("../model/timeline.js").Slice} Slice */
/** @typedef {import("../model/timeline.js").View} View */
/** @typedef {import("../model/lanes.js").Row} Row */
/**
 * @typedef {object} Scene
 * @property {View} view
 * @property {View} whole
 * @property {number} t0
 * @property {number} t1
 * @property {Slice | null} pointed
 * @property {Slice | null} other the end of its arrow that the view has no row for
 * @property {{t0: number, t1: number} | null} selection
 * @property {Set<number> | null} found names that are looked for
 * @property {Set<number> | null} lit names whose events are shown before the rest
 * @property {Set<string>} hidden what is not drawn
 * @property {Map<number, number>} deep how many levels lanes have, of those that nest
 * @property {import("../model/lanes.js").Arrangement} how
 * @property {string} filter of lanes
 * @property {number} scroll how much of the lanes is above the canvas
 * @property {number} room height of the canvas
 * @property {readonly import("../model/timeline_marks.js").Mark[]} marks
 * @property {number | null} drop where a lane that is moved would stand
 * @property {number} width
 */

export const OVERVIEW = 34;
const RULER = 24;
/** Above the curve of a counter, for its range. */
const SAID = 14;
const RIGHT = 10;
/** Below the ruler, for the names of marks. */
const FLAGS = 18;
/** Where the ruler ends, with what is marked on it. @param {Scene} s */
export const belowRuler = ({ marks }) => OVERVIEW + 6 + RULER + (marks.length ? FLAGS : 0);
/** How much is left of what is not looked for. */
const DIM = 0.22;
/** No wider than this a slice has neither label nor outline. */
const NARROW = 2;

/** Token of what an event is drawn as. @type {Record<string, string>} */
const COLOURS = {
  kernel: "--c-fused",
  library: "--k-library",
  eager: "--k-eager",
  collective: "--k-collective",
  copy: "--k-copy",
  set: "--k-copy",
  compile: "--k-compile",
  guards: "--k-guards",
  dispatch: "--c-host",
  alloc: "--k-alloc",
  launch: "--k-launch",
  call: "--sunk",
  api: "--c-host",
  range: "--sunk",
  python: "--sunk",
  overhead: "--edge",
  wait: "--sunk",
  piece: "--c-host",
  break: "--c-break",
  memory: "--k-alloc",
  op: "--c-host",
  counter: "--k-alloc",
  flow: "--ink2",
};
const OUTLINED = ["call", "dispatch", "api", "range", "python", "wait", "piece", "op"];
/** Along the foot of what also a reader without colours tells apart: a line, and a broken one. @type {Record<string, number[]>} */
const FEET = { compile: [1e6, 0], collective: [5, 3] };

const isSmall = (/** @type {number} */ width) => width < 620;
/** Where times begin, in pixels. @param {Scene} s */
export const leftOf = ({ width, how }) => Math.min(how.left || (isSmall(width) ? 64 : 124), width / 2);

/** @param {Scene} s @param {number} t */
export const xOf = (s, t) => leftOf(s) + ((t - s.t0) / (s.t1 - s.t0)) * (s.width - leftOf(s) - RIGHT);
/** @param {Scene} s @param {number} x */
export const timeOf = (s, x) => s.t0 + ((x - leftOf(s)) / (s.width - leftOf(s) - RIGHT)) * (s.t1 - s.t0);
/** A time of the overview. @param {Scene} s @param {number} x */
export const overviewTime = (s, x) =>
  ((x - leftOf(s)) / (s.width - leftOf(s) - RIGHT)) * Math.max(1, s.whole.span);

/** @type {WeakMap<View["lanes"], {deep: Scene["deep"], how: Scene["how"], filter: string, top: number, laid: ReturnType<typeof layLanes>}>} */
const layouts = new WeakMap();

/** Rows as if nothing were scrolled, and how high they are together. @param {Scene} s */
export function layout(s) {
  const { whole, deep, how, filter } = s;
  const top = belowRuler(s);
  const known = layouts.get(whole.lanes);
  if (known?.deep === deep && known.how === how && known.filter === filter && known.top === top) return known.laid;
  const laid = layLanes(whole.lanes, deep, how, filter, top);
  layouts.set(whole.lanes, { deep, how, filter, top, laid });
  return laid;
}

/** The lanes from top to bottom, where they are on the canvas. @param {Scene} s @returns {Row[]} */
export function rowsOf(s) {
  const { rows } = layout(s);
  return s.scroll ? rows.map((r) => (r.pinned ? r : { ...r, y: r.y - s.scroll })) : rows;
}

/** Whether some of it can be seen. @param {Scene} s @param {Row} row */
export const isInSight = (s, row) => row.pinned || (row.y + row.height >= layout(s).fixed && row.y - PROCESS <= s.room);

/** The view that has the rows of a lane: a window may have been asked for other lanes. @param {Scene} s @param {number} lane */
export const viewOf = (s, lane) => (s.view.without.has(lane) ? s.whole : s.view);

/** Where a level of a lane is. @param {Row} row @param {number} level */
const placeOf = (row, level) =>
  row.deep > 1 ? { y: row.y + 3 + Math.min(level, row.deep - 1) * LEVEL, height: LEVEL - 1 } : { y: row.y + 3, height: row.height - 6 };

/** The level there. @param {Row} row @param {number} y */
export const levelAt = (row, y) => Math.min(row.deep - 1, Math.max(0, Math.floor((y - row.y - 3) / LEVEL)));

/** @param {CanvasRenderingContext2D} g @param {string} text @param {number} width */
function fit(g, text, width) {
  if (g.measureText(text).width <= width) return text;
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (g.measureText(`${text.slice(0, middle)}\u2026`).width <= width) low = middle;
    else high = middle - 1;
  }
  return low > 2 ? `${text.slice(0, low)}\u2026` : "";
}

/** Black or white, what is read better. @param {string} as */
function labelInk(as) {
  if (OUTLINED.includes(as)) return token("--ink");
  const [r, g, b] = (token(COLOURS[as] ?? "--c-host").match(/[\da-f]{2}/gi) ?? []).map((x) => (parseInt(x, 16) / 255) ** 2.2);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.18 ? "#101214" : "#ffffff";
}

/** @param {CanvasRenderingContext2D} g @param {number[]} foot @param {number} x @param {number} y @param {number} w */
function drawFoot(g, [on, off], x, y, w) {
  g.fillStyle = token("--well");
  for (let at = 2; at < w - 2; at += on + off) g.fillRect(x + at, y - 4, Math.min(on, w - 2 - at), 2);
}

/** @param {CanvasRenderingContext2D} g @param {Scene} s */
function drawOverview(g, s) {
  const [left, right] = [leftOf(s), s.width - RIGHT];
  const x = (/** @type {number} */ t) => left + (t / Math.max(1, s.whole.span)) * (right - left);
  g.fillStyle = token("--sunk");
  g.fillRect(0, 0, s.width, OVERVIEW);
  g.globalAlpha = s.whole.found ? DIM : 1;
  g.fillStyle = token("--c-fused");
  for (const [from, to] of deviceSpans(s.whole, s.hidden)) g.fillRect(x(from), 12, Math.max(0.6, x(to) - x(from)), 16);
  g.globalAlpha = 1;
  drawFound(g, s, x);
  if (s.selection) {
    g.fillStyle = token("--focus");
    g.fillRect(x(s.selection.t0), OVERVIEW - 4, Math.max(2, x(s.selection.t1) - x(s.selection.t0)), 3);
  }
  g.fillStyle = token("--page");
  g.globalAlpha = 0.62;
  g.fillRect(left, 1, x(s.t0) - left, OVERVIEW - 2);
  g.fillRect(x(s.t1), 1, right - x(s.t1), OVERVIEW - 2);
  g.globalAlpha = 1;
  g.strokeStyle = token("--ink");
  g.strokeRect(x(s.t0) + 0.5, 1.5, Math.max(2, x(s.t1) - x(s.t0)), OVERVIEW - 3);
  g.fillStyle = token("--ink2");
  g.font = `11px ${token("--font-ui")}`;
  g.fillText("All", 12, OVERVIEW / 2);
}

/** What is looked for, wherever it is in the whole. @param {CanvasRenderingContext2D} g @param {Scene} s @param {(t: number) => number} x */
function drawFound(g, s, x) {
  if (!s.whole.found) return;
  const names = new Set(s.whole.found.names);
  const runs = new Runs(g);
  for (const e of s.whole.slices)
    if (isFound(names, e)) runs.add("--focus", 1, x(e.start), Math.max(1.5, x(e.start + e.duration) - x(e.start)), 6, 22);
  runs.flush();
}

/** A counter's value and an arrow are not gone to. @param {Set<number>} names @param {Slice} e */
const isFound = (names, e) => names.has(e.name) && !["counter", "flow", "idle"].includes(e.kind);

/** @param {CanvasRenderingContext2D} g @param {Scene} s */
function drawRuler(g, s) {
  const y = OVERVIEW + 6;
  const step = tickStep(s.t1 - s.t0, isSmall(s.width) ? 3 : 9);
  const unit = timeUnit([(s.t1 - s.t0) / 1000]);
  g.font = `11px ${token("--font-ui")}`;
  let named = false;
  const written = onAxis(step / 1000 / unit.scale);
  // From the left end of the selection, or of the window: what matters is how long something takes.
  const zero = s.selection ? s.selection.t0 : s.t0;
  for (let i = Math.ceil((s.t0 - zero) / step); zero + i * step <= s.t1; i++) {
    const t = zero + i * step;
    const x = Math.round(xOf(s, t)) + 0.5;
    g.strokeStyle = token("--line2");
    g.beginPath();
    g.moveTo(x, y + 17);
    g.lineTo(x, y + RULER);
    g.stroke();
    if (x + 40 > s.width) continue;
    const value = written((t - zero) / 1000 / unit.scale);
    g.fillStyle = token("--ink3");
    g.fillText(`${value}${named ? "" : ` ${unit.name}`}`, x + 4, y + 10);
    named = true;
  }
}

/** How much of a slice is drawn while something else is looked for. @param {Scene} s @param {Slice} e */
const alphaOf = (s, e) => ((s.lit ?? s.found) && e !== s.pointed && !isFound(s.lit ?? s.found ?? new Set(), e) ? DIM : 1);

/** @param {CanvasRenderingContext2D} g @param {Scene} s @param {Row} row @param {Slice} e */
function drawSlice(g, s, row, e) {
  g.globalAlpha = alphaOf(s, e);
  drawOpaque(g, s, row, e);
  g.globalAlpha = 1;
}

/**
 * The slices of a lane.  What is as narrow as a pixel is drawn as one with its like beside it: a wide window
 * has thousands of them.
 * @param {CanvasRenderingContext2D} g @param {Scene} s @param {Row} row
 */
function drawSlices(g, s, row) {
  const [left, scale] = [leftOf(s), (s.width - leftOf(s) - RIGHT) / (s.t1 - s.t0)];
  const [runs, gaps] = [new Runs(g), new Runs(g)];
  for (const e of lanesOfView(s.view).get(row.id) ?? []) {
    if (e.start > s.t1) break;
    if (e === s.pointed || e.start + e.duration < s.t0 || s.hidden.has(e.as)) continue;
    const w = e.duration * scale;
    if (w > NARROW || e.kind === "flow") {
      gaps.flush();
      runs.flush();
      drawSlice(g, s, row, e);
      continue;
    }
    const idle = e.kind === "idle";
    const at = idle ? { y: row.y + insetOf(row), height: row.height - 2 * insetOf(row) } : placeOf(row, levelOf(s.view, e));
    (idle ? gaps : runs).add(idle ? idleToken(s.view, e) : COLOURS[e.as] ?? "--c-host", alphaOf(s, e) * (idle ? 0.5 : 1),
      left + (e.start - s.t0) * scale, Math.max(1, w - 0.5), at.y, at.height);
  }
  gaps.flush();
  runs.flush();
}

/** Rectangles of one colour that touch, as one. */
class Runs {
  #g;
  #token = "";
  #alpha = 1;
  #from = 0;
  #to = 0;
  #y = 0;
  #height = 0;

  /** @param {CanvasRenderingContext2D} g */
  constructor(g) {
    this.#g = g;
  }

  /** @param {string} name of a token @param {number} alpha @param {number} x @param {number} w @param {number} y @param {number} height */
  add(name, alpha, x, w, y, height) {
    if (name === this.#token && alpha === this.#alpha && y === this.#y && x <= this.#to + 0.5) {
      this.#to = Math.max(this.#to, x + w);
      return;
    }
    this.flush();
    [this.#token, this.#alpha, this.#from, this.#to, this.#y, this.#height] = [name, alpha, x, x + w, y, height];
  }

  flush() {
    if (!this.#token) return;
    this.#g.globalAlpha = this.#alpha;
    this.#g.fillStyle = token(this.#token);
    this.#g.fillRect(this.#from, this.#y, this.#to - this.#from, this.#height);
    this.#g.globalAlpha = 1;
    this.#token = "";
  }
}

/** @param {CanvasRenderingContext2D} g @param {Scene} s @param {Row} row @param {Slice} e */
function drawOpaque(g, s, row, e) {
  const low = e.kind === "flow"; // at the foot of what it belongs to
  const { y, height } = low ? { y: row.y + row.height - 10, height: 7 } : placeOf(row, levelOf(s.view, e));
  const a = Math.max(-1e4, xOf(s, e.start));
  const w = Math.max(1, Math.min(xOf(s, e.start + e.duration), s.width + 1e4) - a - 0.5);
  if (e.kind === "idle") return drawIdle(g, s.view, e, a, w, row, e === s.pointed, [leftOf(s), s.width - RIGHT]);
  g.fillStyle = token(COLOURS[e.as] ?? "--c-host");
  g.fillRect(a, y, w, height);
  if (OUTLINED.includes(e.as) && w > 2) {
    g.strokeStyle = token("--edge");
    g.strokeRect(a + 0.5, y + 0.5, w - 1, height - 1);
  }
  if (FEET[e.as] && w > 6) drawFoot(g, FEET[e.as], Math.max(a, 0), y + height, Math.min(a + w, s.width) - Math.max(a, 0));
  if (e === s.pointed) {
    g.strokeStyle = token("--ink");
    g.lineWidth = 2;
    g.strokeRect(a, y, w, height);
    g.lineWidth = 1;
  }
  const from = Math.max(a, leftOf(s));
  const room = Math.min(a + w, s.width - RIGHT) - from - 8;
  if (room < 14 || height < 12 || e.kind === "break") return; // drawBreakNames()
  g.fillStyle = labelInk(e.as);
  g.font = `500 11px ${token("--font-ui")}`;
  g.fillText(fit(g, s.view.names[e.name]?.name ?? e.kind, room), from + 4, y + height / 2 + 0.5);
}

/** A counter's samples as steps between the least and the most in sight, both of them said.
 * @param {CanvasRenderingContext2D} g @param {Scene} s @param {Row} row */
function drawSeries(g, s, row) {
  const samples = (lanesOfView(s.view).get(row.id) ?? []).filter((e) => e.start <= s.t1 && e.start + e.duration >= s.t0);
  if (!samples.length) return;
  const values = samples.map((e) => valueOf(s.view, e));
  const most = values.reduce((a, b) => Math.max(a, b), 0);
  const least = values.reduce((a, b) => Math.min(a, b), 0);
  // Below what is said of it.
  const said = row.folded ? 2 : SAID;
  const y = (/** @type {number} */ v) => row.y + said + (1 - (v - least) / (most - least || 1)) * (row.height - said - 3);
  g.fillStyle = token(COLOURS.counter);
  samples.forEach((e, i) => {
    const a = Math.max(-1e4, xOf(s, e.start));
    const end = samples[i + 1]?.start ?? e.start + e.duration;
    const b = Math.min(xOf(s, end), s.width + 1e4);
    const [top, bottom] = [Math.min(y(values[i]), y(0)), Math.max(y(values[i]), y(0))];
    g.globalAlpha = e === s.pointed ? 1 : 0.45;
    g.fillRect(a, top, Math.max(1, b - a), bottom - top);
    g.globalAlpha = 1;
    g.fillRect(a, y(values[i]) - 0.75, Math.max(1, b - a), 1.5);
  });
  if (row.folded) return;
  const bytesLane = s.view.lanes.find((l) => l.id === row.id)?.unit === "bytes";
  g.fillStyle = token("--ink");
  g.font = `500 11px ${token("--font-ui")}`;
  const range = `${least < 0 ? `${number(least)} to ` : ""}${bytesLane ? bytes(most) : number(most)}`;
  g.fillText(range, leftOf(s) + 4, row.y + SAID / 2);
}

/** What a break is called, the shorter after the longer: its lane says that it is one. @param {string} name */
function formsOf(name) {
  const where = name.replace(/^break, /, "");
  return [name, where, where.match(/^line \d+(?=:)/)?.[0] ?? where];
}

/** What a break is: on its mark, or to the right of it up to the next of its level, where there is more room; the last
 * of its level to the left, where the picture ends.
 * @param {CanvasRenderingContext2D} g @param {Scene} s @param {Row} row */
function drawBreakNames(g, s, row) {
  const breaks = s.hidden.has("break") || row.folded ? [] : (lanesOfView(s.view).get(row.id) ?? []).filter((e) => e.kind === "break");
  const [left, right] = [leftOf(s), s.width - RIGHT];
  /** Where the next begins, by level. @type {Map<number, number>} */
  const next = new Map();
  for (const [i, e] of [...breaks.entries()].toReversed()) {
    const level = levelOf(s.view, e);
    const at = placeOf(row, level);
    const [start, end] = [Math.max(left, xOf(s, e.start)), Math.min(right, xOf(s, e.start + e.duration))];
    if (end < left || start > right) continue;
    const last = !next.has(level);
    const before = last ? breaks.slice(0, i).findLast((b) => levelOf(s.view, b) === level) : undefined;
    const rooms = {
      on: end - start - 8,
      right: (next.get(level) ?? right) - end - 11,
      left: last ? start - 11 - Math.max(left, before ? xOf(s, before.start + before.duration) : left) : 0,
    };
    next.set(level, start);
    g.font = `600 11px ${token("--font-ui")}`; // the wider of both
    const forms = formsOf(s.view.names[e.name]?.name ?? "break");
    const put = (/** @type {"on" | "right" | "left"} */ where, /** @type {string} */ text) => {
      const x = { on: start + 4, right: end + 5, left: start - 5 - g.measureText(text).width }[where];
      if (where === "left") next.set(level, x);
      if (where === "on") g.font = `500 11px ${token("--font-ui")}`;
      g.fillStyle = where === "on" ? labelInk("break") : token("--c-break");
      g.globalAlpha = alphaOf(s, e);
      g.fillText(text, x, at.y + at.height / 2 + 0.5);
      g.globalAlpha = 1;
    };
    const places = /** @type {const} */ (["on", "right", "left"]);
    const whole = forms.flatMap((text) => places.filter((p) => g.measureText(text).width <= rooms[p]).map((p) => /** @type {const} */ ([p, text])))[0];
    if (whole) put(...whole);
    else if (!/^line \d+$/.test(forms[2]) && Math.max(rooms.on, rooms.right) >= 14) put(rooms.on >= rooms.right ? "on" : "right", fit(g, forms[2], Math.max(rooms.on, rooms.right)));
  }
}

/** Its name, in lines where it is wider than there is room and the lane is high enough.
 * @param {CanvasRenderingContext2D} g @param {Scene} s @param {Row} row */
function drawLabel(g, s, row) {
  const small = isSmall(s.width);
  const left = small ? 8 : 12;
  const room = leftOf(s) - left - 4;
  if (row.pinned) {
    g.fillStyle = token("--focus");
    g.fillRect(2, row.y + 3, 3, row.height - 6);
  }
  g.fillStyle = token("--ink2");
  g.font = `${small || row.folded ? 11 : 12}px ${token("--font-ui")}`;
  const lines = inLines(g, row.label, room, Math.max(1, Math.floor(row.height / 15)));
  lines.forEach((text, i) => g.fillText(fit(g, text, room), left, row.y + row.height / 2 + 14 * (i - (lines.length - 1) / 2)));
}

/** Its words in as few lines as they fit into, `most` at most: the last has the rest.
 * @param {CanvasRenderingContext2D} g @param {string} text @param {number} width @param {number} most */
function inLines(g, text, width, most) {
  /** @type {string[]} */
  const lines = [];
  for (const word of text.split(" ")) {
    const longer = lines.length ? `${lines[lines.length - 1]} ${word}` : word;
    if (lines.length && lines.length < most && g.measureText(longer).width > width) lines.push(word);
    else lines[Math.max(0, lines.length - 1)] = longer;
  }
  return lines;
}

/** @param {CanvasRenderingContext2D} g @param {Scene} scene @param {Row} row */
function drawLane(g, scene, row) {
  const s = scene.view.without.has(row.id) ? { ...scene, view: scene.whole } : scene;
  g.strokeStyle = token("--line");
  g.beginPath();
  g.moveTo(0, row.y - 1.5);
  g.lineTo(s.width, row.y - 1.5);
  g.stroke();
  g.fillStyle = token("--ink2");
  if (row.process) {
    g.font = `600 11px ${token("--font-ui")}`;
    g.fillText(fit(g, `${row.closed ? "\u25b8" : "\u25be"} ${row.process}`, s.width - 24), 12, row.y - PROCESS / 2 - 1);
  }
  if (row.closed) return;
  drawLabel(g, s, row);
  g.save();
  g.beginPath();
  g.rect(leftOf(s), row.y - 1, s.width - leftOf(s) - RIGHT, row.height + 2);
  g.clip();
  if (row.counter) drawSeries(g, s, row);
  else drawSlices(g, s, row);
  if (!row.counter && s.pointed?.lane === row.id) drawSlice(g, s, row, s.pointed);
  drawBreakNames(g, s, row);
  g.restore();
}

/** Those that can be seen: what scrolls is cut where the pinned end. @param {CanvasRenderingContext2D} g @param {Scene} s @param {Row[]} rows */
function drawLanes(g, s, rows) {
  const seen = rows.filter((row) => isInSight(s, row));
  g.save();
  if (s.scroll) {
    g.beginPath();
    g.rect(0, layout(s).fixed, s.width, s.room);
    g.clip();
  }
  for (const row of seen) if (!row.pinned) drawLane(g, s, row);
  g.restore();
  for (const row of seen) if (row.pinned) drawLane(g, s, row);
  if (s.drop !== null) {
    g.fillStyle = token("--focus");
    g.fillRect(0, s.drop - 1, s.width, 2);
  }
}

/** The range that is selected: its ground before the lanes, its ends above them.
 * @param {CanvasRenderingContext2D} g @param {Scene} s @param {number} height @param {boolean} ends */
function drawSelection(g, s, height, ends) {
  if (!s.selection) return;
  const within = (/** @type {number} */ t) => Math.min(s.width - RIGHT, Math.max(leftOf(s), xOf(s, t)));
  const [a, b] = [within(s.selection.t0), within(s.selection.t1)];
  if (b <= a && (s.selection.t1 < s.t0 || s.selection.t0 > s.t1)) return;
  g.fillStyle = token(ends ? "--focus" : "--pick");
  if (!ends) return g.fillRect(a, OVERVIEW + 6, Math.max(1, b - a), height - OVERVIEW - 6);
  for (const [t, x] of [[s.selection.t0, a], [s.selection.t1, b]])
    if (t >= s.t0 && t <= s.t1) g.fillRect(Math.round(x) - 0.5, OVERVIEW + 6, 1.5, height - OVERVIEW - 6);
}

/** Marks: a line each, its name, and between two how long that is.
 * @param {CanvasRenderingContext2D} g @param {Scene} s */
function drawMarks(g, s) {
  if (!s.marks.length) return;
  const [y, left, right] = [belowRuler(s) - FLAGS, leftOf(s), s.width - RIGHT];
  g.font = `600 11px ${token("--font-ui")}`;
  s.marks.forEach((mark, i) => {
    const x = xOf(s, mark.t);
    const next = s.marks[i + 1] ? Math.min(right, xOf(s, s.marks[i + 1].t)) : right;
    const name = markName(s.marks, i);
    const seen = x >= left && x <= right;
    let from = Math.max(left, x + 4);
    if (seen) {
      g.fillStyle = token("--ink");
      g.fillRect(Math.round(x) - 0.5, OVERVIEW + 6, 1.5, s.room - OVERVIEW - 6);
      const text = fit(g, name, next - x - 6);
      g.fillText(text, x + 4, y + FLAGS / 2);
      from = x + 10 + g.measureText(text).width;
    }
    if (!s.marks[i + 1] || next <= left || x >= right) return;
    const between = duration((s.marks[i + 1].t - mark.t) / 1000);
    const wide = g.measureText(between).width;
    if (next - from < wide + 12) return;
    g.fillStyle = token("--ink3");
    g.fillText(between, (from + next - wide) / 2, y + FLAGS / 2);
    g.fillRect(from, y + FLAGS / 2, (next - from - wide) / 2 - 6, 1);
    g.fillRect((from + next + wide) / 2 + 6, y + FLAGS / 2, (next - from - wide) / 2 - 8, 1);
  });
}

/** An arrow from the launch to its kernel.
 * @param {CanvasRenderingContext2D} g @param {Scene} s @param {Row[]} rows @param {Slice} from @param {Slice} to */
function drawFlow(g, s, rows, from, to) {
  const [a, b] = [rows.find((r) => r.id === from.lane), rows.find((r) => r.id === to.lane)];
  if (!a || !b) return;
  const [x0, x1] = [xOf(s, from.start + from.duration / 2), xOf(s, to.start) + 1];
  const [begin, end] = [placeOf(a, levelOf(viewOf(s, a.id), from)), placeOf(b, levelOf(viewOf(s, b.id), to))];
  const [y0, y1] = [begin.y + begin.height - 5, end.y + 1];
  g.save();
  g.beginPath(); // not over the names of lanes
  g.rect(leftOf(s), OVERVIEW + RULER, s.width - leftOf(s) - RIGHT, s.room);
  g.clip();
  g.strokeStyle = token("--ink");
  g.fillStyle = token("--ink");
  g.lineWidth = 1.5;
  g.beginPath();
  g.moveTo(x0, y0);
  g.bezierCurveTo(x0, y1 - 2, x1, y0 + 2, x1, y1);
  g.stroke();
  g.lineWidth = 1;
  g.beginPath();
  g.arc(x0, y0, 2.5, 0, 7);
  g.fill();
  g.restore();
}

/**
 * All of it, by a pen that has nothing drawn yet.
 * @param {CanvasRenderingContext2D} g
 * @param {Scene} s
 * @param {Slice | null} other the other end of the pointed slice's launch
 */
export function drawTimeline(g, s, other) {
  const height = s.room;
  g.textBaseline = "middle";
  drawOverview(g, s);
  drawSelection(g, s, height, false);
  drawRuler(g, s);
  const rows = rowsOf(s);
  drawLanes(g, s, rows);
  drawSelection(g, s, height, true);
  drawMarks(g, s);
  if (s.pointed && other) {
    const device = DEVICE_KINDS.includes(s.pointed.kind) || (s.pointed.kind === "flow" && other.start < s.pointed.start);
    drawFlow(g, s, rows, device ? other : s.pointed, device ? s.pointed : other);
  }
}
