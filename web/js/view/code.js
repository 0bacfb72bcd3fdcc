// js/view/code.js -- source text with line numbers, in one colour.
//
// Keywords are bold and comments grey; an error is below its line with a
// caret under its column.

import { h, add } from "./dom.js";
import { tokenLines } from "../model/source.js";

/**
 * @param {string} text @param {string} name what the region is called
 * @param
 *   {{language?: "python" | "c", error?: import("../api/types.js").Problem | null, around?: number,
 *   only?: (line: number) => boolean, marks?: Map<number, {cls: string, note: string, cost?: string}>, pick?: (line: number) => void,
 *   letter?: string}}
 *   [how] pick: lines can be chosen, by a click and by the arrow keys; around: show this many lines about the error; only: leave out the others; marks: by line, a
 *   class and a note at its end, and where any has a cost a column for it in front; letter: ids of the lines begin with it, "L" where it is left out
 */
export function codeWell(text, name, how = {}) {
  const { language = "python", error, around, only = () => true, marks, pick, letter = "L" } = how;
  const lines = tokenLines(text.replace(/\n$/, ""), language);
  const priced = [...(marks?.values() ?? [])].some((m) => m.cost);
  const ol = h("ol", { class: priced ? "priced" : null, role: pick ? "listbox" : null, tabindex: pick ? 0 : null, "aria-label": pick ? `Lines of ${name}` : null });
  lines.forEach((line, i) => {
    const n = i + 1;
    const here = error?.line === n;
    if (!only(n) || (around !== undefined && error?.line && Math.abs(n - error.line) > around)) return;
    const body = h("span");
    for (const t of line) add(body, t.k ? h("span", { class: t.k }, t.t) : t.t);
    if (!line.length) add(body, " ");
    const mark = marks?.get(n);
    const note = mark ? h("span", { class: "lens" }, mark.note) : null;
    const number = h("span", { class: here ? "ln e" : "ln" }, n);
    const cost = priced ? h("span", { class: "cost" }, mark?.cost ?? "") : null;
    const choice = pick ? { role: "option", "aria-selected": "false" } : {};
    ol.append(h("li", { id: pick ? `${letter}${n}` : null, class: here ? "on" : (mark?.cls ?? null), ...choice }, cost, number, body, note));
    if (here && error?.column)
      ol.append(
        h(
          "li",
          { class: "caret", "aria-hidden": "true" },
          h("span", { class: "ln" }),
          h("span", { class: "bad" }, `${" ".repeat(error.column - 1)}^`),
        ),
      );
  });
  if (pick) choosable(ol, pick);
  return h("div", { class: "well code plain", role: "region", "aria-label": name, tabindex: pick ? null : 0 }, ol);
}

/** @param {HTMLOListElement} ol @param {(line: number) => void} pick */
function choosable(ol, pick) {
  const lines = () => /** @type {HTMLElement[]} */ ([...ol.querySelectorAll("li[id]")]);
  const number = (/** @type {Element} */ li) => Number(li.id.slice(1));
  ol.addEventListener("click", (e) => {
    const li = e.target instanceof Element ? e.target.closest("li[id]") : null;
    if (li && getSelection()?.isCollapsed !== false) pick(number(li)); // else a text was marked
  });
  ol.addEventListener("keydown", (e) => {
    const step = /** @type {Record<string, number>} */ ({ ArrowDown: 1, ArrowUp: -1 })[e.key];
    if (!step || e.ctrlKey || e.metaKey || e.altKey) return;
    e.preventDefault();
    const all = lines();
    const at = all.findIndex((li) => li.getAttribute("aria-selected") === "true");
    pick(number(all[Math.min(all.length - 1, Math.max(0, at < 0 ? 0 : at + step))]));
  });
}

/** Shows a line as the chosen one; 0: none. @param {HTMLElement} well of codeWell() @param {number} line @param {string} [letter] */
export function showLine(well, line, letter = "L") {
  const ol = well.querySelector("[role=listbox]");
  for (const li of well.querySelectorAll("li[id]")) {
    const on = li.id === `${letter}${line}`;
    if (on === (li.getAttribute("aria-selected") === "true")) continue;
    li.setAttribute("aria-selected", String(on));
    if (on) keepInSight(well, /** @type {HTMLElement} */ (li));
  }
  if (line) ol?.setAttribute("aria-activedescendant", `${letter}${line}`);
  else ol?.removeAttribute("aria-activedescendant");
}

/** The well scrolls, not the page. @param {HTMLElement} well @param {HTMLElement} li */
export function keepInSight(well, li) {
  const [top, bottom] = [li.offsetTop, li.offsetTop + li.offsetHeight];
  if (top < well.scrollTop || bottom > well.scrollTop + well.clientHeight) well.scrollTop = top - well.clientHeight / 3;
}
