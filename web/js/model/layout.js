// js/model/layout.js -- where the boxes of a graph go: columns by longest path, left to
// right, and in bands below each other where that would be too wide.
//
// What stands in a group (an open kernel, an open module) is laid out by itself first; the group
// is then one large box among the others.  Work grows with boxes and edges, not with their square.

/** @typedef {{id: string, w: number, h: number, group: string | null}} Box */
/** @typedef {{x: number, y: number, w: number, h: number}} Rect */
/** @typedef {{boxes: Record<string, Rect>, groups: Record<string, Rect>, width: number, height: number}} Laid */

const GAP_X = 46;
const GAP_Y = 14;
const BAND = 44;
const PAD = 8;
const HEAD = 24;
const SWEEPS = 4;
const LEAST_WIDTH = 1100;

/** Column of each box: one behind the last that it reads; what reads nothing stands before its first reader.
 * What lies on a cycle keeps the columns found so far. @param {number} n @param {number[][]} to @param {number[][]} from */
function columnsOf(n, to, from) {
  const column = new Array(n).fill(0);
  const waits = from.map((f) => f.length);
  const ready = waits.flatMap((w, i) => (w ? [] : [i]));
  for (let k = 0; k < ready.length; k++)
    for (const b of to[ready[k]]) {
      column[b] = Math.max(column[b], column[ready[k]] + 1);
      if (--waits[b] === 0) ready.push(b);
    }
  for (let i = 0; i < n; i++)
    if (!from[i].length && to[i].length) column[i] = Math.max(0, Math.min(...to[i].map((b) => column[b])) - 1);
  return column;
}

/** The boxes of each column, neighbours near each other. @param {number[]} column @param {number[][]} to @param {number[][]} from */
function ordered(column, to, from) {
  /** @type {number[][]} */
  const columns = Array.from({ length: Math.max(...column) + 1 }, () => []);
  column.forEach((c, i) => columns[c].push(i));
  const place = new Array(column.length).fill(0);
  const number = (/** @type {number[]} */ list) => list.forEach((i, k) => (place[i] = k));
  columns.forEach(number);
  for (let s = 0; s < SWEEPS; s++) {
    const near = s % 2 ? to : from;
    for (const list of s % 2 ? [...columns].reverse() : columns) {
      const mean = new Map(list.map((i) => [i, near[i].length ? near[i].reduce((sum, k) => sum + place[k], 0) / near[i].length : place[i]]));
      list.sort((a, b) => /** @type {number} */ (mean.get(a)) - /** @type {number} */ (mean.get(b)));
      number(list);
    }
  }
  return columns;
}

/**
 * @param {readonly {id: string, w: number, h: number}[]} boxes
 * @param {readonly [string, string][]} edges
 * @param {number} widest the least width of a band
 * @returns {{at: Record<string, Rect>, width: number, height: number}}
 */
function flat(boxes, edges, widest) {
  if (!boxes.length) return { at: {}, width: 0, height: 0 };
  const number = new Map(boxes.map((b, i) => [b.id, i]));
  /** @type {number[][]} */
  const to = boxes.map(() => []);
  /** @type {number[][]} */
  const from = boxes.map(() => []);
  for (const [a, b] of edges) {
    const [i, k] = [number.get(a), number.get(b)];
    if (i === undefined || k === undefined || i === k) continue;
    to[i].push(k);
    from[k].push(i);
  }
  const columns = ordered(columnsOf(boxes.length, to, from), to, from);
  const wide = columns.map((list) => Math.max(...list.map((i) => boxes[i].w)));
  const high = columns.map((list) => list.reduce((sum, i) => sum + boxes[i].h + GAP_Y, -GAP_Y));
  const area = wide.reduce((sum, w, c) => sum + (w + GAP_X) * (high[c] + BAND), 0);
  const limit = Math.max(widest, Math.sqrt(area * 2));
  /** @type {Rect[]} */
  const rects = [];
  let [x, top, bottom, right] = [0, 0, 0, 0];
  columns.forEach((list, c) => {
    if (x > 0 && x + wide[c] > limit) [x, top] = [0, bottom + BAND];
    let y = top;
    for (const i of list) {
      const read = from[i].filter((k) => rects[k] && rects[k].y >= top && rects[k].x < x);
      const centre = read.length ? read.reduce((sum, k) => sum + rects[k].y + rects[k].h / 2, 0) / read.length : 0;
      if (read.length) y = Math.max(y, Math.round(centre - boxes[i].h / 2));
      rects[i] = { x, y, w: boxes[i].w, h: boxes[i].h };
      y += boxes[i].h + GAP_Y;
      bottom = Math.max(bottom, y - GAP_Y);
    }
    x += wide[c] + GAP_X;
    right = Math.max(right, x - GAP_X);
  });
  return { at: Object.fromEntries(boxes.map((b, i) => [b.id, rects[i]])), width: right, height: bottom };
}

