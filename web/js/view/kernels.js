// js/view/kernels.js -- the kernels of a mode: how near each is to a copy of as many bytes, the roof that the
// speed of memory sets, and of the picked one its code, its figures and why it is a kernel of its own.

import { add, copyButton, figure, h, headRow, painted, prose, scroller, section, stateWell, svg } from "./dom.js";
import { chosen } from "./choose.js";
import { codeWell } from "./code.js";
import { lineLinks, markLines, viewUrl } from "./joined.js";
import { longList } from "./long_list.js";
import { onPick, pick, picked } from "./pick.js";
import { rooflineFigure } from "./roofline.js";
import { fileStem } from "../model/commands.js";
import { pointsOf } from "../model/curves.js";
import { capturing } from "../model/graphs.js";
import { codeParts, kernelFacts } from "../model/kernels.js";
import { placeKey } from "../model/places.js";
import { saidOf } from "../model/sentence.js";

/** @typedef {import("../model/kernels.js").KernelFacts} KernelFacts */
/** @typedef {import("../api/types.js").Run} Run */
/** @typedef {import("../api/types.js").ModeReport} ModeReport */

const BAR = 72;
const MOST_LINES = 3;
const FEW_ROWS = 60;

/** What a word of the head means, where it is. @type {[string, string][]} */
const TERMS = [
  ["Of copy", "the time of a copy of as many bytes, divided by the kernel's own time. Near 100 % the kernel is memory-bound; above 100 % its data was in a faster cache"],
  ["Operations", "of the graph: 2 for each multiply-add of a product, 1 for each element of any other op, 0 for views and copies"],
  ["Op/byte", "arithmetic intensity, operations per byte: low means memory-bound, high means compute-bound"],
];
const DEVICE_TERM = /** @type {[string, string]} */ ([
  "Occupancy",
  "threads of this kernel that fit on a multiprocessor, divided by the most that it can hold: registers and shared memory limit it",
]);

/**
 * @param {import("./router.js").Context} ctx @param {HTMLElement} body @param {Run} run
 * @param {import("../api/types.js").Report} report
 */
export async function kernelsTab(ctx, body, run, report) {
  const points = pointsOf(report);
  const modes = capturing(points);
  if (!modes.length) {
    const more = h("a", { class: "btn primary", href: `/new?from=${encodeURIComponent(run.id)}&add=static` }, "Run static too");
    return add(body, stateWell("Eager fuses no kernel", h("p", {}, "Only eager was run: each op went to its kernel at once."), h("div", { class: "acts" }, more)));
  }
  let shown = new AbortController();
  let filled = Promise.resolve();
  const draw = (/** @type {import("../api/types.js").Point} */ point, /** @type {string} */ mode) => {
    shown.abort();
    shown = new AbortController();
    const m = point.modes[mode];
    if (!m) return [h("p", { class: "sub" }, `${mode} was not run at this point.`)];
    const place = h("div");
    const of = { m, said: saidOf(run, point, mode), device: report.device ?? {} };
    filled = fill(AbortSignal.any([ctx.signal, shown.signal]), place, run, of);
    return [place];
  };
  add(body, chosen(ctx, "Kernels", points, modes, draw));
  return filled;
}

/** @typedef {{m: ModeReport, said: import("../api/report.js").ReportFindingsMode | undefined, device: object}} Of */

