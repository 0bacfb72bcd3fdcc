// js/model/layout.js -- where the boxes of a graph go: columns by longest path, left to
// right, and in bands below each other where that would be too wide.
//
// Boxes of one group (an open kernel) are laid out by themselves first; the group is then
// one large box among the others.  Work grows with boxes and edges, not with their square.

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

/**
 * @param {readonly Box[]} boxes
 * @param {readonly [string, string][]} edges between ids
 * @returns {Laid}
 */
export function layOut(boxes, edges) {
  /** @type {Map<string, Box[]>} */
  const members = new Map();
  for (const b of boxes) if (b.group) members.set(b.group, [...(members.get(b.group) ?? []), b]);
  const groupOf = new Map(boxes.map((b) => [b.id, b.group]));
  const inner = new Map(
    [...members].map(([group, list]) => [
      group,
      flat(list, edges.filter(([a, b]) => groupOf.get(a) === group && groupOf.get(b) === group), 420),
    ]),
  );
  /** @param {string} id */
  const outer = (id) => (groupOf.get(id) ? `group ${groupOf.get(id)}` : id);
  const seen = new Set();
  const tops = boxes.flatMap((b) => {
    const id = outer(b.id);
    if (seen.has(id)) return [];
    seen.add(id);
    const within = b.group ? inner.get(b.group) : null;
    return [within ? { id, w: within.width + 2 * PAD, h: within.height + HEAD + PAD } : b];
  });
  const between = new Map(edges.map(([a, b]) => [`${outer(a)}\n${outer(b)}`, /** @type {[string, string]} */ ([outer(a), outer(b)])]));
  const all = flat(tops, [...between.values()], LEAST_WIDTH);
  /** @type {Laid} */
  const laid = { boxes: {}, groups: {}, width: all.width, height: all.height };
  for (const b of boxes) {
    const place = all.at[outer(b.id)];
    if (!b.group) laid.boxes[b.id] = place;
    else {
      const r = /** @type {{at: Record<string, Rect>}} */ (inner.get(b.group)).at[b.id];
      laid.boxes[b.id] = { ...r, x: place.x + PAD + r.x, y: place.y + HEAD + r.y };
      laid.groups[b.group] = place;
    }
  }
  return laid;
}
