// js/view/memory.js -- tensor memory of a run: over one call and at any moment of it, by
// tensor and source line, each mode beside eager.

import { add, button, h, headRow, loadStyle, scroller, segmented, spoken, stateWell, svg } from "./dom.js";
import { chartFiles, ofElement } from "./chart_files.js";
import { chosen } from "./choose.js";
import { markLines, viewUrl } from "./joined.js";
import { MemoryChart } from "./memory_chart.js";
import { modeMark } from "./marks.js";
import { bytes, bytesUnit, count, duration, number, plural, shares, shareText } from "../model/format.js";
import { fileStem } from "../model/commands.js";
import { modesOf, pointsOf } from "../model/curves.js";
import { keyOf, placeOf, placeText, textAt } from "../model/places.js";
import { saidOf } from "../model/sentence.js";
import * as memory from "../model/memory.js";

/** @typedef {import("../model/memory.js").Memory} Memory */
/** @typedef {import("../api/types.js").Point} Point */
/** @typedef {{run: import("../api/types.js").Run, point: Point, mode: string, m: Memory, source: string, signal: AbortSignal}} Shown */
/** @typedef {import("./dom.js").Child} Child */
/** @typedef {import("../model/places.js").Place} Place */

const [LIFE, BAR, FEW] = [150, 56, 12];

/**
 * @param {import("./router.js").Context} ctx
 * @param {HTMLElement} body
 * @param {import("../api/types.js").Run} run
 * @param {import("../api/types.js").Report} report
 */
export async function memoryTab(ctx, body, run, report) {
  await loadStyle("memory");
  if (ctx.signal.aborted) return undefined;
  const points = pointsOf(report);
  const modes = modesOf(points).filter((name) => points.some((p) => memoryOf(p, name)));
  if (!modes.length) return add(body, noRecord(run));
  const posted = run.workload?.source ?? report.workload?.source ?? "";
  let drawn = new AbortController();
  const draw = (/** @type {Point} */ point, /** @type {string} */ mode) => {
    drawn.abort();
    drawn = new AbortController();
    const signal = AbortSignal.any([ctx.signal, drawn.signal]);
    const m = memoryOf(point, mode);
    if (!m) return [h("p", { class: "sub" }, `${mode} has no record of memory at this point.`)];
    return parts({ run, point, mode, m, source: point.source || posted, signal });
  };
  add(body, chosen(ctx, "Memory", points, modes, draw));
  return undefined;
}

/** @param {number} b @param {import("../model/format.js").Unit} unit */
const sizeText = (b, unit) => memory.inUnit(b, unit);

/** @param {number} b */
const exact = (b) => `${count(b)} B`;

/** @param {Point} point @param {string} mode @returns {Memory | null} */
const memoryOf = (point, mode) => point.modes[mode]?.memory ?? null;

/** @param {import("../api/types.js").Run} run */
function noRecord(run) {
  const again = h("a", { class: "btn primary", href: `/new?from=${encodeURIComponent(run.id)}` }, "Edit and run again");
  const why = h("p", {}, "Memory is watched for one call, after the latencies. This run was not timed, or an older version made it; its peaks are on Overview.");
  return stateWell("This run has no record of memory", why, h("div", { class: "acts" }, again));
}

/** @param {Shown} s @returns {HTMLElement[]} */
function parts(s) {
  const eager = s.mode === "eager" ? null : memoryOf(s.point, "eager");
  const byLine = linesSection(s, eager);
  markLines(s.signal, byLine);
  return [verdict(s), chartSection(s, eager), byLine, modesSection(s), heldSection(s.m)];
}

/** @param {Shown} s */
function verdict(s) {
  const said = saidOf(s.run, s.point, s.mode);
  const calls = s.run.workload?.calls?.length ?? 1;
  const which = calls > 1 ? `Call ${s.m.call}, of those that were timed the one with the highest peak` : "One call";
  const how = `${which}, watched separately after all was compiled and timed: ${plural(s.m.events, "event")} of the allocator, tensors allocated: ${said?.memory_use?.tensors ?? "unknown"}. Bytes are exact; times are of the watched call, which takes longer.`;
  return h("section", { class: "verdict", "aria-label": "Verdict" }, h("p", {}, spoken(said?.memory ?? [])), h("p", { class: "how" }, how));
}

