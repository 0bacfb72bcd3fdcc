// js/view/tears.js -- all graphs of a mode as one picture, torn where it breaks: each as its kernels, between them
// the breaks and the functions that run in eager, and over the tears the values that live across.

import { add, button, h, painted, say, svg } from "./dom.js";
import { chartFiles, ofElement } from "./chart_files.js";
import { pieceList } from "./cuts.js";
import { viewUrl } from "./joined.js";
import { pick } from "./pick.js";
import { go } from "./router.js";
import { arrowHead, boxShape, edgeLabel, rowText } from "./shapes.js";
import { Stage } from "./stage.js";
import { ApiError, postGroups, postLayout } from "../api/client.js";
import { fileStem } from "../model/commands.js";
import { list, plural } from "../model/format.js";
import { groupsBody, groupsFrom, kernelOfGroup } from "../model/groups.js";
import { labelPlaces, laidOut, layoutBody } from "../model/layout.js";
import { pictureOf, steps } from "../model/picture.js";
import { placeOf, placeText } from "../model/places.js";
import { stripOf } from "../model/strip.js";
import { acrossOf, namePlaces, stack } from "../model/tears.js";
import { isInPieces, wholeSteps } from "../model/whole.js";

/** @typedef {import("../model/strip.js").Piece} Piece */
/** @typedef {import("../model/layout.js").Rect} Rect */
/** @typedef {import("../api/types.js").Graph} Graph */
/** @typedef {{run: import("../api/types.js").Run, mode: string, m: import("../api/types.js").ModeReport, said: import("../api/report.js").ReportFindingsMode | undefined, signal: AbortSignal}} Of */
/** @typedef {{graph: Graph, picture: import("../model/picture.js").Picture, boxes: readonly import("../model/picture.js").PictureBox[],
 *   outputs: readonly string[], laid: import("../model/layout.js").Laid}} Shown */

const MOST = 60; // pieces
const MOST_TOLD = 12; // values across, as a list
const HIGH = 180; // of a graph, before it goes on to the right
const TALLEST = 720; // of the window, pixels
const WHOLE = 0.9; // scale from which most names have room
const AFAR = 0.35; // scale below which none has
const MARGIN = 0.3; // of the window, drawn beyond it

/** @param {Of} of @param {HTMLElement} place resolves when all of it is there */
export async function tears(of, place) {
  const pieces = stripOf(of.m, of.said);
  const shown = pieces.slice(0, MOST);
  const strip = h("div", { class: "cutrow torn", role: "group", "aria-label": "Pieces in order" }, pieceList(of.run, pieces, true));
  const well = h("div", { class: "well graphwell tornwell", "aria-busy": "true" });
  add(place, strip, well);
  /** @type {Map<number, Shown>} */
  const graphs = new Map();
  for (const p of shown) {
    const g = p.kind === "graph" ? of.m.graphs.find((x, i) => (x.id ?? i) === p.id) : undefined;
    if (!g) continue;
    await painted();
    if (of.signal.aborted) return;
    try {
      graphs.set(Number(g.id ?? 0), await laidGraph(of, g));
    } catch (e) {
      if (of.signal.aborted) return;
      if (!(e instanceof ApiError)) throw e;
      add(place, h("p", { class: "small sub" }, `Graph ${g.id} could not be laid out: ${e.message}`));
    }
  }
  if (of.signal.aborted) return;
  well.removeAttribute("aria-busy");
  const picture = new TornPicture(of, shown, graphs);
  add(well, picture.stage.el);
  const acts = h("div", { class: "acts" }, button("Fit", () => picture.stage.fit()), chartFiles(`${fileStem(of.run.name)}_${of.run.id}_graphs_${of.mode}`, picture.stage.how.label, ofElement(() => picture.stage.el)));
  const more = pieces.length > MOST ? `and ${pieces.length - MOST} more pieces` : "";
  add(place, h("div", { class: "bar" }, h("p", { class: "small sub" }, [picture.across.length ? "" : "No value of a graph lives across a tear.", more].filter(Boolean).join(" ")), acts));
  if (picture.across.length) add(place, toldOf(picture.across));
}

/** @param {readonly import("../model/tears.js").Across[]} across */
function toldOf(across) {
  const items = across.slice(0, MOST_TOLD).map((a) => h("li", {}, a.title));
  const more = across.length > MOST_TOLD ? h("p", { class: "small dim" }, `and ${across.length - MOST_TOLD} more`) : null;
  return h("section", { class: "part", "aria-label": "Values that live across" }, h("h3", {}, "Values that live across"), h("ul", { class: "lines", id: "across" }, items), more);
}

