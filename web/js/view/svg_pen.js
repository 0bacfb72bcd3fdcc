// js/view/svg_pen.js -- a pen as a canvas has one, which writes SVG: what draws a chart onto a canvas
// draws it into a file that scales, with its texts as texts.
//
// Of CanvasRenderingContext2D it has what Chart.js, the marks of charts and chart_files.js use.  The libraries
// for this, svgcanvas and canvas2svg, have no Path2D, in which Chart.js keeps its lines.  Points are put
// through the transform as they come, so that the file needs none but for texts.

/** @typedef {{fillStyle: any, strokeStyle: any, lineWidth: number, globalAlpha: number, font: string, textAlign: string, textBaseline: string, lineCap: string, lineJoin: string, dash: number[], matrix: DOMMatrix, clipped: string}} State */

const KEPT = /** @type {const} */ (["fillStyle", "strokeStyle", "lineWidth", "globalAlpha", "font", "textAlign", "textBaseline", "lineCap", "lineJoin", "dash", "matrix", "clipped"]);
const ANCHORS = /** @type {Record<string, string>} */ ({ center: "middle", right: "end", end: "end" });
const BASELINES = /** @type {Record<string, string>} */ ({ middle: "central", top: "text-before-edge", hanging: "hanging", bottom: "text-after-edge" });

/** @param {number} v */
const px = (v) => String(Math.round(v * 100) / 100);
/** @param {string} text */
const escaped = (text) => text.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);

/** "500 11px Inter, sans-serif" as attributes. @param {string} font */
function fontOf(font) {
  const [, weight = "400", size = "10", family = "sans-serif"] = /(?:(\d{3}|bold)\s+)?([\d.]+)px(?:\/\S+)?\s+(.*)$/.exec(font) ?? [];
  return `font-family="${escaped(family)}" font-size="${size}"${weight === "400" ? "" : ` font-weight="${weight}"`}`;
}

export class SvgPen {
  /** @type {string[]} */
  #out = [];
  /** @type {string[]} */
  #defs = [];
  #path = "";
  #at = { x: 0, y: 0, open: false };
  /** @type {State[]} */
  #saved = [];
  #ruler;

  /** @param {HTMLCanvasElement} [canvas] whose size it has, in CSS pixels; none: it stands for a Path2D */
  constructor(canvas) {
    this.canvas = canvas;
    this.#ruler = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
    Object.assign(this, { fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, globalAlpha: 1, font: "10px sans-serif", textAlign: "start", textBaseline: "alphabetic", lineCap: "butt", lineJoin: "miter", dash: [], clipped: "", matrix: new DOMMatrix() });
  }

