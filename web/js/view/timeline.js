// js/view/timeline.js -- what ran when in one mode: lanes, totals of what is in
// sight, and the slice that is pointed at.

import { h, add, button, headRow, say, scroller, stateWell } from "./dom.js";
import { chosen } from "./choose.js";
import { remember } from "./router.js";
import { markLines, viewUrl } from "./joined.js";
import { pick, picked } from "./pick.js";
import { TimelineCanvas } from "./timeline_canvas.js";
import { fillIdle, idleSwatch } from "./timeline_idle.js";
import { fileUrl, getTimeline } from "../api/client.js";
import { modesOf, pointsOf } from "../model/curves.js";
import { bytes, count, duration, list, number, plural, shares, timeUnit } from "../model/format.js";
import { byKind, DEVICE_KINDS, KIND_NAMES, onDevice, partner, totalsOf, valueOf } from "../model/timeline.js";

/** @typedef {import("../model/timeline.js").Slice} Slice */

/** Tables that few runs have: their script is loaded then.
 * @param {HTMLElement} body @param {import("../api/types.js").Imported} imported @param {AbortSignal} signal */
async function addImported(body, imported, signal) {
  const { importedSections } = await import("./imported.js");
  if (!signal.aborted) add(body, importedSections(imported, { ledger: false }));
}
/** @typedef {import("../model/timeline.js").View} View */
/** @typedef {import("../model/timeline.js").Total} Total */
/** @typedef {{run: import("../api/types.js").Run, mode: string, n: number | null, signal: AbortSignal}} Asked */

const LEGEND = ["kernel", "library", "eager", "copy", "set", "guards", "dispatch", "alloc", "launch", "range", "api", "memory", "overhead"];
const MOST_ROWS = 50;
const WAIT_MS = 80;
const LIVE_MS = 2000;

/**
 * @param {import("./router.js").Context} ctx
 * @param {HTMLElement} body
 * @param {import("../api/types.js").Run} run
 * @param {import("../api/types.js").Report} report
 */
export function timelineTab(ctx, body, run, report) {
  const points = pointsOf(report);
  let shown = new AbortController();
  const draw = (/** @type {import("../api/types.js").Point} */ point, /** @type {string} */ mode) => {
    shown.abort();
    shown = new AbortController();
    const signal = AbortSignal.any([ctx.signal, shown.signal]);
    const n = typeof point.n === "number" ? point.n : null;
    const place = h("div", { class: "timeline", "aria-busy": "true" });
    load(place, { run, mode, n, signal }, ctx.query).catch((e) => {
      if (signal.aborted) return;
      place.replaceChildren(stateWell("The timeline could not be read", h("p", {}, e?.message ?? String(e))));
    });
    return [place];
  };
  add(body, chosen(ctx, "Timeline", points, modesOf(points), draw));
}

/**
 * All lanes of what another process recorded; `more` reads it again, at most once in two seconds.
 * @param {import("./router.js").Context} ctx
 * @param {HTMLElement} body
 * @param {import("../api/types.js").Run} run
 */
export function traceTab(ctx, body, run) {
  const place = h("div", { class: "timeline", "aria-busy": "true" });
  let waiting = 0;
  let shown = new AbortController();
  const read = () => {
    shown.abort();
    shown = new AbortController();
    const signal = AbortSignal.any([ctx.signal, shown.signal]);
    const query = new URL(location.href).searchParams;
    return load(place, { run, mode: "", n: null, signal }, query).catch((e) => {
      if (signal.aborted) return;
      place.replaceChildren(stateWell("The timeline could not be read", h("p", {}, e?.message ?? String(e))));
    });
  };
  add(body, [h("div", { class: "bar gap" }, h("h2", {}, "Timeline")), place]);
  const there = read();
  const log = run.report?.import;
  if (log) there.then(() => addImported(body, log, ctx.signal)); // below it: what came sooner would be pushed down
  const more = () => {
    if (waiting || place.contains(document.activeElement)) return; // whoever looks closer is not disturbed
    waiting = setTimeout(() => {
      waiting = 0;
      if (!ctx.signal.aborted) read();
    }, LIVE_MS);
  };
  return { more };
}

