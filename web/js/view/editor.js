// js/view/editor.js -- a text area with line numbers and marks below its text.
//
// The marks are drawn by a transparent copy of the text under the text area;
// both must keep font, padding and scroll position equal.  Tab indents; Escape
// lets the next Tab leave, so the keyboard is not trapped.

import { h, add } from "./dom.js";

/** @typedef {import("../api/types.js").Problem} Problem */

/** @param {{label: string, describedby: string, onInput: () => void, onRun: () => void}} how */
export function editor(how) {
  const gutter = h("div", { class: "gut", "aria-hidden": "true" });
  const under = h("pre", { "aria-hidden": "true" });
  const area = h("textarea", { id: "source", "aria-label": how.label, spellcheck: "false", autocomplete: "off", autocapitalize: "off", wrap: "off", "aria-describedby": how.describedby });
  const el = h("div", { class: "editor" }, gutter, h("div", { class: "text" }, under, area));
  /** @type {Problem[]} */
  let problems = [];
  let leave = false;

  const draw = () => {
    const lines = area.value.split("\n");
    gutter.replaceChildren(...lines.map((_, i) => h("span", { class: problems.some((p) => p.line === i + 1) ? "e" : null }, i + 1)));
    under.replaceChildren();
    lines.forEach((line, i) => {
      const p = problems.find((q) => q.line === i + 1);
      if (p) {
        const [from, to] = marked(line, p.column ?? 1);
        add(under, line.slice(0, from), h("span", { class: "sq e" }, line.slice(from, to)), line.slice(to), "\n");
      } else add(under, `${line}\n`);
    });
    scroll();
  };
  const scroll = () => {
    under.scrollTop = area.scrollTop;
    under.scrollLeft = area.scrollLeft;
    gutter.scrollTop = area.scrollTop;
  };
  area.addEventListener("scroll", scroll);
  area.addEventListener("blur", () => { leave = false; });
  area.addEventListener("input", () => {
    problems = [];
    draw();
    how.onInput();
  });
  area.addEventListener("keydown", (e) => {
    if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) {
      e.preventDefault();
      how.onRun();
    } else if (e.key === "Escape") leave = true;
    else if (e.key === "Tab" && !leave && !e.ctrlKey && !e.altKey) {
      e.preventDefault();
      if (e.shiftKey) dedent(area); else insert(area, "    ");
    } else if (e.key === "Enter" && !e.isComposing) {
      e.preventDefault();
      insert(area, `\n${indentAfter(area)}`);
    }
    if (e.key !== "Escape" && e.key !== "Tab" && e.key !== "Shift") leave = false;
  });
  return {
    el, area,
    get value() { return area.value; },
    /** @param {string} text */
    set value(text) {
      area.value = text;
      problems = [];
      draw();
    },
    /** @param {Problem[]} list */
    mark(list) {
      problems = list;
      draw();
    },
    /** Puts the caret at a place and shows it. @param {number} line @param {number} [column] */
    goTo(line, column = 1) {
      const lines = area.value.split("\n");
      const at = lines.slice(0, line - 1).reduce((n, l) => n + l.length + 1, 0) + Math.min(column - 1, (lines[line - 1] ?? "").length);
      area.focus();
      area.setSelectionRange(at, at);
      area.scrollTop = Math.max(0, (line - 6) * 20);
    },
  };
}

/** The word at a column, so that a mark has a width. @param {string} line @param {number} column @returns {[number, number]} */
function marked(line, column) {
  const from = Math.min(Math.max(0, column - 1), Math.max(0, line.length - 1));
  const word = /^[\w.]+|^\S+|^\s+/.exec(line.slice(from));
  return [from, from + (word ? word[0].length : 1)];
}

/** Replaces the selection; the browser's own undo keeps working. @param {HTMLTextAreaElement} area @param {string} text */
function insert(area, text) {
  if (!document.execCommand("insertText", false, text)) {
    area.setRangeText(text, area.selectionStart, area.selectionEnd, "end");
    area.dispatchEvent(new Event("input"));
  }
}

/** @param {HTMLTextAreaElement} area */
function dedent(area) {
  const start = area.value.lastIndexOf("\n", area.selectionStart - 1) + 1;
  const spaces = /^ {1,4}/.exec(area.value.slice(start));
  if (!spaces) return;
  const at = area.selectionStart;
  area.setRangeText("", start, start + spaces[0].length, "end");
  area.setSelectionRange(Math.max(start, at - spaces[0].length), Math.max(start, at - spaces[0].length));
  area.dispatchEvent(new Event("input"));
}

/** The indentation of the line, four more after a colon. @param {HTMLTextAreaElement} area */
function indentAfter(area) {
  const line = area.value.slice(area.value.lastIndexOf("\n", area.selectionStart - 1) + 1, area.selectionStart);
  const own = /^[ \t]*/.exec(line)?.[0] ?? "";
  return /:\s*(#.*)?$/.test(line) ? `${own}    ` : own;
}
