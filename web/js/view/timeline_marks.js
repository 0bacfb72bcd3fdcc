// js/view/timeline_marks.js -- the marks of a timeline as a table: named, moved, gone to and removed with keys too.

import { h, button, headRow, scroller } from "./dom.js";
import { duration } from "../model/format.js";
import { dropMark, markName, moveMark, nameMark } from "../model/timeline_marks.js";

/** @typedef {import("../model/timeline_marks.js").Mark} Mark */

/** Of the window, at a press. */
const STEP = 0.01;

/** @param {HTMLElement} place @param {import("./timeline_canvas.js").TimelineCanvas} line @param {number} span */
export function fillMarks(place, line, span) {
  const { marks } = line;
  place.hidden = !marks.length;
  const was = /** @type {HTMLElement | null} */ (place.contains(document.activeElement) ? document.activeElement : null)?.dataset.key;
  const rows = marks.map((mark, i) => {
    const name = h("input", { class: "field", value: mark.name, placeholder: markName(marks, i), maxlength: 40, "aria-label": `Name of ${markName(marks, i)}`, data: { key: `name ${i}` } });
    name.addEventListener("change", () => line.mark(nameMark(line.marks, i, name.value)));
    const act = (/** @type {string} */ text, /** @type {string} */ what, /** @type {() => void} */ does) =>
      button(text, does, { "aria-label": `${what} ${markName(marks, i)}`, title: what, "data-key": `${what} ${i}` });
    const by = (/** @type {number} */ n) => line.mark(moveMark(line.marks, i, mark.t + n * STEP * (line.window.t1 - line.window.t0), span));
    const next = marks[i + 1];
    return h("tr", {},
      h("th", { scope: "row" }, name),
      h("td", { class: "r" }, duration(mark.t / 1000)),
      h("td", { class: "r" }, i ? duration((mark.t - marks[i - 1].t) / 1000) : ""),
      h("td", { class: "r" }, i ? duration((mark.t - marks[0].t) / 1000) : ""),
      h("td", {}, h("div", { class: "acts" }, act("\u2190", "Move earlier", () => by(-1)), act("\u2192", "Move later", () => by(1)), act("Go", "Go to", () => line.goTo(mark.t)),
        next ? act("Select to next", "Select to next, from", () => line.select([mark.t, next.t])) : null, act("Remove", "Remove", () => line.mark(dropMark(line.marks, i))))));
  });
  const head = headRow(["Mark", ["At", "r"], ["After the last", "r"], ["After the first", "r"], "Change"]);
  place.replaceChildren(
    h("header", { class: "bar" }, h("h3", {}, "Marks"), h("div", { class: "acts" }, button("Remove all", () => line.mark([])))),
    scroller("Marks", h("table", { class: "marks" }, head, h("tbody", {}, rows))));
  if (was) /** @type {HTMLElement | null} */ (place.querySelector(`[data-key="${was}"]`))?.focus();
}