/** @param {Asked} asked @param {Record<string, number>} window */
function ask({ run, mode, n, signal }, window) {
  return getTimeline(String(run.id), { mode, ...(n === null ? {} : { n }), ...window }, signal);
}

/** @param {HTMLElement} place @param {Asked} asked @param {URLSearchParams} query */
async function load(place, asked, query) {
  const whole = await ask(asked, {});
  if (asked.signal.aborted) return;
  place.removeAttribute("aria-busy");
  if (!whole.events) return place.replaceChildren(nothing(asked));
  show(place, asked, whole, query);
}

/** A run of an earlier version, or one that was not timed. @param {Asked} asked */
function nothing({ run, mode }) {
  if (run.workload?.trace) {
    const none = run.report?.import ? "The log holds none that have a time." : "No process of the command used a GPU.";
    const why = run.status === "running" ? "They are shown as they come." : none;
    return stateWell(run.status === "running" ? "No events yet" : "No events were recorded", h("p", {}, why));
  }
  const href = `/new?from=${encodeURIComponent(run.id)}`;
  const why = h("p", {}, `This run holds no events of ${mode}. Run it again to record some calls.`);
  const again = h("a", { class: "btn primary", href }, "Edit and run again");
  return stateWell("No timeline was recorded", why, h("div", { class: "acts" }, again));
}

/** @param {HTMLElement} place @param {Asked} asked @param {View} whole @param {URLSearchParams} query */
function show(place, asked, whole, query) {
  const canvas = h("canvas", {
    tabindex: 0,
    role: "application",
    "aria-roledescription": "timeline",
    "aria-label": `Timeline of ${asked.mode || "all lanes"}. W and S zoom, A and D pan, N and P step a call, full stop and comma step a kernel, F fits what is pointed at, 0 shows all. The tables below hold the numbers.`,
  });
  const tip = h("div", { class: "tip", hidden: true });
  const parts = { totals: h("div"), idle: h("div"), slice: h("div"), kernels: h("div", { class: "below" }) };
  const mark = markLines(asked.signal, parts.kernels);
  let view = whole;
  let waiting = 0;
  /** @type {Slice | null} */
  let last = null;
  const sums = () => {
    const { t0, t1 } = line.window;
    const exact = whole.sampled && view.t0 <= t0 && view.t1 >= t1 && view.sampled ? view.totals : null;
    const totals = exact ?? totalsOf((whole.sampled ? view : whole).slices, t0, t1);
    fillTotals(parts.totals, totals, t1 - t0, view);
    fillIdle(parts.idle, totals, t1 - t0, view);
    fillKernels(parts.kernels, totals, view, asked);
    mark();
  };
  const refine = async () => {
    const { t0, t1 } = line.window;
    view = await ask(asked, { t0: Math.floor(t0), t1: Math.ceil(t1), px: Math.max(200, canvas.clientWidth) });
    if (asked.signal.aborted) return;
    line.refine(view);
    sums();
  };
  const moved = (/** @type {number} */ t0, /** @type {number} */ t1) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      if (asked.signal.aborted) return;
      remember({ t0: String(Math.round(t0)), t1: String(Math.round(t1)) });
      if (whole.sampled) refine().catch(() => {});
      else sums();
      say(`${duration((t1 - t0) / 1000)} shown.`);
    }, WAIT_MS);
  };
  const pointed = (/** @type {Slice | null} */ slice, /** @type {boolean} */ kept) => {
    fillSlice(parts.slice, slice, view, asked);
    showTip(tip, slice && !kept ? slice : null, view);
    const from = slice && kept && slice !== last ? view.names[slice.name]?.lines : null;
    if (kept) last = slice;
    if (from?.length && !from.includes(picked().line)) pick({ line: from[0] });
    if (slice && kept) say(`${nameOf(view, slice)}, ${duration(slice.duration / 1000)}.`);
  };
  const line = new TimelineCanvas(canvas, whole, asked.signal, moved, pointed);
  canvas.addEventListener("pointermove", (e) => placeTip(tip, canvas, e), { signal: asked.signal });
  canvas.addEventListener("pointerleave", () => showTip(tip, null, view), { signal: asked.signal });
  place.replaceChildren(
    heading(whole, asked, line),
    h("div", { class: "well tl" }, canvas, tip),
    ledger(whole),
    h("div", { class: "three" }, parts.totals, parts.idle, parts.slice),
    parts.kernels,
  );
  fillSlice(parts.slice, null, view, asked);
  start(line, whole, query);
  sums();
}