/** @typedef {{boxes: {id: string, w: number, h: number}[], edges: Map<string, [string, string]>}} Level what stands in a group, or in none */

/**
 * The levels, by group ("": none), each with what stands in it; groups hold boxes or groups.
 * @param {readonly Box[]} boxes @param {readonly [string, string][]} edges @param {(id: string | null) => string[]} chainOf outermost first
 */
function levelsOf(boxes, edges, chainOf) {
  /** @type {Map<string, Level>} */
  const levels = new Map([["", { boxes: [], edges: new Map() }]]);
  /** @type {(id: string) => Level} */
  const at = (id) => /** @type {Level} */ (levels.get(id));
  for (const b of boxes) {
    let up = "";
    for (const g of chainOf(b.group)) {
      if (!levels.has(g)) {
        levels.set(g, { boxes: [], edges: new Map() });
        at(up).boxes.push({ id: `group ${g}`, w: 0, h: 0 });
      }
      up = g;
    }
    at(up).boxes.push({ id: b.id, w: b.w, h: b.h });
  }
  const chains = new Map(boxes.map((b) => [b.id, chainOf(b.group)]));
  for (const [a, b] of edges) {
    const [x, y] = [chains.get(a), chains.get(b)];
    if (!x || !y) continue;
    let k = 0;
    while (k < x.length && x[k] === y[k]) k++;
    const [from, to] = [x.length > k ? `group ${x[k]}` : a, y.length > k ? `group ${y[k]}` : b];
    if (from !== to) at(k ? x[k - 1] : "").edges.set(`${from}\n${to}`, [from, to]);
  }
  return levels;
}

/**
 * @param {readonly Box[]} boxes
 * @param {readonly [string, string][]} edges between ids
 * @param {Record<string, string | null>} [parents] of groups that stand in others
 * @returns {Laid}
 */
export function layOut(boxes, edges, parents = {}) {
  /** @param {string | null} id @returns {string[]} */
  const chainOf = (id) => (id === null ? [] : [...chainOf(parents[id] ?? null), id]);
  const levels = levelsOf(boxes, edges, chainOf);
  /** @type {Map<string, ReturnType<typeof flat>>} */
  const placed = new Map();
  // What is within comes behind it in the order of the levels: sizes are known from the inside out.
  for (const [id, level] of [...levels].reverse()) {
    const sized = level.boxes.map((b) => {
      const within = b.id.startsWith("group ") ? placed.get(b.id.slice(6)) : undefined;
      return within ? { id: b.id, w: within.width + 2 * PAD, h: within.height + HEAD + PAD } : b;
    });
    placed.set(id, flat(sized, [...level.edges.values()], id ? 420 : LEAST_WIDTH));
  }
  const top = /** @type {ReturnType<typeof flat>} */ (placed.get(""));
  /** @type {Laid} */
  const laid = { boxes: {}, groups: {}, width: top.width, height: top.height };
  const spread = (/** @type {string} */ level, /** @type {number} */ x, /** @type {number} */ y) => {
    for (const [id, r] of Object.entries(/** @type {ReturnType<typeof flat>} */ (placed.get(level)).at)) {
      const rect = { ...r, x: r.x + x, y: r.y + y };
      if (!id.startsWith("group ")) laid.boxes[id] = rect;
      else {
        laid.groups[id.slice(6)] = rect;
        spread(id.slice(6), rect.x + PAD, rect.y + HEAD);
      }
    }
  };
  spread("", 0, 0);
  return laid;
}