/** The table first, then what is below it. @param {AbortSignal} signal @param {HTMLElement} place @param {Run} run @param {Of} of */
async function fill(signal, place, run, of) {
  const rows = kernelFacts(of.m, of.said);
  if (!rows.length || !of.said?.kernels) {
    const names = (of.m.graphs ?? []).reduce((n, g) => n + (g.kernels?.length ?? 0), 0);
    const why = names ? "This run watched no call, so the times of its kernels are unknown. Their code is on Graphs." : "Its graphs compute nothing.";
    return add(place, stateWell(names ? "No kernel was watched" : "No kernel", h("p", {}, why), names ? h("div", { class: "acts" }, h("a", { class: "btn", href: viewUrl(run, "graphs") }, "Graphs")) : null));
  }
  add(place, h("section", { class: "verdict", "aria-label": "Verdict" }, h("p", {}, of.said.kernels.sentence), h("p", { class: "how" }, "Times are of each kernel alone, from timelines of a few calls; bytes are for the captured sizes.")));
  const table = tableSection(signal, run, rows, of);
  add(place, table);
  await painted();
  if (signal.aborted) return undefined;
  const one = h("section", { class: "sec graphwrap onekernel", "aria-label": "One kernel" });
  const roof = rooflineFigure(rows, of.device, `${fileStem(run.name)}_${run.id}`);
  const [code, side] = [h("div"), h("div", { class: "graphside" })];
  add(one, h("div", { class: roof ? "two" : null }, code, roof), side);
  add(place, one);
  const show = () => {
    const k = pickedOf(rows);
    for (const tr of /** @type {NodeListOf<HTMLElement>} */ (table.querySelectorAll("tbody tr"))) tr.classList.toggle("joined", tr.dataset.kernel === keyOf(k) || isOf(tr));
    const g = of.m.graphs.find((x, i) => (x.id ?? i) === k.graph);
    code.replaceChildren(codeOf(g, k));
    side.replaceChildren(...sideOf(run, k));
  };
  show();
  onPick(signal, show);
  return undefined;
}

/** Whether a row is of the picked line. @param {HTMLElement} tr */
const isOf = (tr) => picked().line > 0 && !picked().kernel && (tr.dataset.lines ?? "").split(" ").includes(placeKey(picked().line, picked().file));

/** @param {KernelFacts} k */
const keyOf = (k) => `${k.graph}/${k.index}`;

/** The one that is picked, else the first of the picked line, else the longest. @param {readonly KernelFacts[]} rows */
function pickedOf(rows) {
  const now = picked();
  const { graph, kernel, line } = now;
  const named = kernel ? rows.find((r) => keyOf(r) === `${graph}/${kernel}`) : undefined;
  return named ?? rows.find((r) => line > 0 && r.places.some((p) => p.line === line && p.file === now.file)) ?? rows[0];
}

/** Its lines of the generated code. @param {import("../api/types.js").Graph | undefined} g @param {KernelFacts} k */
function codeOf(g, k) {
  const language = g?.lowered?.includes("__global__") ? "CUDA C" : "C";
  const head = h("header", { class: "bar" }, h("h3", {}, `Generated ${language}`));
  const parts = g ? codeParts(g).filter((p) => p.kernel === k.index) : [];
  if (!g?.lowered || !parts.length) {
    const why = !g?.lowered ? "No generated code: the interpreter runs ready-made loops." : k.form === "library" ? "A library's function: nothing was generated for it." : "Its code is past the limit of a report.";
    return h("div", {}, head, h("p", { class: "small sub" }, why));
  }
  const rows = g.lowered.split("\n");
  const only = (/** @type {number} */ n) => parts.some((p) => n >= p.from && n <= p.to);
  head.append(h("div", { class: "acts" }, copyButton(() => parts.map((p) => rows.slice(p.from - 1, p.to).join("\n")).join("\n"))));
  return h("div", {}, head, codeWell(g.lowered, `Code of ${k.name}`, { language: "c", only }));
}

/** @param {Run} run @param {KernelFacts} k @returns {HTMLElement[]} */
function sideOf(run, k) {
  const facts = h("dl", { class: "kv" });
  const fact = (/** @type {string} */ name, /** @type {(import("./dom.js").Child)[]} */ ...value) => add(facts, h("dt", {}, name), h("dd", {}, value));
  const graph = String(k.graph);
  fact("Graph", h("a", { href: viewUrl(run, "graphs", { graph, kernel: String(k.index), ...k.places[0] }) }, `graph ${graph}`));
  if (k.places.length) fact("Source", ...lineLinks(run, k.places.slice(0, 8)));
  const about = k.said?.about ? [h("p", { class: "small sub" }, `${k.said.about}.`)] : [];
  const why = k.why ? [h("p", { class: "small sub" }, h("b", {}, "Why it is a kernel of its own: "), ...prose(`${k.why}.`))] : [];
  const tried = k.said?.tried ? [h("p", { class: "small sub" }, h("b", {}, "Schedules that were tried:")), h("ul", { class: "small sub tried" }, k.said.tried.map((text) => h("li", {}, text)))] : [];
  return [h("h3", {}, h("code", {}, k.name)), facts, ...about, ...why, ...tried];
}

