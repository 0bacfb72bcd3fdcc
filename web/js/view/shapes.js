// js/view/shapes.js -- boxes of a graph and what is written in them and on edges, at any scale: no text is
// smaller than LEAST pixels in the window, and what has no room is cut or left out.

import { add, svg } from "./dom.js";

/** @typedef {import("../model/layout.js").Rect} Rect */
/** @typedef {import("../model/picture.js").PictureBox} PictureBox */

export const LEAST = 11; // pixels of any text
const OP = 12; // of the name of an op, where the picture has its own size
const HEAD = 22; // of a group, above what is in it

/** Units of the picture that text of so many pixels takes. @param {number} px @param {number} scale */
const sizeAt = (px, scale) => Math.max(px, LEAST / Math.min(1, scale));

/** What fits; "" where hardly a letter does. @param {string} text @param {number} width @param {number} letter */
function cut(text, width, letter) {
  const most = Math.floor(width / letter);
  return text.length <= most ? text : most > 2 ? `${text.slice(0, most - 1)}\u2026` : "";
}

/** @param {string} cls @param {string} text @param {number} x @param {number} y @param {number} size */
function written(cls, text, x, y, size) {
  const el = svg("text", { class: cls, x, y }, text);
  el.style.fontSize = `${size}px`;
  return el;
}

/** @param {PictureBox} b @param {Rect} r @param {number} scale @param {string} [cls] more classes */
export function boxShape(b, r, scale, cls = "") {
  const el = svg("g", { class: `box g-${b.kind}${cls}`, "data-node": b.id }, svg("rect", { x: r.x, y: r.y, width: r.w, height: r.h, rx: 2 }));
  const [op, about] = [sizeAt(OP, scale), sizeAt(LEAST, scale)];
  const both = r.h >= (op + about) * 1.3;
  const [x, room] = both ? [r.x + 8, r.w - 14] : [r.x + 4, r.w - 6];
  if (r.h >= op * 1.15) add(el, written("op", cut(b.title, room, (7.4 * op) / OP), x, both ? r.y + 17 : r.y + (r.h + op * 0.72) / 2, op));
  if (both) add(el, written("about", cut(b.sub, room, (6.9 * about) / LEAST), x, r.y + 32, about));
  return el;
}

/** Of an open group; null where there is no room above what is in it.
 * @param {string} title @param {string} time @param {Rect} r @param {number} scale */
export function groupTitle(title, time, r, scale) {
  const size = sizeAt(LEAST, scale);
  if (size * 1.2 > HEAD) return null;
  const letter = (6.6 * size) / LEAST;
  const [short, whole] = [cut(title, r.w - 12, letter), time ? `${title}  ${time}` : title];
  return written("title", whole.length * letter <= r.w - 12 ? whole : short, r.x + 8, r.y + 5 + size, size);
}

/** A text in a row of the picture, from the left; null where the row is too low for it.
 * @param {string} cls @param {string} text @param {Rect} r @param {number} scale */
export function rowText(cls, text, r, scale) {
  const size = sizeAt(OP, scale);
  if (size * 1.2 > r.h) return null;
  return written(cls, cut(text, r.w, (7 * size) / OP), r.x, r.y + (r.h + size * 0.72) / 2, size);
}

/** The head of arrows, for the `defs` of a picture. @param {string} id @param {number} [size] times the width of the line */
export const arrowHead = (id, size = 7) => svg("marker", { id, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: size, markerHeight: size, orient: "auto" }, svg("path", { class: "head", d: "M0 0L8 4L0 8Z" }));

/** What an edge carries. @param {string} text @param {[number, number]} place @param {number} scale @param {"" | "on" | "across"} [cls] one more class */
export function edgeLabel(text, [x, y], scale, cls = "") {
  const size = sizeAt(LEAST, scale);
  return written(`size ${cls}`.trim(), text, x, y + size * 0.36, size);
}
