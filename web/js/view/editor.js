// js/view/editor.js -- a text area with line numbers and marks below its text.
//
// The marks are drawn by a transparent copy of the text under the text area;
// both must keep font, padding and scroll position equal.  Tab indents; Escape
// lets the next Tab leave, so the keyboard is not trapped.

import { h, add } from "./dom.js";

/** @typedef {import("../api/types.js").Problem} Problem */

const INDENT = "    ";
const LINE_PX = 20;
const FIELD = { spellcheck: "false", autocomplete: "off", autocapitalize: "off", wrap: "off" };

export class Editor {
  #gutter = h("div", { class: "gut", "aria-hidden": "true" });
  #under = h("pre", { "aria-hidden": "true" });
  #area;
  #how;
  /** @type {Problem[]} */
  #problems = [];
  /** The next Tab leaves. */
  #leaving = false;

  /** @param {{id: string, describedby: string, onInput: () => void, onRun: () => void}} how */
  constructor(how) {
    this.#how = how;
    this.#area = h("textarea", { id: how.id, "aria-label": "Source", "aria-describedby": how.describedby, ...FIELD });
    this.el = h("div", { class: "editor" }, this.#gutter, h("div", { class: "text" }, this.#under, this.#area));
    this.#area.addEventListener("scroll", () => this.#scroll());
    this.#area.addEventListener("blur", () => {
      this.#leaving = false;
    });
    this.#area.addEventListener("input", () => {
      this.mark([]);
      how.onInput();
    });
    this.#area.addEventListener("keydown", (e) => this.#key(e));
  }

  get value() {
    return this.#area.value;
  }

  set value(text) {
    this.#area.value = text;
    this.mark([]);
  }

  /** @param {Problem[]} problems drawn at their lines until the text changes */
  mark(problems) {
    this.#problems = problems;
    this.#draw();
  }

  /**
   * Puts the caret at a place and shows it.
   * @param {number} line
   * @param {number} [column]
   */
  goTo(line, column = 1) {
    const lines = this.value.split("\n");
    const before = lines.slice(0, line - 1).reduce((n, l) => n + l.length + 1, 0);
    const at = before + Math.min(column - 1, (lines[line - 1] ?? "").length);
    this.#area.focus();
    this.#area.setSelectionRange(at, at);
    this.#area.scrollTop = Math.max(0, (line - 6) * LINE_PX);
  }

  #draw() {
    const lines = this.value.split("\n");
    const at = (/** @type {number} */ i) => this.#problems.find((p) => p.line === i + 1);
    const mark = (/** @type {number} */ i) => (at(i) ? (at(i)?.allowed ? "b" : "e") : null);
    this.#gutter.replaceChildren(...lines.map((_, i) => h("span", { class: mark(i) }, i + 1)));
    this.#under.replaceChildren();
    lines.forEach((line, i) => {
      const [from, to] = at(i) ? marked(line, at(i)?.column ?? 1, at(i)?.end_column ?? 0) : [0, 0];
      const wave = to > from ? h("span", { class: `sq ${mark(i)}` }, line.slice(from, to)) : null;
      add(this.#under, line.slice(0, from), wave, line.slice(to), "\n");
    });
    this.#scroll();
  }

  #scroll() {
    this.#under.scrollTop = this.#area.scrollTop;
    this.#under.scrollLeft = this.#area.scrollLeft;
    this.#gutter.scrollTop = this.#area.scrollTop;
  }

  /** @param {KeyboardEvent} e */
  #key(e) {
    const plainTab = e.key === "Tab" && !this.#leaving && !e.ctrlKey && !e.altKey && !e.metaKey;
    if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) {
      e.preventDefault();
      this.#how.onRun();
    } else if (plainTab) {
      e.preventDefault();
      if (e.shiftKey || this.#selected.includes("\n")) this.#shift(e.shiftKey ? -1 : 1);
      else this.#insert(INDENT);
    } else if (e.key === "Enter" && !e.isComposing) {
      e.preventDefault();
      this.#insert(`\n${this.#indentAfter()}`);
    }
    if (e.key !== "Tab" && e.key !== "Shift") this.#leaving = e.key === "Escape";
  }

  get #selected() {
    return this.value.slice(this.#area.selectionStart, this.#area.selectionEnd);
  }

  /** Replaces the selection; the browser's own undo keeps working. @param {string} text */
  #insert(text) {
    if (document.execCommand("insertText", false, text)) return;
    this.#area.setRangeText(text, this.#area.selectionStart, this.#area.selectionEnd, "end");
    this.#area.dispatchEvent(new Event("input"));
  }

  /** Moves the selected lines in or out. @param {1 | -1} by */
  #shift(by) {
    const start = this.value.lastIndexOf("\n", this.#area.selectionStart - 1) + 1;
    const { selectionEnd } = this.#area;
    const lines = this.value.slice(start, selectionEnd);
    this.#area.setSelectionRange(start, selectionEnd);
    const text = by > 0 ? lines.replace(/^(?=.)/gm, INDENT) : lines.replace(/^ {1,4}/gm, "");
    if (text === lines) return;
    this.#insert(text);
    this.#area.setSelectionRange(text.includes("\n") ? start : start + text.length, start + text.length);
  }

  /** The indentation of the caret's line, four more after a colon. */
  #indentAfter() {
    const start = this.value.lastIndexOf("\n", this.#area.selectionStart - 1) + 1;
    const line = this.value.slice(start, this.#area.selectionStart);
    const own = /^[ \t]*/.exec(line)?.[0] ?? "";
    return /:\s*(#.*)?$/.test(line) ? own + INDENT : own;
  }
}

/**
 * From a column to its end, or the word there, so that a mark has a width.
 * @param {string} line
 * @param {number} column
 * @param {number} end one past the last column; 0: unknown
 * @returns {[number, number]}
 */
function marked(line, column, end) {
  const from = Math.min(Math.max(0, column - 1), Math.max(0, line.length - 1));
  if (end > column) return [from, Math.min(end - 1, line.length)];
  const word = /^[\w.]+|^\S+|^\s+/.exec(line.slice(from));
  return [from, from + (word ? word[0].length : 1)];
}