/** @param {Shown} s @param {Memory | null} eager */
function chartSection(s, eager) {
  const lines = [{ name: s.mode, memory: s.m }];
  if (eager) lines.push({ name: "eager", memory: eager });
  const place = h("div", { id: "memory-at" });
  const peak = memory.peakMoment(s.m);
  const fill = (/** @type {number} */ i) => place.replaceChildren(...momentTable(s, i));
  const chart = new MemoryChart(lines, peak, fill, s.signal);
  const scale = segmented("Scale", { whole: "From zero", call: "What the call adds" }, chart.whole ? "whole" : "call", (key) => chart.scale(key === "whole"));
  const toPeak = button("Peak", () => chart.show(peak));
  const legend = h("p", { class: "legend" }, lines.map((l) => modeMark(l.name)));
  const head = h("header", {}, h("h3", {}, "In use over the call"), legend, h("div", { class: "acts" }, scale, toPeak, chartFiles(`${fileStem(s.run.name)}_${s.run.id}_memory_${s.mode}`, `Tensor memory over a call in ${s.mode}`, ofElement(() => chart.elements()[0]))));
  fill(peak);
  return h("section", { class: "sec", "aria-label": "In use over the call" }, head, h("div", { class: "well memwell" }, chart.elements()), place);
}

/** @param {Shown} s @param {number} i */
function momentTable(s, i) {
  const moment = memory.momentOf(s.m, i);
  const at = i === memory.peakMoment(s.m) ? "at the peak" : i === 0 ? "before the call" : `after ${number(memory.momentTime(s.m, i))} µs`;
  const unit = bytesUnit([moment.used, moment.rest, ...moment.rows.map((r) => r.bytes)]);
  const share = shares([...moment.rows.map((r) => r.bytes), moment.rest], moment.used);
  const rows = moment.rows.map((r, k) => tensorRow(s, r, unit, share[k], moment.used));
  const held = i === 0 || moment.rest <= s.m.held_bytes ? "Held before the call" : "Held before the call, and not listed";
  const note = moment.rest < s.m.held_bytes ? `${bytes(s.m.held_bytes - moment.rest)} of it had been freed by then` : "";
  const rest = h("tr", {}, h("th", { scope: "row" }, held), h("td", { colspan: 2, class: "dim" }, note), sizeCells(moment.rest, unit, share[moment.rows.length], moment.used), h("td", { colspan: 2 }));
  const total = h("tr", { class: "total" }, h("th", { scope: "row" }, "In use"), h("td", { colspan: 2 }), sizeCells(moment.used, unit, 100, moment.used), h("td", { colspan: 2 }));
  const head = headRow(["Allocated by", "Line", "Shape", [`${unit.name}`, "r"], ["Share", "r"], [null, "", "As a bar"], ["Lifetime", ""], "Written by"]);
  const title = `In use ${at}`;
  const body = h("tbody", {});
  const fill = (/** @type {number} */ most) => body.replaceChildren(...rows.slice(0, most), ...(rows.length > most ? [more(rows.length - most, () => fill(rows.length))] : []), rest, total);
  fill(rows.length > FEW + 4 ? FEW : rows.length);
  const table = h("table", { class: "memtable" }, h("caption", { class: "vh" }, title), head, body);
  return [h("div", { class: "bar" }, h("h4", {}, title), h("p", { class: "small dim" }, `${plural(moment.rows.reduce((n, r) => n + r.tensors.length, 0), "tensor")} of the call`)), scroller(`${title}, table`, table)];
}

/** @param {number} n @param {() => void} show */
const more = (n, show) => h("tr", {}, h("td", { colspan: 8 }, button(`Show ${count(n)} more`, show, { class: "btn quiet" })));

/** @param {number} value @param {import("../model/format.js").Unit} unit @param {number} percent @param {number} whole */
function sizeCells(value, unit, percent, whole) {
  const bar = svg("svg", { class: "cellbar", width: BAR, height: 8, "aria-hidden": "true" }, svg("rect", { class: "bg", width: BAR, height: 8 }), svg("rect", { class: "fg", width: whole > 0 ? (Math.max(0, value) / whole) * BAR : 0, height: 8 }));
  return [h("td", { class: "r num-strong", title: exact(value) }, sizeText(value, unit)), h("td", { class: "r" }, shareText(percent, value)), h("td", {}, bar)];
}

