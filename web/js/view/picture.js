// js/view/picture.js -- a graph as a picture: kernels, modules, loops and pieces that open, a slider over
// the passes, search, links.
//
// The server lays it out, as it does for an export; where that takes more than BUDGET_MS the neighbourhood of the
// picked node is shown, and why.
// Only what is in sight is drawn, and from afar boxes without their names: thousands stay fluid.

import { h, add, button, say, segmented, select, svg } from "./dom.js";
import { pngOf } from "./chart_files.js";
import { onPick, pick, picked } from "./pick.js";
import { remember } from "./router.js";
import { arrowHead, boxShape, edgeLabel, groupTitle } from "./shapes.js";
import { Stage } from "./stage.js";
import { ApiError, postGroups, postLayout } from "../api/client.js";
import { bytes, duration, plural } from "../model/format.js";
import { labelPlaces, laidOut, layoutBody, nothingLaid } from "../model/layout.js";
import { groupsBody, groupsFrom, hasModules, kernelOfGroup, noGroups, openAtFirst } from "../model/groups.js";
import { kernelOf, neighbourhood, pictureOf, short, sizeOf, steps } from "../model/picture.js";
import { keyOf, placeOf, placeText } from "../model/places.js";
import { isInPieces, wholeSteps } from "../model/whole.js";

/** @typedef {import("../model/picture.js").PictureBox} PictureBox */
/** @typedef {import("../model/picture.js").Node} Node */
/** @typedef {import("../model/layout.js").Laid} Laid */
/** @typedef {{graph: import("../api/types.js").Graph, title: string, sourceUrl: (place: import("../model/places.js").Place) => string,
 *   exportUrl: (format: string) => string, fileName: string, query: URLSearchParams, signal: AbortSignal,
 *   pointed?: (nodes: readonly Node[]) => void, drawn?: (picture: GraphPicture) => void}} Asked
 *   fileName: of a PNG of it, without ".png"; pointed: what the pointer is over; drawn: of the picture once it is there, and after each step */

const BUDGET_MS = 250;
const OPEN_UP_TO = 40; // nodes: groups of a larger graph begin closed
const NEAR = 40;
const AFAR = 0.35; // scale below which no box has room for a name
const WHOLE = 0.7; // scale from which most names have room
const EDGE = 16; // pixels around the whole
const MARGIN = 0.3; // of the window, drawn beyond it
const MOST_LABELS = 200; // of edges
const MOST_LOOKED = 300; // boxes about which a picture may begin
const NEARLY = 0.7;

export class GraphPicture {
  title = h("h4");
  words = h("p", { class: "small sub" });
  note = h("div", { class: "notice", hidden: true });
  side = h("div", { class: "graphside" });
  /** Ends when another picture is asked for. */
  asking = new AbortController();
  /** Of edges, by edge. @type {Map<string, [number, number]>} */
  places = new Map();
  /** For which scale they are. */
  placed = 0;
  /** Nodes that something beside the picture points at. @type {ReadonlySet<string>} */
  hinted = new Set();

