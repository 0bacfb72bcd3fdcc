// js/view/kernels.js -- the kernels of a mode as a table: time, bytes and operations,
// and how near each is to a copy of as many bytes.

import { add, ci, h, headRow, scroller, svg } from "./dom.js";
import { lineLinks } from "./joined.js";
import { longList } from "./long_list.js";
import { bytes, bytesUnit, number, plural, shareText, timeUnit, withInterval } from "../model/format.js";
import { beyondCopy, kernelFacts } from "../model/kernels.js";

/** @typedef {import("../model/kernels.js").KernelFacts} KernelFacts */

const BAR = 72;
const MOST_LINES = 3;
const FEW_ROWS = 60;

/** What a word of the head means, where it is. @type {[string, string][]} */
const TERMS = [
  ["Of copy", "the time of a kernel that only moves as many bytes, over the kernel's own: near 100 % memory is the limit, above it the bytes were in a nearer cache"],
  ["Operations", "those of the graph: 2 for each pair that a product multiplies and adds, 1 for each element of any other op, views and copies none"],
  ["Op/byte", "arithmetic intensity, operations over bytes: where it is low memory is the limit, where it is high arithmetic is"],
];
const DEVICE_TERM = /** @type {[string, string]} */ ([
  "Occupancy",
  "threads of the kernel that a multiprocessor can hold over the most that it can: registers and shared memory limit it",
]);

/** @param {number} share */
function bar(share) {
  const el = svg("svg", { class: "cellbar", width: BAR, height: 8, "aria-hidden": "true" });
  el.append(svg("rect", { class: "bg", width: BAR, height: 8 }));
  el.append(svg("rect", { class: "fg", width: Math.min(1, share) * BAR, height: 8 }));
  return el;
}

/** @param {number | null} value @param {(v: number) => string} text */
const cell = (value, text) =>
  h("td", { class: value === null ? "r dim" : "r" }, value === null ? "unknown" : text(value));

/** @param {number} value */
const percent = (value) => shareText(Math.round(value * 100), value);

/**
 * @param {import("../api/types.js").Run} run
 * @param {KernelFacts} r
 * @param {import("../model/format.js").Unit} time
 * @param {import("../model/format.js").Unit} size
 * @param {boolean} device
 */
function row(run, r, time, size, device) {
  const median = r.median === null ? null : withInterval(r.median, r.ci, { scale: time.scale });
  const shown = median ? [h("span", { class: "num-strong" }, median.text), " ", ...ci(median.interval)] : ["not seen"];
  const taken = h("td", { class: median ? "r" : "r dim" }, shown);
  const name = h("th", { scope: "row", title: r.why || null }, h("code", {}, r.name), h("span", { class: "dim" }, ` graph ${r.graph}${r.lines.length ? ", " : ""}`), lineLinks(run, r.lines.slice(0, MOST_LINES)));
  const cells = [
    taken,
    cell(r.bytes / size.scale, number),
    cell(r.bandwidth, number),
    cell(r.share, percent),
    h("td", {}, r.share === null ? null : bar(r.share)),
    cell(r.operations, number),
    cell(r.rate, number),
    cell(r.intensity, number),
    cell(r.ops, String),
  ];
  if (device) cells.push(cell(r.occupancy, percent), cell(r.registers, String), cell(r.shared, bytes));
  return h("tr", { data: { lines: r.lines.join(" ") } }, name, cells);
}

/**
 * @param {AbortSignal} signal
 * @param {import("../api/types.js").Run} run
 * @param {import("../api/types.js").ModeReport} m
 * @param {object} device
 * @returns {HTMLElement[]} nothing where no kernel was seen
 */
export function kernelsSection(signal, run, m, device) {
  const rows = kernelFacts(m);
  if (!rows.length) return [];
  const gpu = rows.some((r) => r.registers !== null);
  const time = timeUnit(rows.map((r) => r.median ?? 0));
  const size = bytesUnit(rows.map((r) => r.bytes));
  const right = (/** @type {string} */ text) => /** @type {[string, string]} */ ([text, "r"]);
  const heads = [`Median, ${time.name}`, `Moves, ${size.name}`, "GB/s", "Of copy"].map(right);
  const more = ["Operations", "GFLOP/s", "Op/byte", "Ops", ...(gpu ? ["Occupancy", "Registers", "Shared"] : [])].map(right);
  const head = headRow(["Kernel", ...heads, [null, "", "As a bar"], ...more]);
  const caption = h("caption", { class: "vh" }, "Kernels, and what each achieves");
  const [body, all] = longList(signal, h("tbody"), rows, (r) => row(run, r, time, size, gpu), FEW_ROWS, (r, line) => r.lines.includes(line));
  const table = h("table", { id: "kernels-table" }, caption, head, body);
  const { far, over, whole } = beyondCopy(rows);
  const share = whole > 0 ? Math.round((over / whole) * 100) : 0;
  const found = far
    ? `${plural(far, "kernel")} of ${rows.length} ${far === 1 ? "takes" : "take"} more than twice as long as a copy of as many bytes; ${number(over)} us of ${number(whole)} us, ${share} %, are no memory time.`
    : `No kernel takes more than twice as long as a copy of as many bytes: ${share} % of their time is no memory time.`;
  const terms = (gpu ? [...TERMS, DEVICE_TERM] : TERMS).flatMap(([t, text]) => [h("dt", {}, t), h("dd", {}, text)]);
  const title = h("header", {}, h("h3", {}, "Kernels"), h("p", {}, "each alone, from timelines of a few calls; bytes under the sizes of the capture"));
  const section = h("section", { class: "sec kernels", "aria-label": "What kernels achieve" }, title);
  const list = h("dl", { class: "terms" }, ...terms);
  add(section, h("p", { class: "sub finding" }, found), scroller("What kernels achieve, table", table), all, list);
  import("./roofline.js").then((view) => add(section, view.rooflineFigure(rows, device)));
  return [section];
}
