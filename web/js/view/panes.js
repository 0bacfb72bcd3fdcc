// js/view/panes.js -- a graph in three panes: its source, its picture, its generated code.
//
// What is pointed at or picked in one is marked in the others.  A narrow page shows one of them.

import { add, button, copyButton, h, painted, segmented } from "./dom.js";
import { codeWell, keepInSight, showLine } from "./code.js";
import { GraphPicture } from "./picture.js";
import { onPick, pick, picked } from "./pick.js";
import { remember } from "./router.js";
import { fileChoice, filesOf, firstFile } from "./file_choice.js";
import { breakRows, eagerFrames, lineMarks } from "../model/breaks.js";
import { codeParts } from "../model/kernels.js";
import { nothing, ofKernel, ofNodes, ofPlace, textOf, tileParts } from "../model/panes.js";
import { keyOf, placeKey, placeOf, placesOf, placeText } from "../model/places.js";

/** @typedef {import("../model/panes.js").Together} Together */
/**
 * @typedef {import("./picture.js").Asked & {run: import("../api/types.js").Run, source: string,
 *   said: import("../api/report.js").ReportFindingsMode | undefined, mode: import("../api/types.js").ModeReport}} Asked
 */

const PANES = { all: "Side by side", source: "Source", graph: "Graph", code: "Code" };
const FEW_LINES = 300; // of a text, at first
const MOST_ELSEWHERE = 3;
const BY_KEYS = "; step with the arrow keys";

export class GraphPanes {
  source = h("div", { class: "pane" });
  code = h("div", { class: "pane" });
  el = h("div", { class: "panes" });
  /** @type {GraphPicture | null} */
  picture = null;
  /** Of the generated code, the line that was chosen. */
  line = 0;
  step = -1;
  /** Texts that are shown whole, by the names of their panes. @type {Set<string>} */
  whole = new Set();
  /** Where else than in the file that is shown what is pointed at comes from. */
  elsewhere = h("p", { class: "small sub elsewhere", "aria-live": "off" });

  /** @param {Asked} asked */
  constructor(asked) {
    this.asked = asked;
    this.files = filesOf(asked.run);
    this.file = this.files ? firstFile(asked.run, this.files, [picked().file, ...this.#own()]) : "";
    this.parts = codeParts(asked.graph);
    const last = String(asked.query.get("code") ?? "code");
    /** @type {string} a key of #ways(): what the pane of code shows */
    this.stage = last in this.#ways() ? last : Object.keys(this.#ways())[0];
    const drawn = new GraphPicture({ ...asked, pointed: (nodes) => this.#hint(this.#drawn() ? ofNodes(asked.graph, this.#drawn(), nodes) : nothing()), drawn: (p) => this.#seen(p) });
    this.picture = drawn;
    const wanted = String(asked.query.get("pane"));
    const shown = wanted in PANES ? wanted : matchMedia("(max-width: 900px)").matches ? "graph" : "all";
    this.choice = segmented("Panes", PANES, shown, (key) => {
      this.el.dataset.pane = key;
      remember({ pane: key === "all" ? null : key });
    });
    this.choice.classList.add("panechoice");
    this.el.dataset.pane = shown;
    add(this.el, this.source, h("div", { class: "pane" }, drawn.el), this.code);
    onPick(asked.signal, (now) => {
      this.#goTo(now.file);
      this.#pick();
    });
  }

  /** The files that the graph comes from, in the order of its nodes. */
  #own() {
    return [...new Set((this.asked.graph.nodes ?? []).flatMap((n) => (n.line && n.file ? [n.file] : [])))];
  }

  /** Another file of the program. @param {string} file */
  #goTo(file) {
    if (!this.files || file === this.file || !(file in this.files)) return;
    this.file = file;
    this.#fillSource();
  }

  /** The wells of text, once the picture is painted. */
  async fill() {
    await painted();
    if (this.asked.signal.aborted) return;
    this.#fillSource();
    await painted();
    if (this.asked.signal.aborted) return;
    this.#fillCode();
    this.#pick();
  }

  #drawn() {
    return /** @type {import("../model/picture.js").Drawn} */ (this.picture?.drawn);
  }

  /** The picture is there, at this step. @param {GraphPicture} p */
  #seen(p) {
    const again = this.picture !== p || this.step !== p.step;
    [this.picture, this.step] = [p, p.step];
    if (!again || !this.code.childElementCount) return;
    if (this.stage === "text") this.#fillCode();
    this.#pick();
  }