/** The window of the address, else the last call: all of them are seldom readable. @param {TimelineCanvas} line @param {View} whole @param {URLSearchParams} query */
function start(line, whole, query) {
  const [t0, t1] = [Number(query.get("t0") ?? NaN), Number(query.get("t1") ?? NaN)];
  const call = whole.slices.findLast((s) => s.kind === "call");
  if (t1 > t0 && t0 >= 0) line.show(t0, t1);
  else if (call && !whole.sampled) line.fit(call);
  else line.show(0, whole.span);
  const { line: at } = picked();
  const of = whole.slices.find((s) => at > 0 && s.start >= line.window.t0 && DEVICE_KINDS.includes(s.kind) && whole.names[s.name]?.lines?.includes(at));
  if (of) line.point(of);
}

/** @param {View} whole @param {Asked} asked @param {TimelineCanvas} line */
function heading(whole, { run, mode, n }, line) {
  const calls = whole.totals.filter((t) => t.kind === "call").reduce((sum, t) => sum + t.count, 0);
  const kinds = new Set(whole.totals.map((t) => t.kind));
  const keys = LEGEND.filter((k) => kinds.has(k)).map((k) => h("span", { class: "key" }, swatch(k), kindName(whole, k).toLowerCase()));
  if (kinds.has("idle")) keys.push(h("span", { class: "key" }, idleSwatch("any"), "idle, by cause"));
  const at = n === null ? "" : `&n=${n}`;
  const file = `${fileUrl(String(run.id), "trace.json")}?mode=${encodeURIComponent(mode)}${at}`;
  const words = calls ? `${plural(calls, "call")} of ${mode}` : mode || "All processes";
  return h(
    "div",
    { class: "bar" },
    h("h3", {}, words),
    h("span", { class: "sub small" }, `${duration(whole.span / 1000)}, ${plural(whole.events, "event")}`),
    h(
      "div",
      { class: "acts" },
      h("div", { class: "legend" }, keys),
      button("All", () => line.show(0, whole.span), { "aria-label": "Show all calls" }),
      h("a", { class: "btn", href: file, download: "" }, "Chrome trace"),
    ),
  );
}

/** @param {string} kind */
const swatch = (kind) => h("i", { class: `t-${kind}`, "aria-hidden": "true" });

/** @param {NonNullable<import("../api/types.js").Report["trace"]>["processes"][number]} p */
function ofProcess(p) {
  const text = (/** @type {string} */ t) => h("span", {}, t);
  const memory = p.memory.map((m) => text(`${p.pid}: at most ${bytes(m.peak_bytes)} of GPU ${m.device}`));
  if (p.fault) return [text(`${p.pid} was not recorded: ${p.fault}`), ...memory];
  return p.finished ? memory : [text(`${p.pid} ended without its last records`), ...memory];
}

/** What was recorded and what was lost, always. @param {View} whole */
function ledger(whole) {
  const { facts } = whole;
  const text = (/** @type {string} */ t) => h("span", {}, t);
  return h(
    "p",
    { class: "ledger" },
    h("b", {}, "Ledger"),
    text(`${plural(onDevice(whole.lanes), "kernel")} recorded`),
    text(`${count(facts.dropped ?? 0)} dropped in the whole run`),
    text(`${count(facts.doubtful ?? 0)} doubtful`),
    text(`${count(facts.out_of_range ?? 0)} out of range`),
    facts.api_records ? text("calls of the driver are recorded: a launch takes 0.2 us more") : null,
    facts.not_recorded ? text(`the device was not recorded: ${facts.not_recorded}`) : null,
    facts.processes ? null : text("a run of its own, after the latencies: watching makes calls slower"),
    (facts.processes ?? []).flatMap(ofProcess),
  );
}

