// js/model/layout.js -- a picture as the server lays it out (POST /api/v1/layout), and where labels of its
// edges go.

/** @typedef {{x: number, y: number, w: number, h: number}} Rect */
/**
 * @typedef {object} Laid
 * @property {Record<string, Rect>} boxes
 * @property {Record<string, Rect>} groups those that are open, outermost first
 * @property {Record<string, string>} paths by edge, "from\nto": data of an SVG path
 * @property {number} width
 * @property {number} height
 */
/** @typedef {Pick<import("./picture.js").Picture, "boxes" | "edges" | "parents">} Shown */
/** @typedef {{boxes: [number, number, number][], groups: [number, number][], edges: [number, number][], band_height: number}} LayoutBody */
/** @typedef {{width: number, height: number, boxes: number[][], groups: number[][], edges: string[]}} LayoutAnswer */

const TITLE_MOST = 240;
const LETTER = 6.6; // of a label, 11 px
const LABEL_HEIGHT = 14;
const ALONG = [0.5, 0.35, 0.65, 0.2, 0.8];

/** @returns {Laid} */
export const nothingLaid = () => ({ boxes: {}, groups: {}, paths: {}, width: 0, height: 0 });

/** The groups that boxes are in, each after the one that it is in. @param {Shown} p @returns {string[]} */
function groupsOf(p) {
  /** @type {Set<string>} */
  const found = new Set();
  const take = (/** @type {string | null} */ id) => {
    if (id === null || found.has(id)) return;
    take(p.parents[id] ?? null);
    found.add(id);
  };
  for (const b of p.boxes) take(b.group);
  return [...found];
}

/**
 * What to ask for a picture.
 * @param {Shown} p @param {(group: string) => string} titleOf @param {number} height of the window, pixels
 * @returns {LayoutBody}
 */
export function layoutBody(p, titleOf, height) {
  const groups = groupsOf(p);
  const group = new Map(groups.map((id, i) => [id, i]));
  const box = new Map(p.boxes.map((b, i) => [b.id, i]));
  const at = (/** @type {string | null | undefined} */ id) => group.get(id ?? "") ?? -1;
  return {
    boxes: p.boxes.map((b) => [b.w, b.h, at(b.group)]),
    groups: groups.map((id) => [at(p.parents[id]), Math.min(TITLE_MOST, titleOf(id).length * LETTER + 24)]),
    edges: p.edges.map(([a, b]) => [Number(box.get(a)), Number(box.get(b))]),
    band_height: height,
  };
}

/** What was answered for it. @param {Shown} p @param {LayoutAnswer} answer @returns {Laid} */
export function laidOut(p, answer) {
  const rect = (/** @type {number[]} */ [x, y, w, h]) => ({ x, y, w, h });
  return {
    boxes: Object.fromEntries(p.boxes.map((b, i) => [b.id, rect(answer.boxes[i])])),
    groups: Object.fromEntries(groupsOf(p).map((id, i) => [id, rect(answer.groups[i])])),
    paths: Object.fromEntries(p.edges.map((e, i) => [e.join("\n"), answer.edges[i]])),
    width: answer.width,
    height: answer.height,
  };
}

/** Points along the curves of a path of the layout, the middle of its first curve first. @param {string} path @returns {[number, number][]} */
function pointsOf(path) {
  /** @type {[number, number][]} */
  const points = [];
  let [x, y] = [0, 0];
  for (const [, command, text] of path.matchAll(/([MCVH])([^MCVH]*)/g)) {
    const n = text.trim().split(/\s+/).map(Number);
    if (command === "C")
      for (const t of ALONG) {
        const of = (/** @type {number} */ a, /** @type {number} */ b, /** @type {number} */ c, /** @type {number} */ d) =>
          a * (1 - t) ** 3 + 3 * b * t * (1 - t) ** 2 + 3 * c * t * t * (1 - t) + d * t ** 3;
        points.push([of(x, n[0], n[2], n[4]), of(y, n[1], n[3], n[5])]);
      }
    if (command === "V") y = n[0];
    else if (command === "H") x = n[0];
    else [x, y] = n.slice(-2);
  }
  return points;
}

/**
 * The middle of each label: on its edge, over no box, no title of a group and no label before it.  One that has no
 * such place is left out.
 * @param {Laid} laid @param {readonly [string, string][]} labels edge and text, the more important first
 * @param {number} [times] as large as they are where the picture has its own size
 * @returns {Map<string, [number, number]>}
 */
export function labelPlaces(laid, labels, times = 1) {
  const taken = [...Object.values(laid.boxes), ...Object.values(laid.groups).map((g) => ({ ...g, h: 20 }))];
  /** @type {Map<string, [number, number]>} */
  const places = new Map();
  for (const [edge, text] of labels) {
    const [w, h] = [(text.length * LETTER + 6) * times, LABEL_HEIGHT * times];
    const rectAt = (/** @type {[number, number]} */ [x, y]) => ({ x: x - w / 2, y: y - h / 2, w, h });
    const free = (/** @type {Rect} */ r) => !taken.some((t) => r.x < t.x + t.w && t.x < r.x + r.w && r.y < t.y + t.h && t.y < r.y + r.h);
    const place = pointsOf(laid.paths[edge] ?? "").find((p) => free(rectAt(p)));
    if (!place) continue;
    places.set(edge, place);
    taken.push(rectAt(place));
  }
  return places;
}
