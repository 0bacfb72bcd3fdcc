// js/view/code.js -- source text with line numbers, in one colour.
//
// Keywords are bold and comments grey; an error stands below its line with a
// caret under its column.

import { h, add } from "./dom.js";
import { tokenLines } from "../model/source.js";

/**
 * @param {string} text @param {string} name what the region is called
 * @param
 *   {{language?: "python" | "c", error?: import("../api/types.js").Problem | null, around?: number,
 *   from?: number, marks?: Map<number, {cls: string, note: string, cost?: string}>}}
 *   [how] around: show this many lines about the error; from: leave out what is above; marks: by line, a
 *   class and a note at its end, and where any has a cost a column for it in front
 */
export function codeWell(text, name, how = {}) {
  const { language = "python", error, around, from = 1, marks } = how;
  const lines = tokenLines(text.replace(/\n$/, ""), language);
  const priced = [...(marks?.values() ?? [])].some((m) => m.cost);
  const ol = h("ol", { class: priced ? "priced" : null });
  lines.forEach((line, i) => {
    const n = i + 1;
    const here = error?.line === n;
    if (n < from || (around !== undefined && error?.line && Math.abs(n - error.line) > around)) return;
    const body = h("span");
    for (const t of line) add(body, t.k ? h("span", { class: t.k }, t.t) : t.t);
    if (!line.length) add(body, " ");
    const mark = marks?.get(n);
    const note = mark ? h("span", { class: "lens" }, mark.note) : null;
    const number = h("span", { class: here ? "ln e" : "ln" }, n);
    const cost = priced ? h("span", { class: "cost" }, mark?.cost ?? "") : null;
    ol.append(h("li", { id: `L${n}`, class: here ? "on" : (mark?.cls ?? null) }, cost, number, body, note));
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
  return h("div", { class: "well code plain", role: "region", "aria-label": name, tabindex: 0 }, ol);
}