  /** @returns {State} */
  get #now() {
    return /** @type {State} */ (/** @type {unknown} */ (this));
  }

  save() {
    const now = /** @type {any} */ (this.#now);
    this.#saved.push(/** @type {State} */ (Object.fromEntries(KEPT.map((k) => [k, k === "matrix" ? DOMMatrix.fromMatrix(now.matrix) : now[k]]))));
  }
  restore() {
    const was = this.#saved.pop();
    if (was) Object.assign(this, was);
  }
  /** @param {number} x @param {number} y */
  translate(x, y) {
    this.#now.matrix = this.#now.matrix.translate(x, y);
  }
  /** @param {number} angle */
  rotate(angle) {
    this.#now.matrix = this.#now.matrix.rotate((angle * 180) / Math.PI);
  }
  /** @param {number} x @param {number} y */
  scale(x, y) {
    this.#now.matrix = this.#now.matrix.scale(x, y);
  }
  resetTransform() {
    this.#now.matrix = new DOMMatrix();
  }
  /** @param {any[]} m */
  setTransform(...m) {
    this.#now.matrix = m.length === 6 ? new DOMMatrix(m) : new DOMMatrix();
  }
  /** @param {number[]} dash */
  setLineDash(dash) {
    this.#now.dash = [...dash];
  }
  getLineDash() {
    return this.#now.dash;
  }
  clearRect() {} // the file begins empty
  /** @param {string} text */
  measureText(text) {
    this.#ruler.font = this.#now.font;
    return this.#ruler.measureText(text);
  }

  beginPath() {
    this.#path = "";
    this.#at.open = false;
  }
  /** @param {string} kind @param {...number} points */
  #add(kind, ...points) {
    const put = [];
    for (let i = 0; i < points.length; i += 2) {
      const p = this.#now.matrix.transformPoint({ x: points[i], y: points[i + 1] });
      put.push(`${px(p.x)} ${px(p.y)}`);
    }
    if (put.length) [this.#at.x, this.#at.y] = points.slice(-2);
    this.#at.open = true;
    this.#path += `${kind}${put.join(" ")}`;
  }
  /** @param {number} x @param {number} y */
  moveTo(x, y) {
    this.#add("M", x, y);
  }
  /** @param {number} x @param {number} y */
  lineTo(x, y) {
    this.#add(this.#at.open ? "L" : "M", x, y);
  }
  /** @param {number} a @param {number} b @param {number} c @param {number} d @param {number} x @param {number} y */
  bezierCurveTo(a, b, c, d, x, y) {
    this.#add("C", a, b, c, d, x, y);
  }
  /** @param {number} a @param {number} b @param {number} x @param {number} y */
  quadraticCurveTo(a, b, x, y) {
    this.#add("Q", a, b, x, y);
  }
  closePath() {
    this.#path += "Z";
  }
  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  rect(x, y, w, h) {
    this.moveTo(x, y);
    this.#add("L", x + w, y, x + w, y + h, x, y + h);
    this.closePath();
  }
  /** As curves of a twelfth of a turn: so near to it that nobody sees a difference.
   * @param {number} x @param {number} y @param {number} r @param {number} from @param {number} to @param {boolean} [back] */
  arc(x, y, r, from, to, back = false) {
    const turn = back ? -Math.min(2 * Math.PI, from - to) : Math.min(2 * Math.PI, to - from);
    const n = Math.max(1, Math.ceil(Math.abs(turn) / (Math.PI / 6)));
    const [step, k] = [turn / n, (4 / 3) * Math.tan(turn / n / 4) * r];
    this.lineTo(x + r * Math.cos(from), y + r * Math.sin(from));
    for (let i = 0; i < n; i++) {
      const [a, b] = [from + i * step, from + (i + 1) * step];
      this.bezierCurveTo(x + r * Math.cos(a) - k * Math.sin(a), y + r * Math.sin(a) + k * Math.cos(a), x + r * Math.cos(b) + k * Math.sin(b), y + r * Math.sin(b) - k * Math.cos(b), x + r * Math.cos(b), y + r * Math.sin(b));
    }
  }
  clip() {
    this.#defs.push(`<clipPath id="c${this.#defs.length}"${this.#now.clipped ? ` clip-path="${this.#now.clipped}"` : ""}><path d="${this.#path}"/></clipPath>`);
    this.#now.clipped = `url(#c${this.#defs.length - 1})`;
  }

  /** @param {string} tag @param {string} attributes @param {string} [inner] */
  #put(tag, attributes, inner = "") {
    const { globalAlpha, clipped } = this.#now;
    const seen = `${globalAlpha < 1 ? ` opacity="${px(globalAlpha)}"` : ""}${clipped ? ` clip-path="${clipped}"` : ""}`;
    this.#out.push(inner ? `<${tag} ${attributes}${seen}>${inner}</${tag}>` : `<${tag} ${attributes}${seen}/>`);
  }
  get #stroke() {
    const { strokeStyle, lineWidth, dash, lineCap, lineJoin } = this.#now;
    return `fill="none" stroke="${escaped(String(strokeStyle))}" stroke-width="${px(lineWidth)}"${dash.length ? ` stroke-dasharray="${dash.map(px).join(" ")}"` : ""}${lineCap === "butt" ? "" : ` stroke-linecap="${lineCap}"`}${lineJoin === "miter" ? "" : ` stroke-linejoin="${lineJoin}"`}`;
  }
  /** @param {SvgPen} [of] what was drawn in place of a Path2D */
  stroke(of = this) {
    if (of.#path) this.#put("path", `d="${of.#path}" ${this.#stroke}`);
  }
  /** @param {SvgPen | string} [of] or the rule of what is inside */
  fill(of = this) {
    const path = of instanceof SvgPen ? of.#path : this.#path;
    if (path) this.#put("path", `d="${path}" fill="${escaped(String(this.#now.fillStyle))}"`);
  }
  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  fillRect(x, y, w, h) {
    const was = this.#path;
    this.#path = "";
    this.rect(x, y, w, h);
    this.fill();
    this.#path = was;
  }
  /** @param {number} x @param {number} y @param {number} w @param {number} h */
  strokeRect(x, y, w, h) {
    const was = this.#path;
    this.#path = "";
    this.rect(x, y, w, h);
    this.stroke();
    this.#path = was;
  }
  /** @param {string} text @param {number} x @param {number} y @param {string} look */
  #text(text, x, y, look) {
    const { font, textAlign, textBaseline, matrix: m } = this.#now;
    const turned = m.b || m.c ? ` transform="matrix(${[m.a, m.b, m.c, m.d, m.e, m.f].map(px).join(" ")})"` : "";
    const at = turned ? { x, y } : m.transformPoint({ x, y });
    this.#put("text", `x="${px(at.x)}" y="${px(at.y)}" ${look} ${fontOf(font)} text-anchor="${ANCHORS[textAlign] ?? "start"}" dominant-baseline="${BASELINES[textBaseline] ?? "auto"}"${turned}`, escaped(String(text)));
  }
  /** @param {string} text @param {number} x @param {number} y */
  fillText(text, x, y) {
    this.#text(text, x, y, `fill="${escaped(String(this.#now.fillStyle))}"`);
  }
  /** @param {string} text @param {number} x @param {number} y */
  strokeText(text, x, y) {
    this.#text(text, x, y, this.#stroke);
  }

  /** Draws a chart of Chart.js with it, which keeps its lines as Path2D, which nobody can read. @param {any} chart */
  draw(chart) {
    const drawers = [chart, ...Object.values(chart.scales)];
    const metas = chart.getSortedVisibleDatasetMetas();
    const lines = metas.flatMap((/** @type {any} */ m) => (m.dataset ? [m.dataset] : []));
    const forget = () => lines.forEach((/** @type {any} */ l) => (l._path = undefined));
    const [was, path2d] = [chart.ctx, globalThis.Path2D];
    for (const d of drawers) d.ctx = this;
    for (const m of metas) m.controller._ctx = this;
    globalThis.Path2D = /** @type {any} */ (SvgPen);
    forget();
    try {
      chart.draw();
    } finally {
      for (const d of drawers) d.ctx = was;
      for (const m of metas) m.controller._ctx = was;
      globalThis.Path2D = path2d;
      forget();
    }
  }

  /** The file. @param {number} width @param {number} height @param {string} ground a colour @param {string} title what it shows */
  file(width, height, ground, title) {
    const defs = this.#defs.length ? `<defs>${this.#defs.join("")}</defs>` : "";
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${px(width)}" height="${px(height)}" viewBox="0 0 ${px(width)} ${px(height)}" role="img"><title>${escaped(title)}</title>${defs}<rect width="100%" height="100%" fill="${escaped(ground)}"/>${this.#out.join("\n")}</svg>\n`;
  }
}
