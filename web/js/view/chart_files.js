// js/view/chart_files.js -- the buttons that save a chart as PNG and as SVG: whatever can be drawn by a pen.
//
// A chart of Chart.js draws itself; an SVG or a table of the page is read as it is shown, so that a file
// has what the page has, in its colours.  Pictures of blob: or data: are not allowed here.

import { button, h, save } from "./dom.js";

/** @typedef {CanvasRenderingContext2D} Pen or a SvgPen, which has what is used of it */
/** @typedef {{width: number, height: number, paint: (pen: Pen) => void}} Drawing in CSS pixels */

const SHARP = 2; // pixels of a PNG for each of the page, at least
const [MOST_SIDE, MOST_PIXELS] = [16384, 1e8]; // browsers draw nothing on a canvas that is larger
const SAID_MS = 2000;
const HEAD = 7; // of an arrow
const MARGIN = 8; // around a table

const ground = () => getComputedStyle(document.documentElement).getPropertyValue("--well").trim();

/** @param {string} name @param {Drawing} d */
function savePng(name, d) {
  const canvas = document.createElement("canvas");
  const sharp = Math.min(Math.max(SHARP, devicePixelRatio), MOST_SIDE / Math.max(d.width, d.height), Math.sqrt(MOST_PIXELS / (d.width * d.height)));
  [canvas.width, canvas.height] = [Math.ceil(d.width * sharp), Math.ceil(d.height * sharp)];
  const pen = /** @type {Pen} */ (canvas.getContext("2d"));
  pen.scale(sharp, sharp);
  pen.fillStyle = ground();
  pen.fillRect(0, 0, d.width, d.height);
  d.paint(pen);
  canvas.toBlob((blob) => blob && save(`${name}.png`, blob), "image/png");
}

/**
 * @param {string} name of the files, which says the run and the chart @param {string} title what it shows
 * @param {() => Drawing | null} drawing null: there is nothing now @returns {HTMLElement[]}
 */
export function chartFiles(name, title, drawing) {
  const png = () => {
    const d = drawing();
    if (d) savePng(name, d);
  };
  const svg = async () => {
    const { SvgPen } = await import("./svg_pen.js");
    const d = drawing();
    if (!d) return;
    const pen = new SvgPen();
    d.paint(/** @type {Pen} */ (/** @type {unknown} */ (pen)));
    save(`${name}.svg`, new Blob([pen.file(d.width, d.height, ground(), title)], { type: "image/svg+xml" }));
  };
  return [button("PNG", png), button("SVG", svg)];
}

/** Saves as PNG what the server gives as SVG. @param {string} name of the file @param {string} url */
export function pngOf(name, url) {
  const b = button("PNG", async () => {
    const image = h("img", { src: url });
    try {
      await image.decode();
      savePng(name, { width: image.naturalWidth, height: image.naturalHeight, paint: (pen) => pen.drawImage(image, 0, 0) });
    } catch {
      b.textContent = "The server gave no picture";
      setTimeout(() => (b.textContent = "PNG"), SAID_MS);
    }
  });
  return b;
}

/** A chart of Chart.js, as it is shown. @param {() => any} chart null: there is none yet @returns {() => Drawing | null} */
export const ofChart = (chart) => () => {
  const now = chart();
  if (!now) return null;
  const paint = (/** @type {any} */ pen) => ("draw" in pen ? pen.draw(now) : pen.drawImage(now.canvas, 0, 0, now.width, now.height));
  return { width: now.width, height: now.height, paint };
};

/** What the page shows of an SVG, or of a table. @param {() => Element | null} root @returns {() => Drawing | null} */
export const ofElement = (root) => () => {
  const el = root();
  const box = el?.getBoundingClientRect();
  if (!el || !box?.width) return null;
  const margin = el instanceof HTMLElement ? MARGIN : 0;
  const paint = (/** @type {Pen} */ pen) => {
    pen.translate(margin, margin);
    paintAll(pen, el, box);
  };
  return { width: box.width + 2 * margin, height: box.height + 2 * margin, paint };
};

/** @param {Pen} pen @param {Element} root @param {DOMRect} box */
function paintAll(pen, root, box) {
  for (const el of root.querySelectorAll("*")) {
    const style = getComputedStyle(el);
    if (style.display === "none" || style.visibility === "hidden" || el.closest("defs, title, .vh")) continue;
    pen.save();
    if (el instanceof SVGGeometryElement || el instanceof SVGTextElement) paintShape(pen, el, style, box);
    else if (el instanceof HTMLElement) paintCell(pen, el, style, box);
    pen.restore();
  }
}

const clear = (/** @type {string} */ colour) => colour === "none" || colour === "transparent" || colour === "rgba(0, 0, 0, 0)";

