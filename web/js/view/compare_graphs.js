// js/view/compare_graphs.js -- the graphs of two runs side by side, what changed marked; read when it is opened.

import { button, h } from "./dom.js";
import { getRun } from "../api/client.js";
import { beside, MOST_OPS, opsOf } from "../model/graph_diff.js";
import { plural } from "../model/format.js";

/** @typedef {{id: string, name: string}} Side */

/** @param {{a: Side, b: Side, mode: string, n: number | null}} of @param {AbortSignal} signal */
export function sideBySide(of, signal) {
  const place = h("div");
  const open = button(`${of.mode}, side by side`, async () => {
    open.setAttribute("disabled", "");
    try {
      const [a, b] = await Promise.all([of.a, of.b].map(async (s) => opsOf(/** @type {import("../api/types.js").Report} */ ((await getRun(s.id, signal)).report), of.mode, of.n)));
      if (!signal.aborted) open.replaceWith(table(of, a, b));
    } catch (e) {
      open.removeAttribute("disabled");
      if (!signal.aborted) place.replaceChildren(h("p", { class: "errline" }, e instanceof Error ? e.message : String(e)));
    }
  });
  return h("div", { class: "part" }, open, place);
}

/** @param {Parameters<typeof sideBySide>[0]} of @param {readonly string[]} a @param {readonly string[]} b */
function table(of, a, b) {
  const lines = beside(a, b);
  const apart = lines.filter((l) => l.a !== l.b);
  const cell = (/** @type {string | null} */ text, /** @type {string} */ sign, /** @type {string} */ word) =>
    h("td", { class: text === null ? "none" : sign ? word : null }, text === null ? null : [h("span", { class: "sign", "aria-hidden": "true" }, sign), sign ? h("span", { class: "vh" }, `${word} `) : null, h("code", {}, text.startsWith(" ") ? text : h("b", {}, text))]);
  const rows = lines.map((l) => h("tr", {}, cell(l.a, l.a === l.b ? "" : "−", "gone"), cell(l.b, l.a === l.b ? "" : "+", "added")));
  const cut = Math.max(a.length, b.length) > MOST_OPS ? `; the first ${MOST_OPS} lines of each` : "";
  const said = apart.length ? `${plural(apart.length, "line")} of ${lines.length} ${apart.length === 1 ? "differs" : "differ"}` : "the same ops in the same order";
  const el = h("table", { class: "beside" }, h("caption", { class: "small dim" }, `${of.mode}: ${said}${cut}`), h("thead", {}, h("tr", {}, h("th", { scope: "col" }, of.a.name), h("th", { scope: "col" }, of.b.name))), h("tbody", {}, rows));
  return h("div", { class: "well code both", role: "region", "aria-label": `Graphs of ${of.a.name} and ${of.b.name}, ${of.mode}`, tabindex: 0 }, el);
}
