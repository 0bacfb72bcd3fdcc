// js/view/run_list.js -- the rows of a list of runs, however long it is.
//
// Only rows in sight are in the page, with some around them; the space of the others is
// kept, so that the page's own scroll bar is the list's.  Pages of rows are asked for when
// they come into sight.  All rows have one height, and all columns their widths.

import { h, scroller } from "./dom.js";
import { columnsOf, row, runHead } from "./run_rows.js";
import { pagesOf, rowsInView } from "../model/window.js";

/** @typedef {import("../api/types.js").RunRow} RunRow */
/** @typedef {(offset: number, limit: number) => Promise<import("../api/types.js").RunList>} Ask */

const PAGE = 100;
const AROUND = 8;
// As many are drawn whole: find in page then finds them all.
const WHOLE = 120;
// No row is lower; the first ones that are drawn say how high they are.
const LEAST_PX = 28;

/** @typedef {{index: number, run: RunRow | undefined, columns: import("./run_rows.js").Columns, tr: HTMLTableRowElement}} Drawn */

/** Makes `wanted` the children, leaving those that are there where they are. @param {HTMLElement} el @param {readonly HTMLElement[]} wanted */
function fill(el, wanted) {
  const keep = new Set(wanted);
  for (const child of [...el.children]) if (!keep.has(/** @type {HTMLElement} */ (child))) child.remove();
  wanted.forEach((child, i) => {
    if (el.children[i] !== child) el.insertBefore(child, el.children[i] ?? null);
  });
}

