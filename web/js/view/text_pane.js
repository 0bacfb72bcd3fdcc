// js/view/text_pane.js -- a long text by its lines, of which those in sight alone are in the page.
//
// A line is picked by a click or by the arrow keys; lines can be marked; a word is found by typing it.

import { h, add } from "./dom.js";
import { count } from "../model/format.js";

const LINE = 20; // px, of code.css
const SPARE = 30; // lines above and below those in sight
const MOST_CHARS = 4000; // of a line that is shown

let panes = 0;

export class TextPane {
  /**
   * @param {string} name what the region is called @param {readonly string[]} lines
   * @param {{pick?: (line: number) => void}} [how] pick: told of the line that was chosen, from 1
   */
  constructor(name, lines, { pick } = {}) {
    this.lines = lines;
    this.pick = pick;
    this.id = `tp${++panes}`;
    this.picked = 0;
    this.marked = (/** @type {number} */ _line) => false;
    this.differs = (/** @type {number} */ _line) => "";
    this.rows = h("div", { class: "tprows" });
    this.space = h("div", { class: "tpspace" }, this.rows);
    this.box = h("div", { class: "tp", role: "listbox", tabindex: 0, "aria-label": name }, this.space);
    this.space.style.height = `${lines.length * LINE}px`;
    let widest = 0;
    for (const line of lines) widest = Math.max(widest, Math.min(line.length, MOST_CHARS));
    this.space.style.minWidth = `calc(${widest + 2}ch + 70px)`;
    this.box.addEventListener("scroll", () => this.draw(), { passive: true });
    this.box.addEventListener("click", (e) => this.clicked(e));
    this.box.addEventListener("keydown", (e) => this.key(e));
    new ResizeObserver(() => this.draw()).observe(this.box);
    this.hits = h("span", { class: "small sub", "aria-live": "polite" });
    this.find = h("input", { class: "field", type: "search", placeholder: "Find in this text", "aria-label": `Find in ${name}` });
    this.find.addEventListener("keydown", (e) => {
      if (e.key !== "Enter") return;
      e.preventDefault();
      this.next(e.shiftKey ? -1 : 1);
    });
    this.el = h("div", { class: "tpwrap" }, h("div", { class: "tpfind" }, this.find, this.hits), this.box);
  }

  draw() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / LINE) - SPARE);
    const last = Math.min(this.lines.length, Math.ceil((this.box.scrollTop + this.box.clientHeight) / LINE) + SPARE);
    this.rows.style.top = `${first * LINE}px`;
    this.rows.replaceChildren();
    for (let i = first; i < last; i++) {
      const n = i + 1;
      const line = this.lines[i];
      const cut = line.length > MOST_CHARS ? h("span", { class: "cm" }, ` … ${count(line.length - MOST_CHARS)} more characters`) : null;
      const cls = [this.marked(n) ? "rel" : "", this.differs(n), /^\s*(#|\/\/)/.test(line) ? "cm" : ""].filter(Boolean).join(" ");
      add(
        this.rows,
        h(
          "div",
          { role: "option", id: `${this.id}-${n}`, class: cls || null, "aria-selected": String(n === this.picked), "aria-setsize": this.lines.length, "aria-posinset": n, data: { n } },
          h("span", { class: "ln" }, n),
          h("span", {}, line.slice(0, MOST_CHARS) || " ", cut),
        ),
      );
    }
    if (this.picked > first && this.picked <= last) this.box.setAttribute("aria-activedescendant", `${this.id}-${this.picked}`);
    else this.box.removeAttribute("aria-activedescendant");
  }

  /** @param {Event} e */
  clicked(e) {
    const row = e.target instanceof Element ? e.target.closest("[data-n]") : null;
    if (row instanceof HTMLElement && getSelection()?.isCollapsed !== false) this.choose(Number(row.dataset.n), true);
  }

  /** @param {KeyboardEvent} e */
  key(e) {
    const step = /** @type {Record<string, number>} */ ({ ArrowDown: 1, ArrowUp: -1, PageDown: 20, PageUp: -20, Home: -Infinity, End: Infinity })[e.key];
    if (!step || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    this.choose(Math.min(this.lines.length, Math.max(1, this.picked + step)), true);
  }

  /** Picks a line and brings it in sight. @param {number} line from 1; 0: none @param {boolean} [tell] */
  choose(line, tell = false) {
    this.picked = line;
    if (line) this.show(line);
    this.draw();
    if (tell) this.pick?.(line);
  }

  /** Brings a line in sight. @param {number} line */
  show(line) {
    const [top, bottom] = [(line - 1) * LINE, line * LINE];
    if (top < this.box.scrollTop || bottom > this.box.scrollTop + this.box.clientHeight) this.box.scrollTop = top - this.box.clientHeight / 3;
  }

  /** @param {(line: number) => boolean} of which lines are marked @param {boolean} bring the first of them into sight */
  mark(of, bring) {
    this.marked = of;
    if (bring) {
      const [from, to] = [this.box.scrollTop / LINE, (this.box.scrollTop + this.box.clientHeight) / LINE];
      let first = 0;
      let seen = false;
      for (let n = 1; n <= this.lines.length && !seen; n++) {
        if (!of(n)) continue;
        first ||= n;
        seen = n > from && n <= to;
      }
      if (first && !seen) this.show(first);
    }
    this.draw();
  }

  /** @param {(line: number) => "add" | "del" | ""} of lines that another text lacks */
  tell(of) {
    this.differs = of;
    this.draw();
  }

  /** The next line that has what is looked for. @param {1 | -1} step */
  next(step) {
    const q = this.find.value.toLowerCase();
    const n = this.lines.length;
    if (!q || !n) return;
    for (let i = 1, at = this.picked; i <= n; i++) {
      at = ((at - 1 + step + n) % n) + 1;
      if (!this.lines[at - 1].toLowerCase().includes(q)) continue;
      this.hits.textContent = `line ${count(at)}`;
      this.choose(at, true);
      return;
    }
    this.hits.textContent = "not found";
  }
}