  /** @returns {void} */
  #fillSource() {
    const { graph, mode, said } = this.asked;
    const { file } = this;
    const source = this.files ? this.files[file] : this.asked.source;
    const head = h("div", { class: "panehead" }, h("h4", {}, "Source"));
    if (source === undefined || (!source && !this.files)) return this.source.replaceChildren(head, h("p", { class: "small sub" }, "It was left out of the file that the run came from."));
    const choose = this.files ? fileChoice(this.files, file, this.#own(), "of this graph", (path) => {
      this.#goTo(path);
      this.#pick();
      this.source.querySelector("select")?.focus();
    }) : null;
    if (choose) add(head, h("div", { class: "acts" }, choose));
    const marks = lineMarks(breakRows(mode, said), eagerFrames(mode, said), file);
    const few = this.#few(`source ${file}`, source.split("\n").length, picked().file === file ? picked().line : 0);
    const well = codeWell(source, `Source of the graph${file ? `, ${file}` : ""}${BY_KEYS}`, { only: few.only, marks: new Map([...marks].map(([n, m]) => [n, { ...m, cost: undefined }])), pick: (line) => pick({ line, file }) });
    this.#listen(well, (li) => ofPlace(graph, this.#drawn(), { line: Number(li.id.slice(1)), file }));
    return this.source.replaceChildren(head, well, ...(choose ? [this.elsewhere] : []), ...few.more(() => this.#fillSource()));
  }

  /** Of a long text the first lines, unless the one that is picked is further down, and a button for all.
   * @param {string} name @param {number} many @param {number} [line] */
  #few(name, many, line = 0) {
    if (many <= FEW_LINES * 1.5 || line > FEW_LINES) this.whole.add(name);
    const whole = this.whole.has(name);
    const more = (/** @type {() => void} */ fill) => (whole ? [] : [h("div", { class: "acts" }, button(`Show all ${many} lines`, () => {
      this.whole.add(name);
      fill();
      this.#pick();
    }))]);
    return { only: (/** @type {number} */ n) => whole || n <= FEW_LINES, more };
  }

  #fillCode() {
    const { graph, title } = this.asked;
    const acts = h("div", { class: "acts" });
    const head = h("div", { class: "panehead" }, h("h4", {}, this.stage === "text" ? this.#drawn().title : this.#ways()[this.stage]), acts);
    const ways = this.#ways();
    if (Object.keys(ways).length > 1) add(acts, segmented(`Code of ${title}`, ways, this.stage, (key) => {
      this.stage = key;
      remember({ code: key === Object.keys(ways)[0] ? null : key });
      this.#fillCode();
      this.#pick();
    }));
    const tiles = this.stage === "tiles";
    const text = this.stage === "text" ? textOf(this.#drawn()) : ((tiles ? graph.tile_program : graph.lowered) ?? "");
    const parts = tiles ? tileParts(text) : this.parts;
    add(acts, copyButton(() => text, `Copy the code of ${title}`));
    const shown = this.stage === "text" ? this.#drawn().nodes.length : parts.reduce((n, p) => n + p.to - p.from + 1, 0);
    const few = this.#few(this.stage, shown);
    this.code.replaceChildren(head, this.stage === "text" ? this.#graphText(text, few.only) : this.#generated(text, parts, few.only), ...few.more(() => this.#fillCode()));
  }

  /** What is made of the graph, the last step first. @returns {Record<string, string>} */
  #ways() {
    const { lowered, tile_program: tiles } = this.asked.graph;
    const language = lowered?.includes("__global__") ? "CUDA C" : "C";
    return { ...(lowered ? { code: language } : {}), ...(tiles ? { tiles: "Lowered" } : {}), text: "Graph as text" };
  }

  /** @param {string} text @param {(n: number) => boolean} only */
  #graphText(text, only) {
    const { graph, title } = this.asked;
    const { nodes } = this.#drawn();
    const of = (/** @type {number} */ n) => nodes[n - 1];
    const well = codeWell(text, `Nodes of ${title}${BY_KEYS}`, { letter: "N", only, pick: (n) => of(n) && pick({ graph: String(graph.id ?? 0), node: of(n).id, ...placeOf(of(n)) }) });
    for (const li of /** @type {NodeListOf<HTMLElement>} */ (well.querySelectorAll("li[id]"))) li.dataset.of = of(Number(li.id.slice(1)))?.id;
    this.#listen(well, (li) => ofNodes(graph, this.#drawn(), [of(Number(li.id.slice(1)))].filter(Boolean)));
    return well;
  }

  /**
   * Kernels alone: of code, the vector words that all share are left out.
   * @param {string} text @param {readonly {kernel: number, from: number, to: number}[]} parts
   * @param {(n: number) => boolean} only by place among what is shown
   */
  #generated(text, parts, only) {
    const { graph, title } = this.asked;
    if (!parts.length) return h("p", { class: "small sub" }, "No kernel of its own is in it: libraries do the work.");
    const at = (/** @type {number} */ n) => parts.find((p) => n >= p.from && n <= p.to);
    const begin = parts[0].from - 1;
    const chosen = (/** @type {number} */ n) => {
      this.line = n;
      const kernel = at(n)?.kernel ?? -1;
      pick({ graph: String(graph.id ?? 0), kernel: String(kernel), ...placesOf(graph.kernel_details?.[kernel]?.lines, graph.kernel_details?.[kernel]?.files)[0] });
      this.#pick();
    };
    const well = codeWell(text, `${this.stage === "tiles" ? "Tile program" : "Generated code"} of ${title}${BY_KEYS}`, { language: "c", letter: "C", only: (n) => only(n - begin) && !!at(n), pick: chosen });
    for (const li of /** @type {NodeListOf<HTMLElement>} */ (well.querySelectorAll("li[id]"))) {
      const n = Number(li.id.slice(1));
      li.dataset.kernel = String(at(n)?.kernel);
      if (at(n)?.from === n) li.classList.add("begins");
    }
    this.#listen(well, (li) => ofKernel(graph, this.#drawn(), Number(li.dataset.kernel)));
    return well;
  }

  /** What the pointer is over is marked in all panes. @param {HTMLElement} well @param {(li: HTMLElement) => Together} of */
  #listen(well, of) {
    /** @type {Element | null} */
    let over = null;
    well.addEventListener("pointermove", (e) => {
      const li = e.target instanceof Element ? e.target.closest("li[id]") : null;
      if (li === over) return;
      over = li;
      this.#hint(li && this.#drawn() ? of(/** @type {HTMLElement} */ (li)) : nothing());
    });
    well.addEventListener("pointerleave", () => {
      over = null;
      this.#hint(nothing());
    });
  }

  /** @param {string} cls @param {Together} of */
  #mark(cls, of) {
    for (const li of this.source.querySelectorAll("li[id]")) li.classList.toggle(cls, of.places.has(placeKey(Number(li.id.slice(1)), this.file)));
    for (const li of /** @type {NodeListOf<HTMLElement>} */ (this.code.querySelectorAll("li[id]"))) {
      const { kernel, of: node } = li.dataset;
      li.classList.toggle(cls, node !== undefined ? of.nodes.has(node) : of.kernels.has(Number(kernel)));
    }
  }

  /** @param {Together} of */
  #hint(of) {
    this.#mark("hint", of);
    const other = [...of.nodes].flatMap((id) => this.#drawn()?.nodes.find((n) => n.id === id && n.line > 0 && n.file !== this.file) ?? []);
    this.elsewhere.textContent = this.files && other.length ? [...new Map(other.map((n) => [keyOf(n), placeText(n)])).values()].slice(0, MOST_ELSEWHERE).join(", ") : "";
    this.picture?.hint(of.nodes);
  }

  /** What is picked is marked in the wells and in their sight; the picture looks after itself. */
  #pick() {
    const { graph } = this.asked;
    const now = picked();
    const d = this.#drawn();
    if (!d || !this.source.childElementCount) return;
    const node = now.node ? d.nodes.find((n) => n.id === now.node) : undefined;
    const of = now.kernel ? ofKernel(graph, d, Number(now.kernel)) : node ? ofNodes(graph, d, [node]) : ofPlace(graph, d, now);
    const line = !this.files || now.file === this.file ? now.line : 0;
    if (line > FEW_LINES && !this.whole.has(`source ${this.file}`)) {
      this.whole.add(`source ${this.file}`);
      this.#fillSource();
    }
    this.#mark("joined", of);
    if ((of.kernels.size || of.nodes.size) && !this.whole.has(this.stage) && !this.code.querySelector("li.joined")) {
      this.whole.add(this.stage); // it is further down
      this.#fillCode();
      this.#mark("joined", of);
    }
    const [source, code] = [this.source, this.code].map((pane) => /** @type {HTMLElement | null} */ (pane.querySelector(".code")));
    if (source) showLine(source, line);
    if (!code) return;
    const marked = /** @type {HTMLElement[]} */ ([...code.querySelectorAll("li.joined")]);
    if (!marked.some((li) => li.id === `C${this.line}`)) this.line = Number(marked[0]?.id.slice(1) ?? 0);
    showLine(code, this.line, this.stage === "text" ? "N" : "C");
    if (marked.length && !marked.some((li) => li.offsetTop >= code.scrollTop && li.offsetTop < code.scrollTop + code.clientHeight)) keepInSight(code, marked[0]);
  }
}