  /** @param {Asked} asked */
  constructor(asked) {
    this.asked = asked;
    this.joined = isInPieces(asked.graph);
    /** Of the pieces; -1: all, as one graph. */
    this.part = Math.max(this.joined ? -1 : 0, this.#pieces().findIndex((p) => p.part === asked.query.get("piece")));
    this.steps = this.part < 0 ? wholeSteps(asked.graph) : steps(asked.graph, this.part);
    this.step = this.steps.length - 1;
    const wanted = Number(asked.query.get("step") ?? NaN);
    if (wanted >= 0 && wanted < this.steps.length) this.step = Math.floor(wanted);
    /** @type {"kernels" | "modules"} */
    this.by = asked.query.get("by") === "modules" && hasModules(this.drawn.nodes) ? "modules" : "kernels";
    /** @type {import("../model/groups.js").Groups} */
    this.groups = noGroups(this.by);
    /** Groups; null: what is open at first. @type {Set<string> | null} */
    this.opened = null;
    /** At first: all of them. */
    this.allOpen = false;
    /** By step: what its nodes are part of. @type {Map<number, import("../model/groups.js").GroupsAnswer>} */
    this.grouped = new Map();
    /** @type {ReadonlySet<string> | null} */
    this.only = null;
    this.picked = this.#wanted();
    /** @type {import("../model/places.js").Place} */
    this.place = { line: 0, file: "" };
    /** @type {import("../model/picture.js").Picture} */
    this.picture = { boxes: [], edges: [], labels: {}, full: {}, parents: {} };
    /** @type {Laid} */
    this.laid = nothingLaid();
    this.stage = this.#window();
    this.el = this.#build();
    this.#swap(true);
    onPick(asked.signal, () => this.#follow());
  }

  /** Which node the address picks of this graph: the one that it names, or the first of its kernel or line. */
  #wanted() {
    const { graph, node, kernel, line, file } = picked();
    const here = graph ? graph === String(this.asked.graph.id ?? 0) : this.asked.query.has("node") || line > 0;
    if (!here) return "";
    const { nodes } = this.drawn;
    const first = nodes.find((n) => (node ? n.id === node : kernel ? n.kernel === kernel : n.line === line && n.file === file && !n.gone));
    return first?.id ?? nodes.find((n) => line > 0 && n.line === line && n.file === file)?.id ?? "";
  }

  /** Something else is picked, here or on another part of the page. */
  #follow() {
    const wanted = this.#wanted();
    if (!this.#box(this.picked)?.nodes.some((n) => n.id === wanted)) this.#show(wanted ? this.#boxOf(wanted) : "");
    else this.stage.redraw();
  }

  get drawn() {
    return this.steps[this.step];
  }

  /** Of a graph that runs in pieces, those that its passes were told of. */
  #pieces() {
    return (this.asked.graph.passes ?? []).filter((p) => p.before);
  }

