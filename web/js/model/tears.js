// js/model/tears.js -- many graphs as one picture: each below the one before it, a band where it is torn, and
// over the bands the values that live across: what one graph gives and a later one takes.

import { bytes, plural } from "./format.js";
import { short, sizeOf } from "./picture.js";

/** @typedef {import("./layout.js").Laid} Laid */
/** @typedef {import("./layout.js").Rect} Rect */
/** @typedef {import("./picture.js").PictureBox} PictureBox */
/** @typedef {import("../api/types.js").Graph} Graph */
/** @typedef {{text: string, graph: {id: number, laid: Laid} | null}} Row a graph below its name, or a band with a text */
/** @typedef {{from: [number, string], to: [number, string], text: string, title: string}} Across of boxes: the graph's id, its own; what crosses */
/** @typedef {{at: Across, path: string, segments: Rect[]}} Route */
/** @typedef {{width: number, height: number, rows: Rect[], boxes: Map<number, {x: number, y: number}>, routes: Route[], taken: Rect[], texts: Rect[]}} Stacked
 *   rows: where each is; boxes: where each graph's own picture begins; taken: all boxes; texts: names of graphs and of tears */

export const [HEAD, BAND] = [30, 38]; // of a graph's name, of a tear
const [ABOVE, BELOW, LEFT, APART, LETTER] = [30, 18, 16, 10, 7];
const SMALL = 1.45; // as much larger texts are where the picture is as small as it begins
const CORNER = 5;
const MOST_ROOMS = 24; // lines that are kept so far apart that each has room for its name

/**
 * The values that one graph gives and a later one takes, by the boxes that they leave and reach.
 * @param {readonly {graph: Graph, boxes: readonly PictureBox[], outputs: readonly string[]}[]} shown in their order; outputs: as
 *   they are named where the picture is drawn
 * @returns {Across[]}
 */
export function acrossOf(shown) {
  const at = new Map(shown.map((s, i) => [s.graph.id ?? i, i]));
  const boxOf = (/** @type {number} */ i, /** @type {string | undefined} */ name) => shown[i].boxes.find((b) => b.nodes.some((n) => n.id === name))?.id;
  /** @type {Map<string, {from: [number, string], to: [number, string], values: {name: string, what: string, size: number | null}[]}>} */
  const edges = new Map();
  shown.forEach(({ graph }, i) => {
    for (const o of graph.origins ?? []) {
      const j = at.get(o.graph);
      const node = graph.nodes?.find((n) => n.id === o.node);
      if (j === undefined || j >= i || !node) continue;
      const given = shown[j].graph.nodes?.find((n) => n.id === shown[j].graph.outputs?.[o.output])?.name;
      const [from, to] = [boxOf(j, given) ?? boxOf(j, shown[j].outputs[o.output]), boxOf(i, node.name)];
      if (from === undefined || to === undefined) continue;
      const key = JSON.stringify([j, from, i, to]);
      const known = edges.get(key) ?? { from: [Number(o.graph), from], to: [Number(graph.id ?? i), to], values: [] };
      known.values.push({ name: node.name, what: `${node.dtype ?? ""} ${short(node.shape ?? "[]")}`.trim(), size: sizeOf(node.dtype ?? "", node.shape ?? "[]") });
      edges.set(key, known);
    }
  });
  return [...edges.values()].map(({ from, to, values }) => {
    const sizes = values.map((v) => v.size);
    const size = sizes.includes(null) ? "" : bytes(sizes.reduce((/** @type {number} */ sum, x) => sum + Number(x), 0));
    const name = values.length > 1 ? plural(values.length, "value") : values[0].name;
    const what = values.length > 1 ? "" : values[0].what;
    return { from, to, text: [name, size].filter(Boolean).join(" "), title: `${[name, what, size].filter(Boolean).join(", ")}: from graph ${from[0]} to graph ${to[0]}` };
  });
}