/** @param {number} share */
function bar(share) {
  const el = svg("svg", { class: "cellbar", width: BAR, height: 8, "aria-hidden": "true" });
  el.append(svg("rect", { class: "bg", width: BAR, height: 8 }));
  el.append(svg("rect", { class: "fg", width: Math.min(1, share) * BAR, height: 8 }));
  return el;
}

/** @param {string | number | null | undefined} text */
const cell = (text) => h("td", { class: text === null || text === undefined ? "r dim" : "r" }, text ?? "unknown");

/** @param {Run} run @param {KernelFacts} r @param {boolean} device */
function row(run, r, device) {
  const { said } = r;
  const taken = h("td", { class: said?.median ? "r" : "r dim" }, said?.median ? figure(said.median) : "not seen");
  const here = viewUrl(run, "kernels", { graph: String(r.graph), kernel: String(r.index), ...r.places[0] });
  const open = h("a", { class: "plain", href: here, data: { pick: keyOf(r) } }, h("code", {}, r.name));
  const name = h("th", { scope: "row" }, open, h("span", { class: "dim" }, ` graph ${r.graph}${r.places.length ? ", " : ""}`), lineLinks(run, r.places.slice(0, MOST_LINES)));
  const cells = [taken, cell(said?.moves), cell(said?.bandwidth), cell(said?.of_copy), h("td", {}, r.share === null ? null : bar(r.share)), cell(said?.operations), cell(said?.rate), cell(said?.intensity), cell(r.ops)];
  if (device) cells.push(cell(said?.occupancy), cell(r.registers), cell(said?.shared));
  return h("tr", { data: { lines: r.places.map((p) => placeKey(p.line, p.file)).join(" "), kernel: keyOf(r) } }, name, cells);
}

/** @param {AbortSignal} signal @param {Run} run @param {readonly KernelFacts[]} rows @param {Of} of */
function tableSection(signal, run, rows, { said }) {
  const all = said?.kernels;
  const gpu = rows.some((r) => r.registers !== null);
  const right = (/** @type {string} */ text) => /** @type {[string, string]} */ ([text, "r"]);
  const heads = [`Median, ${all?.time_unit}`, `Moves, ${all?.bytes_unit}`, "GB/s", "Of copy"].map(right);
  const more = ["Operations", "GFLOP/s", "Op/byte", "Ops", ...(gpu ? ["Occupancy", "Registers", "Shared"] : [])].map(right);
  const head = headRow(["Kernel", ...heads, [null, "", "As a bar"], ...more]);
  const caption = h("caption", { class: "vh" }, "Kernels, and what each achieves");
  const [body, whole] = longList(signal, h("tbody"), rows, (r) => row(run, r, gpu), FEW_ROWS, (r, place) => r.places.some((p) => placeKey(p.line, p.file) === place));
  const table = h("table", { id: "kernels-table" }, caption, head, body);
  const terms = (gpu ? [...TERMS, DEVICE_TERM] : TERMS).flatMap(([t, text]) => [h("dt", {}, t), h("dd", {}, text)]);
  const el = section("What kernels achieve", "the longest first", null, scroller("What kernels achieve, table", table), whole, h("dl", { class: "terms" }, terms));
  el.classList.add("kernels");
  el.addEventListener("click", (e) => {
    const to = e.target instanceof Element ? /** @type {HTMLElement | null} */ (e.target.closest("a[data-pick]")) : null;
    const r = rows.find((x) => keyOf(x) === to?.dataset.pick);
    if (!r || e.ctrlKey || e.metaKey || e.shiftKey) return;
    e.preventDefault();
    e.stopPropagation(); // picked here, no other page
    pick({ graph: String(r.graph), kernel: String(r.index), ...r.places[0] });
  });
  markLines(signal, el);
  return el;
}
