// js/view/compare_parts.js -- what changed between two runs: breaks, kernels, graphs, source, settings.

import { h, add, chip, ci, headRow, scroller } from "./dom.js";
import { at, excerpt, tally } from "../model/compare.js";
import { number, plural, ratio, withInterval } from "../model/format.js";

/** @typedef {import("../api/compare/types.js").Pair} Pair */

const AROUND = 3;
const SIGNS = { added: "+", gone: "−", slower: "↑", faster: "↓", kept: "" };

/** @param {keyof typeof SIGNS} change */
const sign = (change) => h("td", { class: "sign" }, h("span", { "aria-hidden": "true" }, SIGNS[change]), h("span", { class: "vh" }, change));

/** Microseconds with their interval; nothing where there are none.
 * @param {{us?: number | null, cost_us?: number | null, ci_us: number[] | null} | null} side @param {string} label */
function us(side, label) {
  const value = side?.us ?? side?.cost_us;
  if (typeof value !== "number") return h("td", { class: "r" });
  const t = withInterval(value, side?.ci_us);
  return h("td", { class: "r", data: { label } }, t.text, ci(t.interval));
}

/** A heading, what it counts, and its table or why there is none.
 * @param {string} title @param {string} note @param {readonly HTMLElement[]} rows
 * @param {Parameters<typeof headRow>[0]} head @param {string} none */
function part(title, note, rows, head, none) {
  const body = h("tbody", {}, rows);
  const table = h("table", { class: "changes" }, h("caption", { class: "vh" }, title), headRow(head), body);
  const box = h("div", { class: "part" }, h("header", { class: "bar" }, h("h2", {}, title), h("p", { class: "small dim" }, note)));
  if (!rows.length) add(box, h("p", { class: "sub" }, none));
  else add(box, scroller(`${title} that changed, table`, table));
  return box;
}

/** @param {Pair} pair */
export function breaksPart(pair) {
  const all = pair.breaks ?? [];
  const rows = [...all].sort((x, y) => Number(x.change === "kept") - Number(y.change === "kept")).map((b) => {
    const lines = [...new Set([b.a?.line, b.b?.line].filter((l) => l !== undefined))].join(" → ");
    const file = (b.b ?? b.a)?.file;
    const where = h("td", { class: "wrap" }, file ? `${file}, ` : "", `line ${lines}`, ": ", h("code", {}, b.text));
    return h("tr", { class: b.change }, sign(b.change), h("th", { scope: "row" }, b.kind, h("span", { class: "two-line" }, b.mode)), us(b.a, "A, µs"), us(b.b, `${pair.b}, µs`), where);
  });
  const where = all.length ? at(all[0].n) : "";
  const note = `${tally(all, ["added", "gone", "kept"])}${where}`;
  return part("Breaks", all.length ? note : "", rows, [[null, "", "Change"], "Break", ["A, µs", "r"], [`${pair.b}, µs`, "r"], "Where"], "Neither breaks.");
}

/** @param {Pair} pair */
export function kernelsPart(pair) {
  const all = pair.kernels ?? [];
  const rows = all.map((k) => {
    const r = k.ratio === undefined ? null : ratio(k.ratio, k.ci);
    const told = r ? [r.text, ...ci(r.interval)] : [k.form ? `${k.form}, ` : "", plural(k.ops ?? 0, "op")];
    return h("tr", { class: k.change }, sign(k.change), h("th", { scope: "row" }, h("code", {}, k.name), h("span", { class: "two-line" }, k.mode)), us(k.a, "A, µs"), us(k.b, `${pair.b}, µs`), h("td", { class: "wrap" }, told));
  });
  const same = pair.kernels_same ?? 0;
  const note = `${tally(all, ["added", "gone", "slower", "faster"])}, ${same} as before${all.length ? at(all[0].n) : ""}`;
  const none = same ? same === 1 ? "The one kernel is unchanged." : `All ${same} kernels are unchanged.` : "Neither has kernels.";
  return part("Kernels", all.length ? note : "", rows, [[null, "", "Change"], "Kernel", ["A, µs", "r"], [`${pair.b}, µs`, "r"], "What changed"], none);
}

/** @param {Pair} pair */
export function graphsPart(pair) {
  const rows = (pair.graphs ?? []).map((g) => {
    const ops = g.ops.map((o) => `${o.op} ${o.a} → ${o.b}`).join(", ");
    return h("tr", {}, h("th", { scope: "row" }, g.mode), h("td", { class: "r", data: { label: "A" } }, String(g.a)), h("td", { class: "r", data: { label: pair.b } }, String(g.b)), h("td", { class: "wrap" }, ops ? h("code", {}, ops) : "the same ops, split elsewhere"));
  });
  const n = pair.graphs?.[0]?.n ?? null;
  return part("Graphs", rows.length ? `number of graphs and their ops${at(n)}` : "", rows, ["Mode", ["A", "r"], [pair.b, "r"], "Ops, by how often they occur"], "The same graphs of the same ops.");
}

/** @param {Pair} pair */
export function sourcePart(pair) {
  const s = pair.source;
  const box = h("div", { class: "part" });
  const note = s?.lines ? `${pair.b} beside A: ${plural(s.added ?? 0, "line")} added, ${number(s.gone ?? 0)} gone${at(s.n ?? null)}` : "";
  add(box, h("header", { class: "bar" }, h("h2", {}, "Source"), h("p", { class: "small dim" }, note)));
  if (!s?.lines) {
    add(box, h("p", { class: "sub" }, s?.added === 0 ? "Identical." : "Too long to be shown line by line."));
    return box;
  }
  const ol = h("ol");
  let file = "";
  for (const l of excerpt(s.lines, AROUND)) {
    if (l?.file && l.file !== file) {
      file = l.file;
      add(ol, h("li", { class: "file" }, h("b", {}, file)));
    }
    if (l === null) {
      add(ol, h("li", { class: "gap" }, "…"));
      continue;
    }
    const word = l.sign === "+" ? "added" : l.sign === "-" ? "gone" : null;
    const mark = h("span", { class: "sign" }, l.sign === "-" ? "−" : l.sign, word ? h("span", { class: "vh" }, word) : null);
    add(ol, h("li", { class: word }, h("span", { class: "ln" }, l.a ?? ""), h("span", { class: "ln" }, l.b ?? ""), mark, h("span", {}, l.text || " ")));
  }
  add(box, h("div", { class: "well code both", role: "region", "aria-label": `Source of A and ${pair.b}`, tabindex: 0 }, ol));
  return box;
}

/** What else differs; it is the first thing where it forbids the rest. @param {Pair} pair */
export function settingsPart(pair) {
  const rows = pair.differences.map((d) =>
    h("tr", {}, h("th", { scope: "row" }, d.title), h("td", { class: "wrap", data: { label: "A" } }, d.a), h("td", { class: "wrap", data: { label: pair.b } }, d.b), h("td", { class: "r dim small" }, d.matters ? chip("refused", "MATTERS") : "may differ")),
  );
  return part("Settings and environment", rows.length ? plural(rows.length, "difference") : "", rows, ["Setting", "A", pair.b, [null, "", "Whether it matters"]], "The same machine, threads, versions, inputs and source.");
}