/** @param {View} view @param {Slice | Total} of */
const nameOf = (view, of) => `${of.kind === "idle" ? "idle: " : ""}${view.names[of.name]?.name ?? of.kind}`;

/** What another program launches is not known to be fused. @param {View} view @param {string} kind */
const kindName = (view, kind) => (view.facts.processes && kind === "kernel" ? "Kernels" : KIND_NAMES[kind] ?? kind);

/** @param {HTMLElement} place @param {readonly Total[]} totals @param {number} length ns @param {View} view */
function fillTotals(place, totals, length, view) {
  const { rows, whole, calls, beside } = byKind(totals, length);
  const parts = shares(rows.map((r) => r.sum), whole);
  const unit = timeUnit([whole / 1000]);
  const us = (/** @type {number} */ ns) => number(ns / 1000 / unit.scale);
  const body = h("tbody");
  rows.forEach((r, i) => {
    const name = r.kind === "rest" ? "Rest" : kindName(view, r.kind);
    const key = h("span", { class: "key" }, swatch(r.kind), name);
    add(body, h("tr", {}, h("th", { scope: "row" }, key), cell(r.count ? count(r.count) : ""), cell(us(r.sum)), cell(`${parts[i]} %`)));
  });
  const last = beside ? "All lanes" : calls ? plural(calls, "call") : "In sight";
  add(body, h("tr", { class: "total" }, h("th", { scope: "row" }, last), cell(""), cell(us(whole)), cell("100 %")));
  const head = headRow(["Time of", ["Count", "r"], [`Sum, ${unit.name}`, "r"], ["Share", "r"]]);
  const title = h("header", { class: "bar" }, h("h3", {}, "In sight"), h("span", { class: "sub small" }, duration(length / 1000)));
  place.replaceChildren(title, scroller("Time by kind", h("table", {}, head, body)));
}

/** @param {string} text */
const cell = (text) => h("td", { class: "r" }, text);

/** @param {HTMLElement} place @param {readonly Total[]} totals @param {View} view @param {Asked} asked */
function fillKernels(place, totals, view, asked) {
  const kernels = totals.filter((t) => DEVICE_KINDS.includes(t.kind));
  const all = kernels.reduce((n, t) => n + t.sum, 0);
  const unit = timeUnit(kernels.map((t) => t.sum / 1000));
  const parts = shares(kernels.map((t) => t.sum), all);
  const body = h("tbody");
  kernels.slice(0, MOST_ROWS).forEach((t, i) => {
    const name = h("th", { scope: "row" }, h("span", { class: "key name" }, swatch(t.kind), h("span", {}, nameOf(view, t))));
    const lines = view.names[t.name]?.lines ?? [];
    const at = h("td", {}, lineLinks(lines.slice(0, 3), asked));
    add(body, h("tr", { data: { lines: lines.join(" ") } }, name, at, cell(count(t.count)), cell(number(t.sum / 1000 / unit.scale)), cell(`${parts[i]} %`)));
  });
  const head = headRow(["Kernel", "Line", ["Count", "r"], [`Sum, ${unit.name}`, "r"], ["Share", "r"]]);
  const title = h("header", { class: "bar" }, h("h3", {}, "Kernels"), h("span", { class: "sub small" }, plural(kernels.length, "name")));
  place.replaceChildren(title, scroller("Kernels in sight", h("table", { class: "kernels" }, head, body)));
  if (!kernels.length) place.replaceChildren(title, h("p", { class: "sub" }, "None runs in this part of the timeline."));
  if (kernels.length > MOST_ROWS)
    add(place, h("p", { class: "small sub" }, `${plural(kernels.length - MOST_ROWS, "more name")} with less time.`));
}

/** @param {readonly number[]} lines @param {Asked} asked */
function lineLinks(lines, { run }) {
  return lines.flatMap((line, i) => [
    i ? ", " : "",
    h("a", { href: viewUrl(run, "source", { line }) }, String(line)),
  ]);
}

