// js/view/kernels.js -- the kernels of a mode as a table: time, bytes and operations,
// and how near each is to a copy of as many bytes.

import { add, figure, h, headRow, scroller, svg } from "./dom.js";
import { lineLinks } from "./joined.js";
import { longList } from "./long_list.js";
import { kernelFacts } from "../model/kernels.js";

/** @typedef {import("../model/kernels.js").KernelFacts} KernelFacts */

const BAR = 72;
const MOST_LINES = 3;
const FEW_ROWS = 60;

/** What a word of the head means, where it is. @type {[string, string][]} */
const TERMS = [
  ["Of copy", "the time of a kernel that only moves as many bytes, divided by the kernel's own: near 100 % the kernel is bound by memory, above it the bytes were in a nearer cache"],
  ["Operations", "those of the graph: 2 for each multiply-add of a product, 1 for each element of any other op, none for views and copies"],
  ["Op/byte", "arithmetic intensity, operations per byte: where it is low the kernel is bound by memory, where it is high by arithmetic"],
];
const DEVICE_TERM = /** @type {[string, string]} */ ([
  "Occupancy",
  "threads of this kernel that fit on a multiprocessor, divided by the most that it can hold: registers and shared memory limit it",
]);

/** @param {number} share */
function bar(share) {
  const el = svg("svg", { class: "cellbar", width: BAR, height: 8, "aria-hidden": "true" });
  el.append(svg("rect", { class: "bg", width: BAR, height: 8 }));
  el.append(svg("rect", { class: "fg", width: Math.min(1, share) * BAR, height: 8 }));
  return el;
}

/** @param {string | number | null | undefined} text */
const cell = (text) => h("td", { class: text === null || text === undefined ? "r dim" : "r" }, text ?? "unknown");

/** @param {import("../api/types.js").Run} run @param {KernelFacts} r @param {boolean} device */
function row(run, r, device) {
  const { said } = r;
  const taken = h("td", { class: said?.median ? "r" : "r dim" }, said?.median ? figure(said.median) : "not seen");
  const name = h("th", { scope: "row", title: r.why || null }, h("code", {}, r.name), h("span", { class: "dim" }, ` graph ${r.graph}${r.lines.length ? ", " : ""}`), lineLinks(run, r.lines.slice(0, MOST_LINES)));
  const cells = [taken, cell(said?.moves), cell(said?.bandwidth), cell(said?.of_copy), h("td", {}, r.share === null ? null : bar(r.share)), cell(said?.operations), cell(said?.rate), cell(said?.intensity), cell(r.ops)];
  if (device) cells.push(cell(said?.occupancy), cell(r.registers), cell(said?.shared));
  return h("tr", { data: { lines: r.lines.join(" ") } }, name, cells);
}

/**
 * @param {AbortSignal} signal
 * @param {import("../api/types.js").Run} run
 * @param {{m: import("../api/types.js").ModeReport, said: import("../api/report.js").ReportFindingsMode | undefined, device: object}} of
 * @returns {HTMLElement[]} nothing where no kernel was seen
 */
export function kernelsSection(signal, run, { m, said, device }) {
  const rows = kernelFacts(m, said);
  const all = said?.kernels;
  if (!rows.length || !all) return [];
  const gpu = rows.some((r) => r.registers !== null);
  const right = (/** @type {string} */ text) => /** @type {[string, string]} */ ([text, "r"]);
  const heads = [`Median, ${all.time_unit}`, `Moves, ${all.bytes_unit}`, "GB/s", "Of copy"].map(right);
  const more = ["Operations", "GFLOP/s", "Op/byte", "Ops", ...(gpu ? ["Occupancy", "Registers", "Shared"] : [])].map(right);
  const head = headRow(["Kernel", ...heads, [null, "", "As a bar"], ...more]);
  const caption = h("caption", { class: "vh" }, "Kernels, and what each achieves");
  const [body, whole] = longList(signal, h("tbody"), rows, (r) => row(run, r, gpu), FEW_ROWS, (r, line) => r.lines.includes(line));
  const table = h("table", { id: "kernels-table" }, caption, head, body);
  const terms = (gpu ? [...TERMS, DEVICE_TERM] : TERMS).flatMap(([t, text]) => [h("dt", {}, t), h("dd", {}, text)]);
  const title = h("header", {}, h("h3", {}, "Kernels"), h("p", {}, "each alone, from timelines of a few calls; bytes under the sizes of the capture"));
  const section = h("section", { class: "sec kernels", "aria-label": "What kernels achieve" }, title);
  const list = h("dl", { class: "terms" }, ...terms);
  add(section, h("p", { class: "sub finding" }, all.sentence), scroller("What kernels achieve, table", table), whole, list);
  import("./roofline.js").then((view) => add(section, view.rooflineFigure(rows, device)));
  return [section];
}