  /** What the nodes that are drawn are part of: asked for once for each step. @param {AbortSignal} signal */
  async #group(signal) {
    const { drawn, step, by } = this;
    const answer = this.grouped.get(step) ?? (await postGroups(groupsBody(drawn), AbortSignal.any([signal, this.asked.signal])));
    this.grouped.set(step, answer);
    return groupsFrom(drawn, answer, by);
  }

  /** Groups: none until what they are is known. @returns {Set<string>} */
  get open() {
    return this.opened ?? new Set();
  }

  /** How nodes are grouped, and which piece is drawn: what there is to choose. */
  #choices() {
    const choices = h("div", { class: "acts" });
    const pieces = this.#pieces();
    if (pieces.length > 1)
      add(choices, select([...(this.joined ? [{ value: "-1", label: "all pieces" }] : []), ...pieces.map((p, i) => ({ value: String(i), label: p.part || `piece ${i}` }))], String(this.part), { "aria-label": `Piece of ${this.asked.title}` }, (v) => {
        const piece = pieces[Number(v)]?.part ?? null;
        remember({ piece, step: null });
        if (piece === null) this.asked.query.delete("piece");
        else this.asked.query.set("piece", piece);
        this.asked.query.delete("step");
        this.el.replaceWith(new GraphPicture(this.asked).el);
      }));
    if (hasModules(this.drawn.nodes))
      add(choices, segmented(`Group the nodes of ${this.asked.title}`, { kernels: "By kernel", modules: "By module" }, this.by, (key) => {
        this.by = key === "modules" ? "modules" : "kernels";
        remember({ by: this.by === "modules" ? "modules" : null });
        this.allOpen = false;
        this.opened = null;
        this.#swap(true);
      }));
    return choices.childElementCount ? choices : null;
  }

  #window() {
    const { asked } = this;
    const stage = new Stage({
      label: `${asked.title} as a picture. Left and right step through its boxes, Enter opens and closes a kernel, module or loop, W, A, S and D pan, plus and minus zoom, 0 fits. The list of ops below holds the same.`,
      signal: asked.signal,
      whole: () => this.laid,
      draw: () => this.#draw(),
      begin: () => this.#begin(),
      click: (at) => this.#click(at),
      twice: () => this.#enter(),
      point: (at) => asked.pointed?.((at && this.#at(at).box?.nodes) ?? []),
      keys: { ArrowRight: () => this.#go(1), ArrowLeft: () => this.#go(-1), Enter: () => this.#enter() },
    });
    add(stage.el, svg("defs", {}, arrowHead(`arrow-${asked.graph.id ?? 0}`)));
    return stage;
  }

  #build() {
    const { asked } = this;
    const find = h("input", { class: "field", type: "search", placeholder: "Find an op", "aria-label": `Find an op of ${asked.title}` });
    find.addEventListener("keydown", (e) => e.key === "Enter" && this.#find(find.value));
    const link = (/** @type {string} */ text, /** @type {string} */ format) =>
      h("a", { class: "btn", href: asked.exportUrl(format), download: "" }, text);
    const acts = h("div", { class: "acts" }, find,
      button("Open all", () => this.#openAll(true)), button("Close all", () => this.#openAll(false)),
      button("Fit", () => this.stage.fit()), pngOf(asked.fileName, asked.exportUrl("svg")), link("SVG", "svg"), link("DOT", "dot"));
    const keys = [["kernel", "fused kernel"], ["library", "library call"], ...(hasModules(this.drawn.nodes) ? [["module", "module"]] : []), ...(this.drawn.loops?.size ? [["loop", "loop on a tensor"]] : []), ["gone", "removed by this pass"]].map(([cls, text]) =>
      h("span", { class: "key" }, h("i", { class: `g-${cls}`, "aria-hidden": "true" }), text));
    const well = h("div", { class: "well graphwell" }, this.stage.el);
    const left = h("div", {}, well, h("div", { class: "bar" }, h("div", { class: "legend" }, keys), acts));
    const head = h("div", { class: "graphhead" }, h("div", {}, this.title, this.words), this.#slider(), this.#choices());
    return h("div", { class: "part picture" }, head, this.note, h("div", { class: "graphwrap" }, left, this.side));
  }

  /** Before and after each pass that changed the graph. */
  #slider() {
    if (this.steps.length < 2) return null;
    const input = h("input", { type: "range", min: 0, max: this.steps.length - 1, step: 1, value: this.step, "aria-label": `Passes over ${this.asked.title}` });
    const names = this.steps.map((s) => h("span", {}, s.title.replace(/^A\S+ /, "")));
    const told = () => {
      input.setAttribute("aria-valuetext", this.drawn.title);
      names.forEach((n, i) => n.classList.toggle("on", i === this.step));
    };
    input.addEventListener("input", () => {
      this.step = Number(input.value);
      told();
      remember({ step: String(this.step) });
      this.#swap(true);
    });
    told();
    return h("div", { class: "slider" }, input, h("div", { class: "ticks", "aria-hidden": "true" }, names));
  }

  /** The graph after another pass, or other kernels open. @param {boolean} whole */
  #swap(whole) {
    if (whole) this.only = null;
    this.title.textContent = this.drawn.title;
    this.asking.abort();
    this.asking = new AbortController();
    this.stage.el.setAttribute("aria-busy", "true"); // until what is wanted is drawn
    return this.#ask(this.only, this.asking.signal);
  }

  /** How much there is of what is drawn. */
  #count() {
    const { nodes, kernels } = this.drawn;
    const of = (/** @type {import("../model/groups.js").Kind} */ kind) => [...this.groups.all.values()].filter((g) => g.kind === kind).length;
    const gone = nodes.filter((n) => n.gone).length;
    const left = this.asked.graph.passes?.some((p) => p.left_out_bytes) ? "what the passes made of it is in part left out: over the limits of a report" : "";
    this.words.textContent = [plural(nodes.length - gone, "node"), kernels.length ? plural(kernels.length, "kernel") : "", this.by === "modules" ? `${plural(of("module"), "call")} of modules` : "", of("loop") ? plural(of("loop"), "loop") : "", gone ? `${gone} removed` : "", left].filter(Boolean).join(", ");
  }

  /** Has what is wanted grouped and laid out; until that has come, what was there stays. @param {ReadonlySet<string> | null} only @param {AbortSignal} signal */
  async #ask(only, signal) {
    try {
      const groups = await this.#group(signal);
      if (signal.aborted) return;
      this.groups = groups;
      this.opened ??= openAtFirst(groups, this.allOpen || this.drawn.nodes.length <= OPEN_UP_TO);
      this.#count();
      await this.#lay(only, signal);
    } catch (e) {
      if (signal.aborted || this.asked.signal.aborted) return;
      if (!(e instanceof ApiError)) throw e;
      this.#tell(`The picture could not be laid out: ${e.message}`);
    } finally {
      if (!signal.aborted) this.stage.el.removeAttribute("aria-busy");
    }
  }

  /** @param {ReadonlySet<string> | null} only @param {AbortSignal} signal */
  async #lay(only, signal) {
    const wanted = pictureOf(this.drawn, this.asked.graph, this.open, only, this.groups);
    const waiting = new AbortController();
    const late = only ? 0 : setTimeout(() => this.#near(wanted.boxes.length, AbortSignal.any([signal, waiting.signal])), BUDGET_MS);
    try {
      const laid = await this.#laid(wanted, signal);
      if (signal.aborted) return;
      this.#place(wanted, only, laid);
      this.stage.draw();
    } finally {
      clearTimeout(late);
      waiting.abort();
    }
  }

  /** @param {import("../model/picture.js").Picture} p @param {AbortSignal} signal */
  async #laid(p, signal) {
    await null; // the window has its size once it is in the page
    const title = (/** @type {string} */ id) => this.groups.all.get(id)?.title ?? "";
    return laidOut(p, await postLayout(layoutBody(p, title, this.stage.size.h - 2 * EDGE), AbortSignal.any([signal, this.asked.signal])));
  }

  /** @param {string} text */
  #tell(text) {
    this.note.replaceChildren(h("p", {}, text));
    this.note.hidden = false;
  }

  /** Over budget: what is about the picked node, until the whole is there. @param {number} many boxes of the whole @param {AbortSignal} signal */
  async #near(many, signal) {
    const node = this.drawn.nodes.find((n) => n.id === this.picked) ?? this.drawn.nodes.find((n) => n.op !== "input");
    const only = neighbourhood(this.drawn, node?.id ?? "", NEAR);
    const near = pictureOf(this.drawn, this.asked.graph, this.open, only, this.groups);
    const laid = await this.#laid(near, signal).catch(() => null); // the whole says what is wrong
    if (!laid || signal.aborted) return;
    this.#place(near, only, laid);
    this.#tell(`${plural(only.size, "node")} about ${node?.id}: ${many} boxes were not laid out within ${BUDGET_MS} ms; all are shown once they are.`);
  }

  /** @param {import("../model/picture.js").Picture} picture @param {ReadonlySet<string> | null} only @param {Laid} laid */
  #place(picture, only, laid) {
    [this.picture, this.only, this.laid] = [picture, only, laid];
    this.#label();
    if (!this.only) this.note.hidden = true;
    if (!this.#box(this.picked)) this.picked = this.drawn.nodes.some((n) => n.id === this.picked) ? this.#boxOf(this.picked) : "";
    this.#facts();
    this.#begin();
    this.asked.drawn?.(this);
  }

  /** Marks nodes that belong to what is pointed at elsewhere. @param {ReadonlySet<string>} nodes */
  hint(nodes) {
    if (nodes.size === 0 && this.hinted.size === 0) return;
    this.hinted = nodes;
    if (this.stage.view.scale < AFAR) return this.stage.redraw();
    for (const el of /** @type {NodeListOf<SVGGElement>} */ (this.stage.layer.querySelectorAll("g.box"))) el.classList.toggle("hint", this.#isHinted(this.#box(el.dataset.node ?? "")));
  }

  /** Whether something of it comes from the picked line. @param {PictureBox} b */
  #isJoined(b) {
    const { line, file } = this.place;
    return line > 0 && b.nodes.some((n) => n.line === line && n.file === file);
  }

  /** @param {PictureBox | undefined} b */
  #isHinted(b) {
    return this.hinted.size > 0 && !!b?.nodes.some((n) => this.hinted.has(n.id));
  }

  /** The whole; where many names would be cut, the picked box, or the first op. */
  #begin() {
    if (this.stage.whole >= WHOLE) this.stage.fit();
    else this.stage.closer(this.laid.boxes[this.picked] ?? this.#full());
  }

  /** The first box about which the window is nearly as full of boxes as it can be: some stand far from all others. */
  #full() {
    const { w, h: high } = this.stage.size;
    const rects = Object.values(this.laid.boxes);
    const of = this.picture.boxes.filter((b) => b.kind !== "input").slice(0, MOST_LOOKED).map((b) => this.laid.boxes[b.id]);
    const near = of.map((r) => rects.filter((x) => Math.abs(x.x + x.w / 2 - r.x - r.w / 2) < w / 2 && Math.abs(x.y + x.h / 2 - r.y - r.h / 2) < high / 2).length);
    const most = Math.max(...near);
    return of[near.findIndex((n) => n >= NEARLY * most)] ?? rects[0];
  }

  /** @param {string} id */
  #box(id) {
    return this.picture.boxes.find((b) => b.id === id);
  }

  /** The box that a node is in. @param {string} node */
  #boxOf(node) {
    return this.picture.boxes.find((b) => b.nodes.some((n) => n.id === node))?.id ?? "";
  }

  /** What is in sight. */
  #draw() {
    const { laid, picture } = this;
    const { scale } = this.stage.view;
    this.place = picked();
    const seen = this.stage.seen(MARGIN);
    const layer = svg("g");
    const groups = Object.entries(laid.groups).filter(([, r]) => seen(r));
    add(layer, groups.map(([k, r]) => this.#groupShape(k, r)));
    const afar = scale < AFAR;
    if (!afar && this.placed !== Math.min(1, scale)) this.#label();
    const lines = picture.edges.filter(([a, b]) => seen(laid.boxes[a]) || seen(laid.boxes[b]));
    add(layer, afar ? svg("path", { class: "edge", d: lines.map((e) => laid.paths[e.join("\n")]).join("") }) : null);
    const edges = afar ? [] : lines.map((e) => this.#edge(e));
    add(layer, edges.map(([path]) => path));
    add(layer, groups.map(([k, r]) => this.#groupTitle(k, r))); // no edge over it
    const boxes = picture.boxes.filter((b) => seen(laid.boxes[b.id]));
    if (afar) {
      for (const kind of ["op", "input", "kernel", "library", "module", "loop", "gone"])
        add(layer, svg("path", { class: `box g-${kind}`, d: boxes.filter((b) => b.kind === kind).map((b) => outline(laid.boxes[b.id])).join("") }));
      const joined = boxes.filter((b) => this.#isJoined(b));
      add(layer, svg("path", { class: "box joined", d: joined.map((b) => outline(laid.boxes[b.id])).join("") }));
      const hinted = boxes.filter((b) => this.#isHinted(b));
      if (hinted.length) add(layer, svg("path", { class: "box joined", d: hinted.map((b) => outline(laid.boxes[b.id])).join("") }));
      const on = laid.boxes[this.picked];
      if (on) add(layer, svg("path", { class: "box on", d: outline(on) }));
    } else for (const b of boxes) add(layer, this.#boxShape(b));
    add(layer, edges.map(([, label]) => label));
    return layer;
  }

  /** @param {string} k @param {import("../model/layout.js").Rect} r */
  #groupShape(k, r) {
    const { kind = "kernel" } = this.groups.all.get(k) ?? {};
    const form = kind === "kernel" && this.#kernel(kernelOfGroup(k))?.form === "library" ? "library" : kind;
    return svg("g", { class: `open g-${form}`, "data-node": `open ${k}` }, svg("rect", { x: r.x, y: r.y, width: r.w, height: r.h, rx: 3 }));
  }

  /** @param {string} k @param {import("../model/layout.js").Rect} r */
  #groupTitle(k, r) {
    const { kind = "kernel", title = "" } = this.groups.all.get(k) ?? {};
    const us = kind === "kernel" ? this.#kernel(kernelOfGroup(k))?.median_us : 0;
    return groupTitle(title, us ? duration(us) : "", r, this.stage.view.scale);
  }

  /** @param {PictureBox} b */
  #boxShape(b) {
    return boxShape(b, this.laid.boxes[b.id], this.stage.view.scale, `${this.#isJoined(b) ? " joined" : ""}${b.id === this.picked ? " on" : ""}${this.#isHinted(b) ? " hint" : ""}`);
  }

  /** Where edges say what they carry; those of the picked box, which say all that is known, first. */
  #label() {
    const near = (/** @type {string} */ key) => key.split("\n").includes(this.picked);
    const { full, labels } = this.picture;
    const few = this.picture.edges.length <= MOST_LABELS; // of many, only those of the picked box
    const keys = Object.keys(full).filter((key) => near(key) || (few && labels[key])).sort((a, b) => Number(near(b)) - Number(near(a)));
    this.placed = Math.min(1, this.stage.view.scale);
    this.places = labelPlaces(this.laid, keys.map((key) => [key, near(key) ? full[key] : labels[key]]), 1 / this.placed);
  }

  /** An edge, and what it carries. @param {[string, string]} e */
  #edge(e) {
    const near = e.includes(this.picked);
    const key = e.join("\n");
    const path = svg("path", { class: near ? "edge on" : "edge", d: this.laid.paths[key], "marker-end": `url(#arrow-${this.asked.graph.id ?? 0})` });
    if (this.picture.full[key]) add(path, svg("title", {}, this.picture.full[key]));
    const place = this.places.get(key);
    if (!place) return [path];
    return [path, edgeLabel(near ? this.picture.full[key] : this.picture.labels[key], place, this.stage.view.scale, near ? "on" : "")];
  }

  /** @param {string | null} k its number */
  #kernel(k) {
    return kernelOf(this.asked.graph, this.drawn, k);
  }

  /** @param {string} id of a box */
  pick(id) {
    const box = this.#box(id);
    this.picked = box ? id : "";
    const first = box?.nodes[0];
    const kernel = kernelOfGroup(box?.id ?? null) ?? "";
    pick(first ? { graph: String(this.asked.graph.id ?? 0), node: first.id, kernel, ...placeOf(box?.nodes.find((n) => n.line)) } : {});
    this.#show(id);
    if (box) say(`${box.title}, ${box.sub}.`);
  }

  /** @param {string} id of a box that is to be in sight, with its facts */
  #show(id) {
    this.picked = this.#box(id) ? id : "";
    this.#facts();
    this.#label();
    const r = this.laid.boxes[id];
    if (r) this.stage.show(r, AFAR * 2);
    else this.stage.redraw();
  }

  /** The group that a box stands for, else the innermost around it; null: none. @param {PictureBox | undefined} box */
  #groupOf(box) {
    return box ? (this.groups.all.has(box.id) ? box.id : box.group) : null;
  }

  /** @param {string} k group @param {boolean} [on] */
  #toggle(k, on = !this.open.has(k)) {
    const first = this.drawn.nodes.find((n) => this.groups.chains.get(n.id)?.includes(k));
    if (on) this.open.add(k);
    else this.open.delete(k);
    this.picked = on ? (first?.id ?? "") : k;
    this.#swap(false);
  }

  /** @param {boolean} on */
  #openAll(on) {
    this.allOpen = on;
    this.opened = on ? null : new Set();
    this.#swap(true);
  }

  /** The next node after the picked one whose name or op has the text. @param {string} text */
  async #find(text) {
    const wanted = text.trim().toLowerCase();
    const { nodes } = this.drawn;
    if (!wanted || !nodes.length) return;
    const at = nodes.findIndex((n) => n.id === this.#box(this.picked)?.nodes[0].id);
    const found = [...nodes.slice(at + 1), ...nodes.slice(0, at + 1)].find((n) => n.op.includes(wanted) || n.id.toLowerCase().includes(wanted));
    if (!found) return say(`No op is called ${text}.`);
    if (!this.#boxOf(found.id)) {
      this.only = neighbourhood(this.drawn, found.id, NEAR);
      await this.#swap(false);
    }
    this.pick(this.#boxOf(found.id));
  }

  #facts() {
    const box = this.#box(this.picked);
    if (!box) return this.side.replaceChildren(h("h4", {}, "Nothing is picked"), h("p", { class: "small sub" }, "Click a box, or step through them with the arrow keys."));
    const n = box.nodes[0];
    const closed = this.groups.all.has(box.id);
    const group = this.#groupOf(box);
    const kind = this.groups.all.get(group ?? "")?.kind ?? "kernel";
    const k = n.kernel;
    const kernel = k === null || (closed && kind !== "kernel") ? undefined : this.#kernel(k);
    const places = [...new Map(box.nodes.filter((x) => x.line > 0).map((x) => [keyOf(x), x])).values()];
    const links = places.slice(0, 8).flatMap((x, i) => [i ? ", " : "", h("a", { href: this.asked.sourceUrl(placeOf(x)) }, i && places[i - 1].file === x.file ? String(x.line) : placeText(x))]);
    const list = h("dl", { class: "kv" });
    const fact = (/** @type {string} */ name, /** @type {(import("./dom.js").Child)[]} */ ...value) => add(list, h("dt", {}, name), h("dd", {}, value));
    if (!closed) {
      const size = sizeOf(n.dtype, n.shape);
      fact("Result", h("span", { class: "mono" }, `${n.dtype} ${short(n.shape)}`));
      fact("Bytes", size === null ? "depends on the call" : bytes(size));
      const of = new Map(this.drawn.nodes.map((x) => [x.id, x]));
      const reads = n.reads.map((id) => of.get(id)).map((x, i) => (x ? `${x.id} ${x.dtype} ${short(x.shape)}` : n.reads[i]));
      fact("Reads", reads.join(", ") || "nothing");
      if (n.test) fact("Needed by", "the test of the loop alone");
      if (n.next) fact("Next round", h("span", { class: "mono" }, n.next));
    } else fact("Ops", box.nodes.map((x) => x.op).slice(0, 12).join(", ") + (box.nodes.length > 12 ? ` and ${box.nodes.length - 12} more` : ""));
    if (links.length) fact("Source", ...links);
    if (n.module && !closed) fact("Module", h("span", { class: "mono" }, n.module.replaceAll("/", " / ").replaceAll(":", " ")));
    if (kernel) {
      if (kernel.median_us) fact("Time", duration(kernel.median_us));
      fact("Read", bytes(kernel.read_bytes));
      fact("Written", bytes(kernel.written_bytes));
    }
    this.side.replaceChildren(h("h4", {}, closed ? (kind === "kernel" ? `Kernel ${k}` : box.title) : n.id), kernel ? h("p", { class: "small mono" }, kernel.name) : "", list);
    if (kernel?.why && this.by === "kernels") add(this.side, h("p", { class: "small sub" }, `Why it is a kernel of its own: ${kernel.why}.`));
    if (group !== null) add(this.side, button(`${this.open.has(group) ? "Close" : "Open"} ${kind}`, () => this.#toggle(group)));
  }

  /** The next box, or the one before it. @param {number} by */
  #go(by) {
    const { boxes } = this.picture;
    const at = boxes.findIndex((b) => b.id === this.picked);
    const to = (at + (at < 0 && by < 0 ? 0 : by) + boxes.length) % boxes.length;
    this.pick(boxes[to]?.id ?? "");
  }

  /** Opens or closes what the picked box is in. */
  #enter() {
    const group = this.#groupOf(this.#box(this.picked));
    if (group !== null) this.#toggle(group);
  }

  /** The box there, and the innermost group. @param {import("./stage.js").Point} at */
  #at({ x, y }) {
    const inside = (/** @type {import("../model/layout.js").Rect} */ r) => r && x >= r.x && x <= r.x + r.w && y >= r.y && y <= r.y + r.h;
    return { box: this.picture.boxes.find((b) => inside(this.laid.boxes[b.id])), group: Object.entries(this.laid.groups).findLast(([, r]) => inside(r)) };
  }

  /** @param {import("./stage.js").Point} at */
  #click(at) {
    const { box, group } = this.#at(at);
    if (box) this.pick(box.id);
    else if (group) this.pick(this.#boxOf(this.drawn.nodes.find((n) => this.groups.chains.get(n.id)?.includes(group[0]))?.id ?? ""));
    else this.pick("");
  }
}

/** @param {import("../model/layout.js").Rect} r */
const outline = (r) => `M${r.x} ${r.y}h${r.w}v${r.h}h${-r.w}z`;