/** @param {Pen} pen @param {SVGGeometryElement | SVGTextElement} el @param {CSSStyleDeclaration} style @param {DOMRect} box */
function paintShape(pen, el, style, box) {
  const m = /** @type {DOMMatrix} */ (el.getScreenCTM());
  pen.translate(m.e - box.left, m.f - box.top);
  pen.scale(m.a, m.d);
  pen.lineWidth = parseFloat(style.strokeWidth) || 1;
  pen.setLineDash(style.strokeDasharray === "none" ? [] : style.strokeDasharray.split(/[\s,]+/).map(parseFloat));
  pen.fillStyle = style.fill;
  pen.strokeStyle = style.stroke;
  const seen = (/** @type {string} */ of) => Number(style.opacity) * parseFloat(of);
  if (el instanceof SVGTextElement) return paintText(pen, el, style);
  trace(pen, el);
  if (!clear(style.fill) && el.tagName !== "line") {
    pen.globalAlpha = seen(style.fillOpacity);
    pen.fill();
  }
  if (!clear(style.stroke)) {
    pen.globalAlpha = seen(style.strokeOpacity);
    pen.stroke();
    if (style.markerEnd !== "none") paintHead(pen, el);
  }
}

/** The head of an arrow, at the end of its line. @param {Pen} pen @param {SVGGeometryElement} el */
function paintHead(pen, el) {
  const length = el.getTotalLength();
  const [tip, before] = [el.getPointAtLength(length), el.getPointAtLength(length - HEAD)];
  const [dx, dy] = [(tip.x - before.x) / 2, (tip.y - before.y) / 2];
  pen.fillStyle = pen.strokeStyle;
  pen.beginPath();
  pen.moveTo(tip.x, tip.y);
  pen.lineTo(before.x - dy, before.y + dx);
  pen.lineTo(before.x + dy, before.y - dx);
  pen.closePath();
  pen.fill();
}

/** Its outline. @param {Pen} pen @param {SVGGeometryElement} el */
function trace(pen, el) {
  pen.beginPath();
  if (el instanceof SVGRectElement) pen.rect(el.x.baseVal.value, el.y.baseVal.value, el.width.baseVal.value, el.height.baseVal.value);
  else if (el instanceof SVGCircleElement) pen.arc(el.cx.baseVal.value, el.cy.baseVal.value, el.r.baseVal.value, 0, 2 * Math.PI);
  else if (el instanceof SVGLineElement) {
    pen.moveTo(el.x1.baseVal.value, el.y1.baseVal.value);
    pen.lineTo(el.x2.baseVal.value, el.y2.baseVal.value);
  } else tracePath(pen, el.getAttribute("d") ?? "");
}

/** A path in the commands that the page writes. @param {Pen} pen @param {string} d */
function tracePath(pen, d) {
  let [x, y] = [0, 0];
  for (const [, command, text] of d.matchAll(/([MLHVCQZhvz])([^MLHVCQZhvz]*)/g)) {
    const n = (text.match(/-?[\d.]+(?:e-?\d+)?/g) ?? []).map(Number);
    if (command === "Z" || command === "z") pen.closePath();
    else if (command === "C") pen.bezierCurveTo(n[0], n[1], n[2], n[3], n[4], n[5]);
    else if (command === "Q") pen.quadraticCurveTo(n[0], n[1], n[2], n[3]);
    [x, y] = command === "H" ? [n[0], y] : command === "V" ? [x, n[0]] : command === "h" ? [x + n[0], y] : command === "v" ? [x, y + n[0]] : n.length ? [n[n.length - 2], n[n.length - 1]] : [x, y];
    if (command === "M") pen.moveTo(x, y);
    else if (/[LHVhv]/.test(command)) pen.lineTo(x, y);
  }
}

/** @param {CSSStyleDeclaration} style */
const fontOf = (style) => `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;

/** @param {Pen} pen @param {SVGTextElement} el @param {CSSStyleDeclaration} style */
function paintText(pen, el, style) {
  pen.font = fontOf(style);
  pen.textAlign = style.textAnchor === "middle" ? "center" : style.textAnchor === "end" ? "right" : "left";
  pen.textBaseline = "alphabetic";
  const [x, y] = [el.x.baseVal[0]?.value ?? 0, el.y.baseVal[0]?.value ?? 0];
  const text = el.textContent ?? "";
  if (!clear(style.stroke)) {
    pen.lineJoin = "round";
    pen.strokeText(text, x, y);
  }
  pen.fillText(text, x, y);
}

/** A cell, or what is in it: its ground and its own texts. @param {Pen} pen @param {HTMLElement} el @param {CSSStyleDeclaration} style @param {DOMRect} box */
function paintCell(pen, el, style, box) {
  const r = el.getBoundingClientRect();
  if (!clear(style.backgroundColor)) {
    pen.fillStyle = style.backgroundColor;
    pen.fillRect(r.left - box.left, r.top - box.top, r.width, r.height);
  }
  [pen.font, pen.textAlign, pen.textBaseline, pen.fillStyle] = [fontOf(style), "left", "middle", style.color];
  for (const node of el.childNodes) {
    if (node.nodeType !== Node.TEXT_NODE || !node.textContent?.trim()) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const at = range.getBoundingClientRect();
    pen.fillText(node.textContent.trim(), at.left - box.left, at.top - box.top + at.height / 2);
  }
}