export class RunList {
  #ask;
  #signal;
  #sort;
  #choose;
  #picked;
  #open;
  #total = 0;
  /** @type {Map<number, RunRow[]>} */
  #pages = new Map();
  /** @type {RunRow[]} still in sight, until the list that is asked for comes */
  #old = [];
  /** @type {Set<number>} */
  #asked = new Set();
  #above = h("tr", { class: "space", "aria-hidden": "true" });
  #below = h("tr", { class: "space", "aria-hidden": "true" });
  #body = h("tbody");
  #table = h("table", { class: "runs" });
  /** @type {Map<number, Drawn>} those in the page, by index */
  #rows = new Map();
  #columns = columnsOf([]);
  #height = 0;
  #drawn = "";
  /** @type {import("./run_rows.js").Columns | null} whose head is drawn */
  #framed = null;
  #turn = 0;
  el = scroller("Runs, table", this.#table);

  /**
   * @param {Ask} ask @param {string} sort @param {(sort: string) => void} choose @param {AbortSignal} signal
   * @param {ReadonlySet<string>} picked ids of the runs that are selected
   * @param {ReadonlySet<string>} open ids of suites whose runs are shown
   */
  constructor(ask, sort, choose, signal, picked, open) {
    this.#ask = ask;
    this.#sort = sort;
    this.#choose = choose;
    this.#signal = signal;
    this.#picked = picked;
    this.#open = open;
    let waiting = 0;
    const soon = () => {
      waiting ||= requestAnimationFrame(() => {
        waiting = 0;
        this.draw();
      });
    };
    addEventListener("scroll", soon, { signal, passive: true });
    addEventListener("resize", () => {
      this.#height = 0;
      soon();
    }, { signal });
  }

  /** Rows that came now; others of before may have moved. @param {import("../api/types.js").RunList} list @param {number} offset */
  take(list, offset) {
    const total = list.total ?? list.runs.length;
    if (total !== this.#total) this.#pages.clear();
    this.#total = total;
    this.#old = [];
    for (let i = 0; i < list.runs.length; i += PAGE) this.#pages.set((offset + i) / PAGE, list.runs.slice(i, i + PAGE));
    this.#share();
    this.draw();
  }

  /** Rows of before are others now. */
  forget() {
    if (this.#pages.size) this.#old = [...this.#pages.values()].flat();
    this.#pages.clear();
    this.#turn++;
  }

  /** Where the rows in sight begin and how many a request for them asks for. */
  get inSight() {
    const pages = pagesOf(this.#range().start, this.#range().end, PAGE);
    return { offset: (pages[0] ?? 0) * PAGE, limit: Math.max(1, pages.length) * PAGE };
  }

  /** @param {number} index @returns {RunRow | undefined} */
  at(index) {
    return this.#pages.get(Math.floor(index / PAGE))?.[index % PAGE];
  }

  /** @param {string} id @returns {RunRow | undefined} */
  find(id) {
    return [...this.#pages.values(), this.#old].flat().find((r) => String(r.id) === id && !r.suite);
  }

  #range() {
    if (this.#total <= WHOLE) return { start: 0, end: this.#total };
    if (!this.#height) return { start: 0, end: Math.min(this.#total, WHOLE, Math.ceil(innerHeight / LEAST_PX)) };
    const top = -this.#body.getBoundingClientRect().top;
    return rowsInView({ total: this.#total, height: this.#height, top, view: innerHeight, around: AROUND });
  }

  draw() {
    const { start, end } = this.#range();
    const key = `${start} ${end} ${this.#turn}`;
    if (key === this.#drawn) return;
    this.#drawn = key;
    for (const page of pagesOf(start, end, PAGE)) if (!this.#pages.has(page)) this.#load(page);
    const rows = [];
    for (let i = start; i < end; i++) rows.push(this.#rowAt(i));
    this.#above.style.height = `${start * this.#height}px`;
    this.#below.style.height = `${(this.#total - end) * this.#height}px`;
    const focus = this.#body.contains(document.activeElement) ? document.activeElement?.closest("tr")?.dataset.id : undefined;
    const box = document.activeElement instanceof HTMLInputElement || document.activeElement instanceof HTMLButtonElement;
    fill(this.#body, [...(start ? [this.#above] : []), ...rows.map((r) => r.tr), ...(end < this.#total ? [this.#below] : [])]);
    this.#rows = new Map(rows.map((r) => [r.index, r]));
    this.#frame(this.#columns);
    if (focus !== undefined && !this.#body.contains(document.activeElement)) this.#focus(`[data-id="${CSS.escape(focus)}"]`, box);
    if (!this.#height && rows.length) {
      this.#height = rows[0].tr.getBoundingClientRect().height;
      if (this.#total > WHOLE) this.draw();
    }
  }

  /** A row that is drawn already stays, as long as it would be the same. @param {number} index @returns {Drawn} */
  #rowAt(index) {
    const run = this.at(index);
    const old = this.#rows.get(index);
    if (old && old.run === run && old.columns === this.#columns) return old;
    if (old && old.run?.id === run?.id && old.tr.querySelector(".rename")) return old; // it is being edited
    const tr = run ? row(run, this.#columns, this.#picked.has(String(run.id)), this.#open.has(String(run.suite_id))) : h("tr", {}, h("th", { scope: "row", class: "a-n dim", colspan: 12 }, `row ${index + 1}, loading`));
    tr.setAttribute("aria-rowindex", String(index + 2));
    tr.dataset.row = String(index);
    if (run) tr.dataset.id = run.suite ? `suite ${run.suite_id}` : String(run.id);
    return { index, run, columns: this.#columns, tr };
  }

  /** What all rows share, of all that are known by now. */
  #share() {
    this.#columns = columnsOf([...this.#pages.values()].flat());
    this.#turn++;
  }

  /** Head and caption, where they are other than before. @param {import("./run_rows.js").Columns} columns */
  #frame(columns) {
    this.#table.setAttribute("aria-rowcount", String(this.#total + 1));
    if (columns === this.#framed) return;
    this.#framed = columns;
    const head = runHead(columns, this.#sort, this.#choose);
    if (this.#table.tHead?.isEqualNode(head)) return;
    const focus = /** @type {HTMLElement | null} */ (this.#table.tHead?.querySelector(":focus"))?.dataset.sort;
    this.#table.replaceChildren(h("caption", { class: "vh" }, "Runs"), head, this.#body);
    if (focus) /** @type {HTMLElement | null} */ (head.querySelector(`[data-sort="${focus}"]`))?.focus();
  }

  /** @param {number} page */
  async #load(page) {
    if (this.#asked.has(page)) return;
    this.#asked.add(page);
    try {
      // Whoever scrolls past does not ask for every page on the way.
      await new Promise((resolve) => setTimeout(resolve, 60));
      const { start, end } = this.#range();
      if (!pagesOf(start, end, PAGE).includes(page) || this.#signal.aborted) return;
      const list = await this.#ask(page * PAGE, PAGE);
      this.#pages.set(page, list.runs);
      this.#share();
    } catch {
      return; // asked again when it is looked at again
    } finally {
      this.#asked.delete(page);
    }
    if (!this.#signal.aborted) this.draw();
  }

  /** @param {string} which row @param {boolean} box its check box, not its link */
  #focus(which, box) {
    const tr = this.#body.querySelector(which);
    /** @type {HTMLElement | null | undefined} */ (tr?.querySelector(box ? "input, .fold" : "th a"))?.focus({ preventScroll: true });
  }

  /** Focus to the next or previous run, into sight. @param {1 | -1} by */
  move(by) {
    const here = document.activeElement?.closest("tr")?.dataset.row;
    const from = here === undefined ? (by > 0 ? -1 : this.#total) : Number(here);
    const to = Math.min(this.#total - 1, Math.max(0, from + by));
    if (to < 0) return;
    if (!this.#body.querySelector(`[data-row="${to}"]`)) scrollTo(0, scrollY + this.#body.getBoundingClientRect().top + to * this.#height - innerHeight / 2);
    this.draw();
    this.#focus(`[data-row="${to}"]`, false);
    this.#body.querySelector(`[data-row="${to}"]`)?.scrollIntoView({ block: "nearest" });
  }
}