/** A graph as its kernels. @param {Of} of @param {Graph} graph @returns {Promise<Shown>} */
async function laidGraph({ signal }, graph) {
  const drawn = /** @type {import("../model/picture.js").Drawn} */ ((isInPieces(graph) ? wholeSteps(graph) : steps(graph, 0)).at(-1));
  const groups = groupsFrom(drawn, await postGroups(groupsBody(drawn), signal), "kernels");
  const picture = pictureOf(drawn, graph, new Set(), null, groups);
  const laid = laidOut(picture, await postLayout(layoutBody(picture, () => "", HIGH), signal));
  return { graph, picture, boxes: picture.boxes, outputs: drawn.outputs, laid };
}

/** What a piece is, in words. @param {Of} of @param {Piece} p */
function textOf({ said }, p) {
  if (p.kind === "graph") return [`graph ${p.id}`, plural(p.ops, "op"), p.time, p.entries > 1 ? `${p.entries} cache entries` : ""].filter(Boolean).join(" \u00b7 ");
  if (p.kind === "eager") return `${p.name} runs in eager: lines ${list(p.places.map((x) => String(x.line)))}`;
  const cost = said?.distinct?.[p.row];
  return [`${placeText(p)}${p.from ? `, from ${p.from}` : ""}`, p.kind === "fallback" ? `${p.reason}: no lowering` : p.reason, cost?.cost && !cost.cost_open ? `${cost.cost.text} \u00b5s` : ""].filter(Boolean).join(" \u00b7 ");
}

/** Where it leads. @param {Of} of @param {Piece} p */
function urlOf({ run }, p) {
  if (p.kind === "graph") return viewUrl(run, "graphs", { graph: String(p.id) });
  if (p.kind === "eager") return viewUrl(run, "source", p.places[0]);
  return p.row >= 0 ? viewUrl(run, "breaks", { ...placeOf(p), brk: String(p.row + 1) }) : "";
}

class TornPicture {
  /** Of what can be stepped through: "row 3", or a graph and a box of it. */
  on = "";
  /** For which scale names are placed. */
  placed = 0;
  /** @type {Map<import("../model/tears.js").Route, [number, number]>} */
  names = new Map();
  /** Of edges within graphs, by graph. @type {Map<number, Map<string, [number, number]>>} */
  labels = new Map();

  /** @param {Of} of @param {readonly Piece[]} pieces @param {ReadonlyMap<number, Shown>} graphs */
  constructor(of, pieces, graphs) {
    this.of = of;
    this.pieces = pieces;
    this.graphs = graphs;
    this.across = acrossOf([...graphs.values()]);
    const rowOf = (/** @type {Piece} */ p) => {
      const g = p.kind === "graph" ? graphs.get(Number(p.id)) : undefined;
      return { text: textOf(of, p), graph: g ? { id: Number(g.graph.id ?? 0), laid: g.laid } : null };
    };
    this.rows = pieces.map(rowOf);
    this.stack = stack(this.rows, this.across);
    /** In their order: each row, and after it the boxes of its graph. @type {{id: string, said: string, at: Rect}[]} */
    this.stops = this.rows.flatMap((row, i) => [{ id: `row ${i}`, said: row.text, at: this.stack.rows[i] }, ...this.#boxesOf(row.graph?.id)]);
    const cuts = pieces.filter((p) => p.kind === "cut").length;
    this.stage = new Stage({
      label: `All graphs in the order of their capture, torn at ${plural(cuts, "break")}, with ${plural(this.across.length, "edge")} over the tears. Left and right step through graphs, boxes and tears, Enter opens one, W, A, S and D pan, plus and minus zoom, 0 fits.`,
      signal: of.signal,
      whole: () => this.stack,
      draw: () => this.#draw(),
      begin: () => this.#begin(),
      click: (at) => this.#open(this.#at(at)),
      twice: () => {},
      point: () => {},
      keys: { ArrowRight: () => this.#go(1), ArrowLeft: () => this.#go(-1), Enter: () => this.#open(this.on) },
    });
    this.stage.el.classList.add("torn");
    this.stage.el.style.height = `${Math.min(TALLEST, this.stack.height + 32)}px`;
    add(this.stage.el, svg("defs", {}, arrowHead("tear"), arrowHead("across", 5)));
  }

  /** @param {number | undefined} id of a graph */
  #boxesOf(id) {
    const g = id === undefined ? undefined : this.graphs.get(id);
    return (g?.boxes ?? []).map((b) => {
      const takes = this.across.filter((a) => a.to[0] === id && a.to[1] === b.id).map((a) => a.title);
      return { id: `${id} ${b.id}`, said: [`${b.title}, ${b.sub}`, ...takes].join(". "), at: this.#rect(Number(id), b.id) };
    });
  }

  /** Where a box is. @param {number} id @param {string} box @returns {Rect} */
  #rect(id, box) {
    const [r, origin] = [/** @type {Shown} */ (this.graphs.get(id)).laid.boxes[box], this.stack.boxes.get(id) ?? { x: 0, y: 0 }];
    return { ...r, x: r.x + origin.x, y: r.y + origin.y };
  }

  #begin() {
    if (this.stage.whole >= WHOLE) this.stage.fit();
    else this.stage.closer(undefined);
  }

  /** @param {number} by */
  #go(by) {
    const { stops } = this;
    const now = stops.findIndex((s) => s.id === this.on);
    const to = stops[(now + (now < 0 && by < 0 ? 0 : by) + stops.length) % stops.length];
    if (!to) return;
    this.on = to.id;
    this.stage.show(to.at, AFAR * 2);
    say(`${to.said}.`);
  }