/** @param {Shown} s @param {import("../model/memory.js").Alike} r @param {import("../model/format.js").Unit} unit @param {number} percent @param {number} whole */
function tensorRow(s, r, unit, percent, whole) {
  const t = r.at;
  const times = r.tensors.length > 1 ? h("span", { class: "dim" }, ` ×${r.tensors.length}`) : null;
  const name = t.op ? h("code", {}, t.op) : memory.whatOf(t);
  const use = t.use === "temporary" && t.op ? h("span", { class: "dim" }, " temporary") : t.to_us === null && t.use === "output" ? h("span", { class: "dim" }, " kept") : null;
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, name, use, times),
    h("td", {}, lineLink(s, placeOf(t))),
    h("td", { class: "mono sub" }, memory.shapeText(t)),
    sizeCells(r.bytes, unit, percent, whole),
    h("td", {}, lifeBar(s.m, r.tensors)),
    h("td", { class: "sub" }, memory.whoOf(t)),
  );
}

/** @param {Memory} m @param {readonly import("../model/memory.js").MemoryTensor[]} tensors */
function lifeBar(m, tensors) {
  const x = (/** @type {number} */ us) => Math.round((us / (m.duration_us || 1)) * LIFE * 10) / 10;
  const first = tensors[0];
  const end = (/** @type {import("../model/memory.js").MemoryTensor} */ t) => t.to_us ?? m.duration_us;
  const said = `from ${number(first.from_us)} µs ${first.to_us === null ? "on, past the end of the call" : `to ${number(first.to_us)} µs`}`;
  const label = tensors.length > 1 ? `${tensors.length}, the first ${said}` : said;
  const bars = tensors.map((t) => svg("rect", { class: t.graph === null ? "ea" : "fu", x: x(t.from_us), y: 3, width: Math.max(1, x(end(t)) - x(t.from_us)), height: 8 }));
  const peak = x(m.peak_us);
  return svg("svg", { class: "life", width: LIFE, height: 14, role: "img", "aria-label": label }, svg("line", { class: "ax", x1: 0, x2: LIFE, y1: 7, y2: 7 }), ...bars, svg("line", { class: "pk", x1: peak, x2: peak, y1: 0, y2: 14 }), svg("title", {}, label));
}

/** @param {Shown} s @param {Place} at */
function lineLink(s, at) {
  if (!at.line) return h("span", { class: "dim" }, "none");
  return h("a", { href: viewUrl(s.run, "source", at) }, placeText(at));
}

/** @typedef {import("../api/report.js").ReportAmount} Amount */
/** @typedef {import("../api/report.js").ReportFindingsLine} Line */

/** @param {Amount | undefined} a @param {string} [cls] */
const cell = (a, cls = "r") => h("td", { class: a?.bytes ? cls : `${cls} dim`, title: a?.bytes ? exact(a.bytes) : null }, a?.text ?? "none");

/** Each line's bytes at the peak and in all, eager's beside the mode's. @param {Shown} s @param {Memory | null} eager */
function linesSection(s, eager) {
  const names = eager ? ["eager", s.mode] : [s.mode];
  const all = names.flatMap((name) => saidOf(s.run, s.point, name)?.memory_use ?? []);
  const known = new Map(all.flatMap((m) => m.lines.map((l) => [keyOf(placeOf(l)), placeOf(l)])));
  const places = [...known.values()].sort((a, b) => Number(!a.line) - Number(!b.line) || a.file.localeCompare(b.file) || a.line - b.line);
  const cells = (/** @type {(Line | undefined)[]} */ of) => [...of.map((x) => cell(x?.peak)), ...of.map((x) => cell(x?.taken))];
  const row = (/** @type {Place} */ at) =>
    h("tr", { data: { lines: at.line ? keyOf(at) : undefined } }, h("th", { scope: "row" }, at.line ? lineLink(s, at) : "no one line"), h("td", { class: "code-cell" }, h("code", {}, at.line ? textAt(s.run.workload, at, s.source) : "blocks that several values share")), cells(all.map((m) => m.lines.find((l) => keyOf(placeOf(l)) === keyOf(at)))));
  const records = eager ? [eager, s.m] : [s.m];
  const left = all.some((m) => m.left_out)
    ? h("tr", {}, h("th", { scope: "row" }, "not listed"), h("td", { class: "dim" }, records.map((m, i) => (m.left_out.tensors ? `${plural(m.left_out.tensors, "small tensor")} of ${names[i]}` : "")).filter(Boolean).join(", ")), cells(all.map((m) => m.left_out)))
    : null;
  const sum = h("tr", { class: "total" }, h("th", { scope: "row" }, "Together"), h("td"), cells(all.map((m) => m.together)));
  const right = (/** @type {string} */ t) => /** @type {[string, string]} */ ([t, "r"]);
  const head = headRow(["Line", "Source", ...names.map((n) => right(`At the peak of ${n}, ${pointSaid(s)?.lines_unit ?? ""}`)), ...names.map((n) => right(`Allocated in all, ${n}`))]);
  const title = eager ? `By source line: eager against ${s.mode}` : "By source line";
  const table = h("table", { class: "memtable", id: "memory-lines" }, h("caption", { class: "vh" }, title), head, h("tbody", {}, places.map(row), left, sum));
  return h("section", { class: "sec", "aria-label": title }, h("header", {}, h("h3", {}, title), h("p", {}, "memory held before the call is not included")), scroller(`${title}, table`, table));
}