/** @param {Rect} a @param {Rect} b */
const meet = (a, b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

/**
 * Where a line can go down, as near as can be to where it would, with its name beside it in a tear.
 * @param {number} wanted @param {{y: number, h: number}} line @param {Rect} name at the right of it: x from the line on
 * @param {readonly Rect[]} taken
 */
function laneNear(wanted, line, name, taken) {
  const near = taken.filter((r) => r.y < line.y + line.h && line.y < r.y + r.h);
  const free = (/** @type {number} */ x) => x >= LEFT && !near.some((r) => (x > r.x - APART + 1 && x < r.x + r.w + APART - 1) || meet({ ...name, x: x + name.x }, r));
  const places = [wanted, ...near.flatMap((r) => [r.x - APART, r.x - APART - name.x - name.w, r.x + r.w + APART])].filter(free);
  return places.sort((a, b) => Math.abs(a - wanted) - Math.abs(b - wanted))[0] ?? Math.max(...near.map((r) => r.x + r.w)) + APART;
}

/** A way through corners, which are rounded. @param {readonly [number, number][]} points */
function through(points) {
  let path = `M${points[0].join(" ")}`;
  for (let i = 1; i < points.length; i++) {
    const [[x0, y0], [x, y], next] = [points[i - 1], points[i], points[i + 1]];
    if (!next) {
      path += `L${x} ${y}`;
      continue;
    }
    const toward = (/** @type {[number, number]} */ [a, b]) => {
      const far = Math.hypot(a - x, b - y) || 1;
      const r = Math.min(CORNER, far / 2);
      return `${x + ((a - x) / far) * r} ${y + ((b - y) / far) * r}`;
    };
    path += `L${toward([x0, y0])}Q${x} ${y} ${toward(next)}`;
  }
  return path;
}

/** As thin as a line is, for what is to keep away from it. @param {[number, number]} a @param {[number, number]} b @returns {Rect} */
const thin = ([x0, y0], [x1, y1]) => ({ x: Math.min(x0, x1) - 1, y: Math.min(y0, y1) - 1, w: Math.abs(x1 - x0) + 2, h: Math.abs(y1 - y0) + 2 });

/** @param {readonly Row[]} rows @param {readonly Across[]} across @returns {Stacked} */
export function stack(rows, across) {
  /** @type {Stacked} */
  const to = { width: 0, height: 0, rows: [], boxes: new Map(), routes: [], taken: [], texts: [] };
  for (const { text, graph } of rows) {
    const h = graph ? HEAD + ABOVE + graph.laid.height + BELOW : BAND;
    to.rows.push({ x: 0, y: to.height, w: 0, h });
    to.texts.push({ x: LEFT, y: to.height + 4, w: text.length * LETTER * SMALL, h: (graph ? HEAD : BAND) - 8 });
    if (graph) {
      const origin = { x: LEFT, y: to.height + HEAD + ABOVE };
      to.boxes.set(graph.id, origin);
      for (const r of Object.values(graph.laid.boxes)) to.taken.push({ ...r, x: r.x + origin.x, y: r.y + origin.y });
    }
    to.height += h;
    to.width = Math.max(to.width, 2 * LEFT + Math.max(text.length * LETTER * SMALL, graph?.laid.width ?? 0));
  }
  const boxAt = (/** @type {[number, string]} */ [id, box]) => {
    const [r, origin] = [rows.find((x) => x.graph?.id === id)?.graph?.laid.boxes[box], to.boxes.get(id)];
    return r && origin && { ...r, x: r.x + origin.x, y: r.y + origin.y };
  };
  /** @type {Map<string, number>} by box, and by graph: lines so far */
  const left = new Map();
  /** @type {Map<number, number>} */
  const reached = new Map();
  const many = new Map();
  for (const a of across) many.set(a.from.join(), (many.get(a.from.join()) ?? 0) + 1);
  /** @type {Rect[]} */
  const lanes = [];
  for (const at of across) {
    const [from, end] = [boxAt(at.from), boxAt(at.to)];
    if (!from || !end) continue;
    const k = (left.get(at.from.join()) ?? 0) + 1;
    left.set(at.from.join(), k);
    const [x0, y0] = [from.x + (from.w * k) / (many.get(at.from.join()) + 1), from.y + from.h];
    const [x1, y1] = [end.x + end.w / 2, end.y];
    const into = (reached.get(at.to[0]) ?? 0) % 4;
    reached.set(at.to[0], into + 1);
    const [down, up] = [y0 + 5 + 3 * (k % 3), y1 - 9 - 6 * into];
    const band = to.rows.find((r) => r.h === BAND && r.y > down && r.y + r.h < up);
    const roomy = across.length <= MOST_ROOMS && band;
    const name = { x: 5, y: roomy ? band.y + 4 : down, w: roomy ? at.text.length * LETTER * SMALL : 0, h: roomy ? band.h - 8 : 0 };
    const x = laneNear(x0, { y: down, h: up - down }, name, [...to.taken, ...to.texts, ...lanes]);
    if (roomy) lanes.push({ ...name, x: x + name.x });
    /** @type {[number, number][]} */
    const points = [[x0, y0], ...(x === x0 ? [] : /** @type {[number, number][]} */ ([[x0, down], [x, down]])), ...(x === x1 ? [] : /** @type {[number, number][]} */ ([[x, up], [x1, up]])), [x1, y1]];
    const segments = points.slice(1).map((p, i) => thin(points[i], p));
    lanes.push(...segments.filter((s) => s.h > 2 && s.h > s.w));
    to.routes.push({ at, path: through(points), segments });
    to.width = Math.max(to.width, x + 8 + at.text.length * LETTER * SMALL);
  }
  to.rows = to.rows.map((r) => ({ ...r, w: to.width }));
  return to;
}

/**
 * The left middle of each label: beside its line, in a tear where there is room, over no box, no text, no other line.
 * @param {Stacked} s @param {readonly Rect[]} also what else no label is over @param {number} [times] as large as it is where the picture has its own size
 * @returns {Map<Route, [number, number]>}
 */
export function namePlaces(s, also, times = 1) {
  const lines = s.routes.flatMap((r) => r.segments);
  const taken = [...s.taken, ...also, ...s.texts];
  const bands = s.rows.filter((r) => r.h === BAND).map((r) => r.y + r.h / 2);
  const places = new Map();
  for (const r of s.routes) {
    const lane = r.segments.reduce((a, b) => (b.h > a.h ? b : a));
    const [w, h] = [(r.at.text.length * LETTER + 4) * times, 14 * times];
    const ys = [...bands, ...Array.from({ length: Math.floor(lane.h / 8) }, (_, i) => lane.y + 8 * i)].filter((y) => y - h / 2 > lane.y && y + h / 2 < lane.y + lane.h);
    const spots = ys.flatMap((y) => [lane.x + 6, lane.x - 4 - w].map((x) => ({ x, y: y - h / 2, w, h })));
    const at = spots.find((p) => p.x > 0 && ![...taken, ...lines].some((t) => meet(p, t)));
    if (!at) continue;
    places.set(r, [at.x + 2 * times, at.y + h / 2]);
    taken.push(at);
  }
  return places;
}