/** @param {HTMLElement} place @param {Slice | null} slice @param {View} view @param {Asked} asked */
function fillSlice(place, slice, view, asked) {
  const title = h("header", { class: "bar" }, h("h3", {}, slice ? nameOf(view, slice) : "Pointed slice"));
  if (!slice) return place.replaceChildren(title, h("p", { class: "sub" }, "Point at a slice, or step through them with the full stop and comma keys."));
  const info = view.names[slice.name] ?? { name: "" };
  const launch = partner(view.slices, slice);
  /** @type {[string, import("./dom.js").Child | import("./dom.js").Child[]][]} */
  const facts = [
    ["Kind", kindName(view, slice.kind)],
    ["Start", duration(slice.start / 1000)],
    ["Duration", duration(slice.duration / 1000)],
  ];
  if (slice.kind === "counter") facts.push(["Value", sampleText(view, slice)]);
  if (slice.events > 1) facts.push(["Stands for", `${plural(slice.events, "event")}, the ${slice.kind === "counter" ? "largest" : "longest"}`]);
  if (launch && DEVICE_KINDS.includes(slice.kind))
    facts.push(["Launched", `${duration(Math.max(0, slice.start - launch.start) / 1000)} before`]);
  if (info.ops?.length) facts.push(["Ops", list(info.ops)]);
  if (info.lines?.length) facts.push(["Line", lineLinks(info.lines, asked)]);
  if (info.graph !== undefined) facts.push(["Graph", [info.graph, [info.frame, info.compile].filter(Boolean).join(" ")].filter((t) => t !== "").join(", ")]);
  if (info.kernels) facts.push(["Kernels in it", String(info.kernels)]);
  if (info.read_bytes) facts.push(["Reads, writes", `${bytes(info.read_bytes)}, ${bytes(info.written_bytes ?? 0)}`]);
  if (info.why) facts.push(["Own kernel because", info.why]);
  if (info.symbol) facts.push(["Symbol", info.symbol]);
  if (slice.bytes && slice.kind !== "counter") facts.push(["Bytes", bytes(slice.bytes)]);
  const shape = view.shapes[slice.shape];
  if (shape)
    facts.push(
      ["Grid, block", `${sides(shape.grid)}, ${sides(shape.block)}`],
      ["Registers, shared memory", `${shape.registers}, ${bytes(shape.static_bytes + shape.dynamic_bytes)}`],
    );
  return place.replaceChildren(title, h("dl", { class: "kv" }, facts.flatMap(([t, d]) => [h("dt", {}, t), h("dd", {}, d)])));
}

/** @param {View} view @param {Slice} s */
const sampleText = (view, s) => (view.lanes.find((l) => l.id === s.lane)?.unit === "bytes" ? bytes : number)(valueOf(view, s));

/** @param {number[]} of */
const sides = (of) => of.join(" x ");

/** Repeats what the panel beside holds. @param {HTMLElement} tip @param {Slice | null} slice @param {View} view */
function showTip(tip, slice, view) {
  tip.hidden = !slice;
  if (!slice) return;
  const info = view.names[slice.name] ?? { name: "" };
  const lines = info.lines?.length ? `, line ${info.lines.join(", ")}` : "";
  const ops = info.ops?.length ? h("div", { class: "dim" }, info.ops.slice(0, 12).join(", ") + (info.ops.length > 12 ? ", ..." : "")) : null;
  const value = slice.kind === "counter" ? `${sampleText(view, slice)} for ` : "";
  tip.replaceChildren(h("b", {}, nameOf(view, slice)), h("div", {}, `${value}${duration(slice.duration / 1000)}${lines}`));
  add(tip, ops);
}

/** @param {HTMLElement} tip @param {HTMLElement} canvas @param {PointerEvent} e */
function placeTip(tip, canvas, e) {
  const box = canvas.getBoundingClientRect();
  const x = Math.min(e.clientX - box.left + 14, Math.max(0, box.width - tip.offsetWidth - 8));
  tip.style.transform = `translate(${Math.round(x)}px, ${Math.round(e.clientY - box.top + 16)}px)`;
}