/** What is said of the point. @param {{run: import("../api/types.js").Run, point: Point}} s */
const pointSaid = (s) => s.run.findings?.points.find((p) => (p.n ?? null) === (s.point.n ?? null));

/** @param {Shown} s */
function modesSection(s) {
  const unit = pointSaid(s)?.memory_unit ?? "";
  const body = modesOf([s.point]).flatMap((name) => {
    const [m, use] = [memoryOf(s.point, name), saidOf(s.run, s.point, name)?.memory_use];
    if (!m || !use) return [];
    return [h("tr", {}, h("th", { scope: "row" }, modeMark(name)), cell(use.held), cell(use.added, "r num-strong"), h("td", { class: "r" }, use.of_eager), cell(use.peak), cell(use.taken), h("td", { class: "r" }, use.tensors), h("td", { class: "r" }, duration(m.peak_us)))];
  });
  const right = (/** @type {string} */ t) => /** @type {[string, string]} */ ([t, "r"]);
  const head = headRow(["Mode", ...[`Held before, ${unit}`, `Adds, ${unit}`, "Of eager's", `Peak, ${unit}`, `Allocated in all, ${unit}`, "Tensors", "Peak at"].map(right)]);
  const table = h("table", { id: "memory-modes" }, h("caption", { class: "vh" }, "Memory by mode"), head, h("tbody", {}, body));
  return h("section", { class: "sec", "aria-label": "Memory by mode" }, h("header", {}, h("h3", {}, "Memory by mode"), h("p", {}, "of one call; the peak on Overview is of the first calls, whose outputs are kept")), scroller("Memory by mode, table", table));
}

/** What was there before the call, by name. @param {Memory} m */
function heldSection(m) {
  const unit = bytesUnit([m.held_bytes, m.other_inputs_bytes, m.other_bytes, ...m.held.map((t) => t.bytes)]);
  const row = (/** @type {Child} */ kind, /** @type {Child} */ name, /** @type {string} */ shape, /** @type {number} */ b) =>
    h("tr", {}, h("th", { scope: "row" }, name), h("td", { class: "sub" }, kind), h("td", { class: "mono sub" }, shape), h("td", { class: "r", title: exact(b) }, sizeText(b, unit)));
  const rows = m.held.map((t) => row({ input: "input", parameter: "parameter", gradient: "its gradient", state: "kept by the program" }[t.kind] ?? t.kind, h("code", {}, t.name), memory.shapeText(t), t.bytes));
  if (m.other_inputs_bytes) rows.push(row("inputs", "Inputs of other calls", "", m.other_inputs_bytes));
  if (m.other_bytes) rows.push(row("engine, program", "Constants of graphs, recordings and what else is kept", "", m.other_bytes));
  const total = h("tr", { class: "total" }, h("th", { scope: "row" }, "Together"), h("td"), h("td"), h("td", { class: "r" }, sizeText(m.held_bytes, unit)));
  const body = h("tbody", {});
  const fill = (/** @type {number} */ most) => body.replaceChildren(...rows.slice(0, most), ...(rows.length > most ? [more(rows.length - most, () => fill(rows.length))] : []), total);
  fill(rows.length > FEW + 4 ? FEW : rows.length);
  const table = h("table", { class: "memtable", id: "memory-held" }, h("caption", { class: "vh" }, "Held before the call"), headRow(["Name", "What it is", "Shape", [unit.name, "r"]]), body);
  return h("section", { class: "sec", "aria-label": "Held before the call" }, h("header", {}, h("h3", {}, "Held before the call"), h("p", {}, `${plural(m.held.length, "tensor")} with a name in the program or in a call`)), scroller("Held before the call, table", table));
}
