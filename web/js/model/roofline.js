// js/model/roofline.js -- kernels under the roof that the speed of memory sets: rates over
// arithmetic intensity, both axes by powers of ten.

/** @typedef {import("./kernels.js").KernelFacts} KernelFacts */
/** @typedef {{at: number, value: number}} Tick */
/**
 * @typedef
 *   {{x: number, y: number, kernel: KernelFacts, library: boolean, label: {x: number, y: number,
 *   anchor: "start" | "end"} | null}}
 *   RoofPoint
 */
/**
 * @typedef
 *   {{x: Tick[], y: Tick[], roof: {x1: number, y1: number, x2: number, y2: number} | null, points: RoofPoint[]}}
 *   Roofline places in a box of the width and height that were given
 */

const LABELS = 8;
const LINE = 13;
const LETTER = 6.8; // of a name, wide
const [DOT, BESIDE, FAR] = [6, 8, 8]; // half a point, from it to its name, lines up and down
const ROOF_LETTERS = 32;

/**
 * What a copy takes of memory's bandwidth, as the line says it; of the largest that was measured, where none was as
 * large as memory.
 * @param {{copy_gbps?: number, copy_curve?: [number, number][]}} device
 * @returns {{gbps: number, bytes: number | null} | null}
 */
export function copyOf(device) {
  if (device.copy_gbps) return { gbps: device.copy_gbps, bytes: null };
  const last = device.copy_curve?.at(-1);
  return last && last[1] > 0 ? { gbps: last[0] / last[1] / 1e3, bytes: last[0] } : null;
}

/** Whole powers of ten around the values, two at least. @param {readonly number[]} values @returns {[number, number]} */
function decades(values) {
  const low = Math.floor(Math.log10(Math.min(...values)));
  return [low, Math.max(Math.ceil(Math.log10(Math.max(...values))), low + 2)];
}

/** @param {[number, number]} range @param {(value: number) => number} place @returns {Tick[]} */
function ticks([low, high], place) {
  const step = Math.ceil((high - low) / 6);
  return Array.from({ length: Math.floor((high - low) / step) + 1 }, (_, i) => {
    const value = 10 ** (low + i * step);
    return { at: place(value), value };
  });
}

/** @typedef {{x: number, y: number, wide: number, high: number}} Box */

/** @param {Box} a @param {Box} b */
const meet = (a, b) => a.x < b.x + b.wide && b.x < a.x + a.wide && a.y < b.y + b.high && b.y < a.y + a.high;

/** Small boxes on a line, a few pixels apart. @param {{x: number, y: number}} a @param {{x: number, y: number}} b @returns {Box[]} */
function along(a, b) {
  const n = Math.ceil(Math.hypot(b.x - a.x, b.y - a.y) / 4) || 1;
  return Array.from({ length: n + 1 }, (_, i) => ({ x: a.x + ((b.x - a.x) * i) / n - 1, y: a.y + ((b.y - a.y) * i) / n - 1, wide: 2, high: 2 }));
}

/**
 * Names beside the points, where neither another name nor a point is: at the right or the left, else some lines up
 * or down, with a line from the point that crosses no name.  One that fits nowhere is left out: the table has it.
 * @param {RoofPoint[]} points @param {number} width @param {number} height @param {Box[]} taken
 */
function placeLabels(points, width, height, taken) {
  const placed = [...taken, ...points.map((p) => ({ x: p.x - DOT, y: p.y - DOT, wide: 2 * DOT, high: 2 * DOT }))];
  const longest = [...points].sort((a, b) => (b.kernel.median ?? 0) - (a.kernel.median ?? 0)).slice(0, LABELS);
  /** @type {Box[]} */
  const named = [];
  for (const p of longest) {
    const wide = p.kernel.name.length * LETTER;
    const places = Array.from({ length: FAR }, (_, i) => [i, -i]).flatMap((ys) => ys.flatMap((y) => [[1, y], [-1, y]]));
    for (const [side, lines] of places) {
      const y = p.y + 4 + lines * LINE;
      const box = { x: side > 0 ? p.x + BESIDE : p.x - BESIDE - wide, y: y - 10, wide, high: LINE };
      const line = lines ? along({ x: p.x, y: p.y }, { x: p.x + side * BESIDE, y: y - 4 }) : [];
      if (box.x < 0 || box.x + wide > width || y < 10 || y > height - 4 || placed.some((o) => meet(o, box)) || named.some((o) => line.some((l) => meet(o, l)))) continue;
      placed.push(box, ...line);
      named.push(box);
      p.label = { x: p.x + side * BESIDE, y, anchor: side > 0 ? "start" : "end" };
      break;
    }
  }
}

/**
 * Null where no kernel has a rate: none was seen, or what they compute is unknown.
 * @param {readonly KernelFacts[]} rows
 * @param {number | null} copyGbps of memory, as a copy was measured
 * @param {number} width @param {number} height
 * @returns {Roofline | null}
 */
export function roofline(rows, copyGbps, width, height) {
  const shown = rows.filter((r) => Number(r.rate) > 0 && Number(r.intensity) > 0);
  if (!shown.length) return null;
  const xs = decades(shown.map((r) => Number(r.intensity)));
  const ys = decades(shown.flatMap((r) => [Number(r.rate), ...(copyGbps ? [copyGbps * Number(r.intensity)] : [])]));
  const x = (/** @type {number} */ v) => ((Math.log10(v) - xs[0]) / (xs[1] - xs[0])) * width;
  const y = (/** @type {number} */ v) => height - ((Math.log10(v) - ys[0]) / (ys[1] - ys[0])) * height;
  const points = shown.map((r) => ({
    x: x(Number(r.intensity)),
    y: y(Number(r.rate)),
    kernel: r,
    library: r.form === "library",
    label: null,
  }));
  const roof = copyGbps ? roofOf(copyGbps, xs, ys, x, y) : null;
  placeLabels(points, width, height, roof ? [nameOf(roof), ...along({ x: roof.x1, y: roof.y1 }, { x: roof.x2, y: roof.y2 })] : []);
  return { x: ticks(xs, x), y: ticks(ys, y), roof, points };
}

/** The part of the line rate = bandwidth * intensity that lies in the box. @param {number} gbps @param {[number, number]} xs @param {[number, number]} ys @param {(v: number) => number} x @param {(v: number) => number} y */
function roofOf(gbps, xs, ys, x, y) {
  const from = Math.max(10 ** xs[0], 10 ** ys[0] / gbps);
  const to = Math.min(10 ** xs[1], 10 ** ys[1] / gbps);
  return from < to ? { x1: x(from), y1: y(gbps * from), x2: x(to), y2: y(gbps * to) } : null;
}

/** Where the name of the roof is: above the middle of its line, at the left. @param {{x1: number, y1: number, x2: number, y2: number}} r @returns {Box} */
function nameOf({ x1, y1, x2, y2 }) {
  const wide = ROOF_LETTERS * LETTER;
  return { x: (x1 + x2) / 2 - BESIDE - wide, y: (y1 + y2) / 2 - 18, wide, high: LINE + 4 };
}