  /** What is there: a box, else the row. @param {import("./stage.js").Point} at */
  #at({ x, y }) {
    const inside = (/** @type {Rect} */ r) => x >= r.x && x <= r.x + r.w && y >= r.y && y <= r.y + r.h;
    return this.stops.findLast((s) => inside(s.at))?.id ?? "";
  }

  /** To the graph with what was chosen, or to the break. @param {string} id */
  #open(id) {
    const [first, ...rest] = id.split(" ");
    if (first === "row") {
      const p = this.pieces[Number(rest[0])];
      if (p.kind === "graph") pick({ graph: String(p.id) });
      else if (urlOf(this.of, p)) go(urlOf(this.of, p));
      return;
    }
    const box = this.graphs.get(Number(first))?.boxes.find((b) => b.id === rest.join(" "));
    if (box) pick({ graph: first, node: box.nodes[0].id, kernel: kernelOfGroup(box.id) ?? "", ...placeOf(box.nodes.find((n) => n.line)) });
  }

  /** Where labels are at this scale: those of graphs first, names of what lives across where there is still room. @param {number} times */
  #place(times) {
    /** @type {Rect[]} */
    const taken = [];
    for (const [id, g] of this.graphs) {
      const origin = this.stack.boxes.get(id) ?? { x: 0, y: 0 };
      const places = labelPlaces(g.laid, Object.entries(g.picture.labels), times);
      for (const [key, [x, y]] of places) {
        const w = (g.picture.labels[key].length * 6.6 + 6) * times;
        taken.push({ x: x + origin.x - w / 2, y: y + origin.y - 7 * times, w, h: 14 * times });
      }
      this.labels.set(id, places);
    }
    this.names = namePlaces(this.stack, taken, times);
  }

  #draw() {
    const { scale } = this.stage.view;
    const afar = scale < AFAR;
    const layer = svg("g");
    const seen = this.stage.seen(MARGIN);
    if (!afar && this.placed !== Math.min(1, scale)) {
      this.placed = Math.min(1, scale);
      this.#place(1 / this.placed);
    }
    this.stack.rows.forEach((r, i) => seen(r) && add(layer, this.#rowShape(r, i)));
    for (const r of this.stack.routes) add(layer, svg("path", { class: "edge across", d: r.path, "marker-end": afar ? null : "url(#across)" }, svg("title", {}, r.at.title)));
    for (const [id, g] of this.graphs) this.#drawGraph(layer, id, g, seen, afar ? null : scale);
    if (!afar) for (const [r, at] of this.names) add(layer, edgeLabel(r.at.text, at, scale, "across"));
    return layer;
  }

  /** A band where it is torn, or the name of a graph. @param {Rect} r @param {number} i */
  #rowShape(r, i) {
    const p = this.pieces[i];
    const el = svg("g", { class: `row torn-${p.kind}${this.on === `row ${i}` ? " on" : ""}`, "data-row": i });
    if (p.kind !== "graph") add(el, svg("rect", { x: r.x, y: r.y, width: r.w, height: r.h }));
    if (p.kind === "cut") add(el, svg("path", { class: "tear", d: `M${r.x} ${r.y}h${r.w}M${r.x} ${r.y + r.h}h${r.w}` }));
    return add(el, rowText("rowname", this.rows[i].text, this.stack.texts[i], this.stage.view.scale)), el;
  }

  /** @param {SVGElement} layer @param {number} id @param {Shown} g @param {(r: Rect) => boolean} seen @param {number | null} scale null: from afar */
  #drawGraph(layer, id, g, seen, scale) {
    const origin = this.stack.boxes.get(id) ?? { x: 0, y: 0 };
    const el = svg("g", { transform: `translate(${origin.x} ${origin.y})` });
    for (const [key, path] of Object.entries(g.laid.paths)) if (key.split("\n").some((b) => seen(this.#rect(id, b)))) add(el, svg("path", { class: "edge", d: path, "marker-end": scale ? "url(#tear)" : null }));
    for (const b of g.boxes) if (seen(this.#rect(id, b.id))) add(el, boxShape(b, g.laid.boxes[b.id], scale ?? AFAR, `${this.on === `${id} ${b.id}` ? " on" : ""}`));
    if (scale) for (const [key, at] of this.labels.get(id) ?? []) add(el, edgeLabel(g.picture.labels[key], at, scale));
    add(layer, el);
  }
}
